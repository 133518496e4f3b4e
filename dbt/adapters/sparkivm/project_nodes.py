"""The names of dbt's nodes and relations, for operations and for the compiler.

tested  tests/adapter/test_names_in_project.py
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from typing import Any

from dbt.adapters.base.relation import BaseRelation

from sparkivm.names import TableName, parts_of, state_table, unquoted


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
        yield source, table_name(source.schema, source.identifier)
    for node in manifest.nodes.values():
        if node.resource_type in ("model", "seed", "snapshot"):
            yield node, name_of_node(node)


def name_of_node(node: Any) -> TableName:
    """The name of what a node builds, or of the relation that it is deferred to, for the compiler."""
    return table_name(node.schema, node.alias)


def name_of_relation(relation: BaseRelation) -> TableName:
    """The name of dbt's relation for the compiler."""
    return table_name(relation.schema, relation.identifier)


def table_name(schema: Any, identifier: Any) -> TableName:
    """A name for the compiler. dbt-spark writes both into SQL as they are, with a catalog or backticks."""
    first, *rest = parts_of(str(schema)) or ("",)
    name = unquoted(str(identifier))
    return TableName(".".join(rest), name, first) if rest else TableName(first, name)


def shared_relations(
    manifest: Any, selected: Collection[str], catalog_of: Callable[[Any], str | None]
) -> frozenset[str]:
    """Keys of the relations that several incremental views read, also through plain views.

    Of an incremental view it is the key of its state, which is read instead.

    selected    the unique_ids of the run's nodes
    catalog_of  the catalog of an incremental view's state, by the view's node; None for the view's own
    """
    nodes = {**manifest.nodes, **manifest.sources}
    readers: defaultdict[str, set[str]] = defaultdict(set)
    for reader in selected:
        if _materialized(nodes.get(reader)) != "incremental_view":
            continue
        below = list(nodes[reader].depends_on_nodes)
        while below:
            name = below.pop()
            if name in nodes and reader not in readers[name]:
                readers[name].add(reader)
                if _materialized(nodes[name]) in ("view", "ephemeral"):
                    below += nodes[name].depends_on_nodes
    shared = {name for name, models in readers.items() if len(models) > 1}
    read = ((node, name) for node, name in relations(manifest) if node.unique_id in shared)
    return frozenset(
        state_table(name, catalog_of(node)).key if _materialized(node) == "incremental_view" else name.key
        for node, name in read
    )


def _materialized(node: Any) -> str:
    """How a model is built; "" for anything else."""
    return str(node.config.materialized) if getattr(node, "resource_type", "") == "model" else ""
