"""The passes in their order, and where each is used."""

from __future__ import annotations

from collections.abc import Iterable

from sparkivm.algebra import Relation
from sparkivm.normalize.drop_projects import drop_projects
from sparkivm.normalize.join_groups import join_groups
from sparkivm.normalize.lift_moments import lift_moments
from sparkivm.normalize.prune_columns import prune_columns
from sparkivm.normalize.push_filters import push_filters
from sparkivm.normalize.share_parts import share_parts


def normalize(relation: Relation, needed: Iterable[str]) -> Relation:
    """A query's relation in the form that the rules are made for, with at least the columns in `needed`."""
    flat = push_filters(drop_projects(join_groups(relation)))
    return lift_moments(prune_columns(share_parts(flat), needed))
