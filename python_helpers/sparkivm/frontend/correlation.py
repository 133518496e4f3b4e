"""Frees subqueries from the columns of the outer query: each becomes a column of the subquery's own.

A correlated relation I stands for one relation I(f) per row f of the outer relation A. We replace it by one
relation I′ with columns f′. The rows of I′ with f′ = f are those of I(f):

    σ_{c = f}(B)          I′ = B, f′ = c              an equality with a column binds f, and A is not read
    σ_{p(f)}(B)           I′ = σ_{p(f′)}(D × B)       else f ranges over D = δ(π_f(A)), the domain
    γ_k(B(f))             I′ = γ_{k,f′}(B′)
    γ(B(f)), no keys      I′ = D ⟕ γ_{f′}(B′)         an f without rows has one row too
    B(f) ⋈ C(f)           I′ = B′ ⋈ C′ on equal f′

The rule for γ is that of Galindo-Legaria and Joshi 2001, the domain that of Seshadri, Pirahesh, Leung 1996.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sparkivm.algebra import (
    Aggregate,
    Call,
    Filter,
    Generate,
    InnerJoin,
    JoinCondition,
    LeftJoin,
    Pair,
    Project,
    Relation,
    Repeat,
    Scalar,
    SemiJoin,
    UnionAll,
    Window,
)
from sparkivm.algebra.project import renamed
from sparkivm.algebra.scalar import column, conjunction, conjuncts, equal, is_not_null
from sparkivm.algebra.sql_expression import expression
from sparkivm.errors import NotIncremental
from sparkivm.frontend.place import not_supported
from sparkivm.frontend.scope import NameAllocator


def free_columns(relation: Relation) -> frozenset[str]:
    """Columns that a relation's expressions read, but no relation below them has."""
    free: frozenset[str] = frozenset()
    for node in relation.walk():
        known = frozenset(name for child in node.children for name in child.columns)
        free = free.union(*(scalar.columns - known for scalar in node.scalars))
    return free


def reads_outer_columns_only_among_themselves(relation: Relation) -> bool:
    """Whether it is correlated, but no expression combines outer columns with its own.

    Spark tests such an expression outside of the subquery, which it then treats as an independent query.
    """
    free = free_columns(relation)
    parts = (p for node in relation.walk() for scalar in node.scalars for p in conjuncts(scalar))
    correlated = [part for part in parts if part.columns & free]
    return bool(correlated) and all(part.columns <= free for part in correlated)


@dataclass(frozen=True)
class Bound:
    """A relation without outer columns; `columns` maps each to the own column that replaces it."""

    relation: Relation
    columns: Mapping[str, str] = field(default_factory=dict)
    strict: frozenset[str] = frozenset()  # outer columns whose own column is never NULL

    def pairs(self) -> tuple[Pair, ...]:
        """Pairs of (outer column, own column for it)."""
        return tuple(Pair(of, mine, of not in self.strict) for of, mine in self.columns.items())


