"""The names of dbt's nodes and relations, for operations and for the compiler.

tested  tests/adapter/test_names_in_project.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dbt.adapters.base.relation import BaseRelation

from sparkivm.names import TableName


def names_in_project(node: Any) -> tuple[str, ...]:
    """The names of a node for operations; a versioned model also has `fct.v2` and its alias."""
    if node.resource_type == "source":
        return node.unique_id, f"{node.source_name}.{node.name}"
    if getattr(node, "version", None) is None:
        return node.unique_id, node.name
    return node.unique_id, node.name, f"{node.name}.v{node.version}", node.alias


def relations(manifest: Any) -> Iterator[tuple[Any, TableName]]:
    """All relations of a project that a model can read, and their names."""
    for source in manifest.sources.values():
        yield source, TableName(str(source.schema), str(source.identifier))
    for node in manifest.nodes.values():
        if node.resource_type in ("model", "seed", "snapshot"):
            yield node, TableName(str(node.schema), str(node.alias))


def name_of_relation(relation: BaseRelation) -> TableName:
    """The name of dbt's relation for the compiler."""
    return TableName(str(relation.schema), str(relation.identifier))
