"""What a query is and how it changes: relational algebra over bags and Z-sets."""

from typing import cast

from sparkivm.algebra.aggregate import Aggregate
from sparkivm.algebra.aggregates.aggregate_function import Call
from sparkivm.algebra.aggregates.stored_aggregate import HiddenColumn
from sparkivm.algebra.derivation import Derivation
from sparkivm.algebra.filter import Filter
from sparkivm.algebra.full_join import FullJoin
from sparkivm.algebra.generate import Generate
from sparkivm.algebra.inner_join import InnerJoin
from sparkivm.algebra.join_condition import JoinCondition, Pair
from sparkivm.algebra.keys import Keys
from sparkivm.algebra.left_join import LeftJoin
from sparkivm.algebra.project import Project
from sparkivm.algebra.relation import Columns, Relation
from sparkivm.algebra.repeat import Repeat
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.scan import At, Changes, Scan
from sparkivm.algebra.semi_join import SemiJoin
from sparkivm.algebra.slice import Lookup, Slice
from sparkivm.algebra.totals import Totals
from sparkivm.algebra.union_all import UnionAll
from sparkivm.algebra.values import OneRow
from sparkivm.algebra.window import Ordering, Window, WindowCall
from sparkivm.algebra.zset import Consolidate, Copies, Empty, Unweigh, Weigh

__all__ = [
    "Aggregate",
    "AnyRelation",
    "At",
    "Call",
    "Changes",
    "Columns",
    "Consolidate",
    "Copies",
    "Derivation",
    "Empty",
    "Filter",
    "FullJoin",
    "Generate",
    "HiddenColumn",
    "InnerJoin",
    "JoinCondition",
    "Keys",
    "LeftJoin",
    "Lookup",
    "OneRow",
    "Ordering",
    "Pair",
    "Project",
    "Relation",
    "Repeat",
    "Restricted",
    "Scalar",
    "Scan",
    "SemiJoin",
    "Slice",
    "Totals",
    "UnionAll",
    "Unweigh",
    "Weigh",
    "Window",
    "WindowCall",
    "operator",
]

AnyRelation = (
    Scan
    | Changes
    | OneRow
    | Empty
    | Filter
    | Project
    | Generate
    | Repeat
    | UnionAll
    | InnerJoin
    | LeftJoin
    | FullJoin
    | SemiJoin
    | Aggregate
    | Totals
    | Window
    | Restricted
    | Slice
    | Weigh
    | Consolidate
    | Copies
    | Unweigh
)


def operator(relation: Relation) -> AnyRelation:
    """A relation typed as a member of the closed list, so that mypy can check a `match` for completeness."""
    return cast(AnyRelation, relation)
