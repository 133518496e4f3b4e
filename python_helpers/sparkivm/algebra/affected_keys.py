"""The delta of operators that compute a key's rows together: affected keys are evaluated again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sparkivm.algebra.keys import Keys
from sparkivm.algebra.relation import Columns, Relation
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.union_all import difference

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


def delta_by_keys(relation: Relation, keys: Columns, d: Derivation) -> Relation:
    """d f(A) = f(A₁|K) − f(A₀|K),  K ⊇ the keys of dA; outside K, f is unchanged. Without keys: all of A."""
    (child,) = relation.children
    new = relation
    if keys:
        affected = Keys.of(d.touched(child, keys), ((key, key) for key in keys))
        new = relation.with_children((child.restrict(affected),))
    return difference(new, d.old_bag(new))


def restricted_by_keys(relation: Relation, own: Iterable[str], keys: Keys) -> Relation:
    """f(A)|K = f(A|K) for K over the columns `own`; other keys stay on top."""
    (child,) = relation.children
    below = keys.within(own)
    narrowed = relation.with_children((child.restrict(below),)) if below else relation
    return narrowed if below == keys else Restricted(narrowed, keys)
