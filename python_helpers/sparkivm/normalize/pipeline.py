"""Passes: named rewrites that keep a relation's rows; and the sequence of passes for a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from sparkivm.algebra import Relation
from sparkivm.algebra.relation import Columns
from sparkivm.normalize.drop_projects import drop_projects
from sparkivm.normalize.join_groups import join_groups
from sparkivm.normalize.lift_moments import lift_moments
from sparkivm.normalize.prune_columns import prune_columns
from sparkivm.normalize.push_filters import push_filters
from sparkivm.normalize.share_parts import share_parts

# (name, rewrite)
Pass = tuple[str, Callable[[Relation], Relation]]


@dataclass(frozen=True)
class Rewritten:
    """A relation after a pass."""

    by: str
    relation: Relation


# A relation after each pass, in order.
Trace = tuple[Rewritten, ...]


def traced(name: str, relation: Relation, passes: Iterable[Pass]) -> Trace:
    """The relation under a name, then after each pass; the last one is the result."""
    trace = [Rewritten(name, relation)]
    for by, change in passes:
        relation = change(relation)
        trace.append(Rewritten(by, relation))
    return tuple(trace)


def normalization(needed: Columns) -> tuple[Pass, ...]:
    """The passes to the form that the rules expect, with at least the columns in `needed`."""
    return (
        ("join_groups", join_groups),
        ("drop_projects", drop_projects),
        ("push_filters", push_filters),
        ("share_parts", share_parts),
        ("prune_columns", partial(prune_columns, needed=needed)),
        ("lift_moments", lift_moments),
    )


def normalize(relation: Relation, needed: Columns) -> Relation:
    """A query's relation in normal form."""
    return traced("query", relation, normalization(needed))[-1].relation