class Correlation:
    """Frees relations from the columns of one outer relation."""

    def __init__(self, outer: Relation, names: NameAllocator) -> None:
        self._outer, self._names = outer, names
        self._columns = frozenset(outer.columns)

    def pulled(self, relation: Relation) -> tuple[Relation, tuple[Scalar, ...]] | None:
        """The relation without its correlated predicates, and the predicates, which a semi-join can test.

        None if one cannot be moved up, for example from below an aggregate.
        """
        if not self._free(relation):
            return relation, ()
        match relation:
            case Filter():
                mine, up = self._split(conjuncts(relation.predicate))
                below = self.pulled(relation.input)
                if below is None:
                    return None
                kept = conjunction(mine)
                return (Filter(below[0], kept) if kept else below[0]), (*below[1], *up)
            case Project():
                below = self.pulled(relation.input)
                if below is None or any(self._outside(scalar) for _, scalar in relation.items):
                    return None
                known = dict(relation.items)
                needed = {c for p in below[1] for c in p.columns if c in below[0].columns}
                items = {**known, **{name: column(name) for name in sorted(needed - known.keys())}}
                if any(known.get(name, column(name)).as_column != name for name in needed):
                    return None
                return Project(below[0], tuple(items.items())), below[1]
            case InnerJoin():
                parts = [self.pulled(child) for child in relation.inputs]
                mine, up = self._split(relation.predicates)
                inputs, predicates = [], list(up)
                for part in parts:
                    if part is None:
                        return None
                    inputs.append(part[0])
                    predicates += part[1]
                return InnerJoin(tuple(inputs), tuple(mine)), tuple(predicates)
        return None

    def bind(self, relation: Relation) -> Bound:
        """The relation with own columns in place of the outer relation's.

        Raises: NotIncremental for operators without a rule.
        """
        if not self._free(relation):
            return Bound(relation)
        match relation:
            case Filter():
                return self._filtered(self.bind(relation.input), conjuncts(relation.predicate))
            case Project():
                below = self._with(self.bind(relation.input), map(self._outside, relation.scalars))
                items = tuple((name, scalar.rename(below.columns)) for name, scalar in relation.items)
                passed = {name: column(name) for name in below.columns.values()}
                assert all(scalar.as_column == name for name, scalar in items if name in passed), "new names"
                passed |= dict(items)
                return replace(below, relation=Project(below.relation, tuple(passed.items())))
            case Generate():
                below = self._with(self.bind(relation.input), [self._outside(relation.generator)])
                generator = relation.generator.rename(below.columns)
                return replace(below, relation=replace(relation, input=below.relation, generator=generator))
            case Repeat():
                below = self.bind(relation.input)
                return replace(below, relation=Repeat(below.relation, relation.times))
            case InnerJoin():
                return self._joined(relation)
            case LeftJoin() | SemiJoin():
                return self._beside(relation)
            case UnionAll():
                return self._union(relation)
            case Window():
                return self._windowed(relation)
            case Aggregate():
                return self._grouped(relation)
        raise _no_rule(relation)

    def ranging(self, bound: Bound, outer_columns: Iterable[str]) -> Bound:
        """The same with own columns for these outer columns too: each row once for each of their values."""
        return self._with(bound, [frozenset(outer_columns)])

    # what is free

    def _outside(self, scalar: Scalar) -> frozenset[str]:
        return scalar.columns & self._columns

    def _free(self, relation: Relation) -> frozenset[str]:
        return free_columns(relation) & self._columns

    def _split(self, predicates: Iterable[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """The predicates without, and those with, outer columns."""
        inside: list[Scalar] = []
        outside: list[Scalar] = []
        for predicate in predicates:
            (outside if self._outside(predicate) else inside).append(predicate)
        return inside, outside

    # one rule per operator

    def _filtered(self, bound: Bound, predicates: Iterable[Scalar]) -> Bound:
        inside, outside = self._split(predicates)
        rest: list[Scalar] = []
        for predicate in outside:
            found = self._equality(predicate, bound)
            if found is None:
                rest.append(predicate)
                continue
            of, own = found
            name, relation = own, bound.relation
            if name in bound.columns.values():
                name = self._names.fresh(of)
                passed = tuple((c, column(c)) for c in relation.columns)
                relation = Project(relation, (*passed, (name, column(own))))
            inside.append(is_not_null(name))
            bound = Bound(relation, {**bound.columns, of: name}, bound.strict | {of})
        bound = self._with(bound, map(self._outside, rest))
        kept = conjunction([*inside, *(predicate.rename(bound.columns) for predicate in rest)])
        return replace(bound, relation=Filter(bound.relation, kept)) if kept else bound

    def _equality(self, predicate: Scalar, bound: Bound) -> tuple[str, str] | None:
        """(outer column not bound yet, own column) that a predicate equates."""
        tree = predicate.tree
        if not isinstance(tree, exp.EQ):
            return None
        for one, other in ((tree.this, tree.expression), (tree.expression, tree.this)):
            of, own = Scalar(one).as_column, Scalar(other).as_column
            if of not in self._columns or of in bound.columns or own is None or own in self._columns:
                continue
            # From here on the subquery reads its own column instead of the outer one.
            if self._names.same_to_expressions((self._outer, column(of)), (bound.relation, column(own))):
                return of, own
        return None

    def _with(self, bound: Bound, wanted: Iterable[frozenset[str]]) -> Bound:
        """The same with own columns for these outer columns too, which range over the domain."""
        missing = frozenset[str]().union(*wanted) - bound.columns.keys()
        if not missing:
            return bound
        domain = self._domain([*bound.columns, *sorted(missing)])
        same = tuple(
            equal(domain.columns[of], mine, null_safe=of not in bound.strict)
            for of, mine in bound.columns.items()
        )
        return Bound(InnerJoin((domain.relation, bound.relation), same), domain.columns, bound.strict)

    def _domain(self, outer_columns: Iterable[str]) -> Bound:
        names = {of: self._names.fresh(of) for of in outer_columns}
        rows = renamed(self._outer, ((mine, of) for of, mine in names.items()))
        return Bound(Aggregate(rows, tuple(names.values()), ()), names)

    def _joined(self, relation: InnerJoin) -> Bound:
        parts: list[Bound] = []
        columns: dict[str, str] = {}
        same: list[Scalar] = []
        for child in relation.inputs:
            part = self._apart(self.bind(child), [part.relation for part in parts])
            parts.append(part)
            for of, mine in part.columns.items():
                if of in columns:
                    same.append(equal(columns[of], mine, null_safe=True))
                columns.setdefault(of, mine)
        strict = frozenset[str]().union(*(part.strict for part in parts))
        joined = InnerJoin(tuple(part.relation for part in parts), tuple(same))
        return self._filtered(Bound(joined, columns, strict), relation.predicates)

    def _beside(self, relation: LeftJoin | SemiJoin) -> Bound:
        """The preserved side has all outer columns that ON or the other side reads."""
        right = self.bind(relation.right)
        left = self._with(
            self.bind(relation.left), [frozenset(right.columns), *map(self._outside, relation.on.predicates)]
        )
        right = self._apart(right, [left.relation])
        predicates = [predicate.rename(left.columns) for predicate in relation.on.predicates]
        predicates += [equal(left.columns[of], mine, null_safe=True) for of, mine in right.columns.items()]
        on = JoinCondition.of(predicates, left.relation.columns, right.relation.columns)
        return replace(left, relation=replace(relation, left=left.relation, right=right.relation, on=on))

    def _apart(self, bound: Bound, others: Iterable[Relation]) -> Bound:
        """The same with names unlike the others': domains of one outer relation share their names."""
        taken = frozenset(name for other in others for name in other.columns)
        names = {mine: self._names.fresh(of) for of, mine in bound.columns.items() if mine in taken}
        if not names:
            return bound
        relation = renamed(bound.relation, ((names.get(name, name), name) for name in bound.relation.columns))
        columns = {of: names.get(mine, mine) for of, mine in bound.columns.items()}
        return replace(bound, relation=relation, columns=columns)

    def _union(self, relation: UnionAll) -> Bound:
        parts = [self.bind(child) for child in relation.inputs]
        wanted = frozenset(of for part in parts for of in part.columns)
        parts = [self._with(part, [wanted]) for part in parts]
        columns = {of: self._names.fresh(of) for of in sorted(wanted)}
        own = [(name, name) for name in relation.columns]
        inputs = tuple(
            renamed(part.relation, [*own, *((mine, part.columns[of]) for of, mine in columns.items())])
            for part in parts
        )
        strict = wanted.intersection(*(part.strict for part in parts))
        return Bound(relation.with_children(inputs), columns, strict)

    def _windowed(self, relation: Window) -> Bound:
        if any(call.columns & self._columns for call in relation.calls):
            raise _no_rule(relation)
        bound = self.bind(relation.input)
        partition = tuple(dict.fromkeys((*relation.partition, *bound.columns.values())))
        return replace(bound, relation=replace(relation, input=bound.relation, partition=partition))

    def _grouped(self, relation: Aggregate) -> Bound:
        bound = self._with(self.bind(relation.input), map(self._outside, relation.scalars))
        own = tuple(bound.columns.values())
        calls = tuple(
            replace(call, argument=call.argument.rename(bound.columns)) if call.argument is not None else call
            for call in relation.calls
        )
        if relation.keys:
            keys = tuple(dict.fromkeys((*relation.keys, *own)))
            return replace(bound, relation=Aggregate(bound.relation, keys, calls))
        # Without keys, an outer row without inner rows gets a row too.
        domain = self._domain(bound.columns)
        groups = Aggregate(bound.relation, own, calls)
        pairs = tuple(Pair(domain.columns[of], mine, True) for of, mine in bound.columns.items())
        joined = LeftJoin(domain.relation, groups, JoinCondition(pairs))
        values = tuple((call.name, or_over_no_rows(call)) for call in relation.calls)
        passed = tuple((name, column(name)) for name in domain.columns.values())
        return replace(domain, relation=Project(joined, (*passed, *values)))


def _no_rule(relation: Relation) -> NotIncremental:
    words = re.sub("(?<=[a-z])(?=[A-Z])", " ", type(relation).__name__).upper()  # FULL JOIN, WINDOW
    return not_supported(f"{words} in a correlated subquery")


def or_over_no_rows(call: Call) -> Scalar:
    """An aggregate above an outer join: where no group was found, its value over empty input.

    Raises: NotIncremental for an aggregate whose value over empty input is not known.
    """
    value = call.called.over_no_rows
    if value == "unknown":
        text = call.function.text(call.argument.sql("spark") if call.argument is not None else "")
        name = text.partition("(")[0].lower()
        raise not_supported(f"{name} in a correlated subquery: its value over empty input is not known")
    return column(call.name) if value == "null" else expression(f"coalesce(x, {value})", x=call.name)
