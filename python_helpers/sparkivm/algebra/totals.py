"""GROUP BY with counts and exact sums only: a group's old totals follow from the new ones and the changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkivm.algebra.aggregate import Aggregate
from sparkivm.algebra.aggregates.aggregate_function import Call
from sparkivm.algebra.aggregates.stored_aggregate import HiddenColumn
from sparkivm.algebra.filter import Filter
from sparkivm.algebra.generate import Generate
from sparkivm.algebra.join_condition import JoinCondition, Pair
from sparkivm.algebra.keys import Keys
from sparkivm.algebra.left_join import LeftJoin
from sparkivm.algebra.project import Project, only, renamed
from sparkivm.algebra.relation import Relation
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.scalar import Scalar, column, disjunction
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import Weigh
from sparkivm.names import RESERVED_PREFIX

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation

_SIDE = f"{RESERVED_PREFIX}side"  # 1 for the new row, -1 for the old one
_MORE = f"{RESERVED_PREFIX}more_"  # by how much a total changed
_NOW = f"{RESERVED_PREFIX}now_"
_SIDES = Scalar(exp.Explode(this=expression("array(1, -1)").tree.copy()))


@dataclass(frozen=True, eq=False)
class Totals(Aggregate):
    """γ(A) of hidden columns that add up, the first of which is COUNT(*).

    A is read once for new and old. With T = γ±(dA), and K the keys of T:

    delta     dγ(A) = G − (G − T),  G = γ(A₁)|K; a group exists if its COUNT(*) is above 0
    old       γ(A₀) = Σ(γ(A₁) ⊎ −T)
    touched   group keys: touched(A)
    restrict  γ(A)|K = γ(A|K) for K over group keys
    needs     dA cheap: A computed from tables row by row
    tested    tests/laws/test_delta_law.py
    """

    calls: tuple[HiddenColumn, ...]
    read: frozenset[str] = frozenset()  # calls that something above reads
    written: Aggregate | None = None  # as written in the query
    # if this is restricted: what it is a part of, and by which keys
    whole: Totals | None = None
    within: tuple[Keys, ...] = ()

    strategy = "counts and sums, old ones from new ones and the delta"

    def restrict(self, keys: Keys) -> Relation:
        below = keys.within(self.keys)
        if not below:
            return Restricted(self, keys)
        narrowed = replace(
            self,
            input=self.input.restrict(below),
            whole=self.whole or self,
            within=(*self.within, below),
        )
        return narrowed if below == keys else Restricted(narrowed, keys)

    def delta(self, d: Derivation) -> Relation:
        now: Relation = self
        if self.keys:
            whole = self.whole or self  # the touched keys are within this part
            now = whole.restrict(Keys.of(d.touched(self.input, self.keys), ((k, k) for k in self.keys)))
        beside = LeftJoin(
            renamed(self._change(d), self._names(_MORE)),
            renamed(now, ((_NOW + name, name) for name in self.columns)),
            JoinCondition(tuple(Pair(key, _NOW + key, null_safe=True) for key in self.keys)),
        )
        both = Generate(Filter(beside, self._effect()), _SIDES, (_SIDE,))
        sides = (*self._key_items, *((call.name, self._of_side(call)) for call in self.calls))
        sided = Project(both, (*sides, (_SIDE, column(_SIDE))))
        return only(Weigh(self._presented(sided), column(_SIDE)), self.columns)

    def old(self, d: Derivation) -> Relation | None:
        whole = self.whole or self
        if not d.changes(whole.input):
            return self
        change: Relation = whole._change(d)
        for keys in self.within:
            change = change.restrict(keys)
        now = Project(self, (*self._key_items, *((c.name, c.checked()) for c in self.calls)))
        texts = ((c, c.additive.minus.format(one="0", other="x")) for c in self.calls)
        less = ((c.name, expression(text, x=c.checked())) for c, text in texts)
        added = tuple(Call(c.name, c.additive.adder, column(c.name)) for c in self.calls)
        summed = Aggregate(plus(now, Project(change, (*self._key_items, *less))), self.keys, added)
        return only(self._presented(summed), self.columns)

    def _change(self, d: Derivation) -> Aggregate:
        """T, one row for each key of dA, even if its changes cancel."""
        return Aggregate(d.delta(self.input), self.keys, self.calls, signed=True)

    @property
    def _key_items(self) -> list[tuple[str, Scalar]]:
        return [(key, column(key)) for key in self.keys]

    def _of_side(self, call: HiddenColumn) -> Scalar:
        """A total, new or old by the side."""
        change = "case when side < 0 then coalesce(more, 0) else 0 end"
        text = call.additive.minus.format(one="coalesce(now, 0)", other=change)
        return expression(text, now=call.checked(_NOW), more=call.checked(_MORE), side=_SIDE)

    def _names(self, prefix: str) -> list[tuple[str, str]]:
        """The calls under a prefix, the keys as they are."""
        return [(key, key) for key in self.keys] + [(prefix + call.name, call.name) for call in self.calls]

    def _effect(self) -> Scalar:
        """Whether a group changed in a way that something above can see."""
        rows = self.calls[0].name
        effects = [expression("coalesce(more, 0) <> 0", more=_MORE + name) for name in sorted(self.read)]
        if self.keys:
            came_or_went = "(coalesce(now, 0) > 0) <> (coalesce(now, 0) - coalesce(more, 0) > 0)"
            effects.append(expression(came_or_went, now=_NOW + rows, more=_MORE + rows))
        return disjunction(effects) if effects else expression("false")

    def _presented(self, totals: Relation) -> Relation:
        """Groups with rows, with totals turned into aggregate values; other columns are passed on."""
        values = {call.name: call.presented() for call in self.calls}
        items = tuple((name, values.get(name, column(name))) for name in totals.columns)
        alive = expression("n > 0", n=self.calls[0].name)
        return Project(Filter(totals, alive) if self.keys else totals, items)
