"""Subqueries in expressions (scalar, EXISTS, IN): each is joined to the rows of the expression.

I(f) are the subquery's rows for a row of A; correlation.py says how they are joined.

    EXISTS, IN in a conjunct     A ⋉ I
    NOT EXISTS in a conjunct     A ▷ I
    x NOT IN I in a conjunct     (A ▷_{x = y} I) ▷ σ_{y is null}(I), and ▷ I if x is NULL
    EXISTS elsewhere             A ⟕ γ(I), more than 0 rows
    scalar                       A ⟕ γ(I), the one value; two rows are an error
        x IN I elsewhere             TRUE if x is found; else unknown if I has a NULL, or x is NULL and I has
                                     rows; else FALSE. Spark takes unknown for FALSE, also for NOT IN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from sparkivm.algebra import (
    Aggregate,
    Call,
    Filter,
    InnerJoin,
    JoinCondition,
    LeftJoin,
    Pair,
    Project,
    Relation,
    Scalar,
    SemiJoin,
)
from sparkivm.algebra.aggregates.count import COUNT, COUNT_ROWS
from sparkivm.algebra.aggregates.recomputed import evaluated
from sparkivm.algebra.membership import membership
from sparkivm.algebra.project import renamed
from sparkivm.algebra.scalar import column, conjunction, conjuncts, equal, equality, integer
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend.accepted_expressions import check_accepted
from sparkivm.frontend.char_padding import char_length, refuse_different_lengths
from sparkivm.frontend.correlation import Bound, Correlation, free_columns, or_over_no_rows
from sparkivm.frontend.expressions import has_aggregate, resolve
from sparkivm.frontend.in_values import around, as_in_value
from sparkivm.frontend.parentheses import inside_parentheses
from sparkivm.frontend.place import not_supported, not_understood, place_of
from sparkivm.frontend.scope import Scope

if TYPE_CHECKING:
    from sparkivm.frontend.query import QueryReader

Kind = Literal["scalar", "exists", "in"]

_TWO_ROWS = "case when n > 1 then raise_error({message}) else v end"
_MESSAGE = "'a scalar subquery returned more than one row'"
# It reads the outer row: Spark may compute a condition that does not for rows without one.
_MESSAGE_FOR = f"concat({_MESSAGE}, ' for ', coalesce(cast(k as string), 'NULL'))"
_IN = "case when hit is not null then true when (x is null and n > 0) or u > 0 then {unknown} else false end"
_IN_COUNTED = "case when h > 0 then true when u > 0 then {unknown} else false end"


@dataclass(frozen=True)
class _Waiting:
    """A subquery whose column has a name, but is not joined yet.

    values    the columns that it returns
    operands  left of IN
    unknown   the value of an IN that is neither TRUE nor FALSE: the one that makes the condition around it
              FALSE. Spark pushes NOT inwards, then joins the subquery for IN or NOT IN, and the join knows
              only matches (docs/decisions/018-in-is-never-null.md).
    """

    kind: Kind
    rows: Relation
    values: tuple[str, ...]
    operands: tuple[Scalar, ...]
    unknown: bool
    node: exp.Expr

    @property
    def read(self) -> frozenset[str]:
        """The outer columns that it reads."""
        return free_columns(self.rows).union(*(operand.columns for operand in self.operands))


class Subqueries:
    """The subqueries of one SELECT: read where they occur, joined once the relation is known."""

    def __init__(self, reader: QueryReader) -> None:
        self._reader = reader
        self._waiting: dict[str, _Waiting] = {}  # a subquery within an operand of IN comes first
        self._aggregates: dict[Scalar, str] = {}  # outer aggregates that subqueries read, and their columns

    @property
    def waiting(self) -> frozenset[str]:
        """The columns of subqueries that are not joined yet."""
        return frozenset(self._waiting)

    @property
    def read(self) -> frozenset[str]:
        """The outer columns that the waiting subqueries read."""
        return frozenset().union(*(one.read for one in self._waiting.values()))

    def column(self, node: exp.Expr, scope: Scope, aliases: Mapping[str, exp.Expr]) -> exp.Expr:
        """The column that replaces a subquery."""
        kind: Kind = "scalar"
        query: exp.Expr = node
        operands: tuple[Scalar, ...] = ()
        if isinstance(node, exp.Exists):
            kind, query = "exists", node.this
        elif isinstance(node, exp.In):
            kind, query = "in", node.args["query"]
            if isinstance(query, exp.Subquery) and _is_in_parentheses(query.this):
                what = "IN with a subquery in two pairs of parentheses, which is one value"
                raise not_supported(what, node)
            operand = node.this.unnest()
            written = operand.expressions if isinstance(operand, exp.Tuple) else [operand]
            parts = [resolve(part, scope, aliases, self.column) for part in written]
            for part in parts:
                if part.find(exp.Window) or not self.has_aggregate(part):
                    check_accepted(part)
            operands = tuple(map(Scalar, parts))
        rows, visible = self._reader.read_subquery(query, scope, exists=kind == "exists")
        values = [name for _, name in visible]
        expected = {"scalar": 1, "in": len(operands), "exists": len(values)}[kind]
        if len(values) != expected:
            raise not_understood(f"a subquery returns {len(values)} columns, not {expected}", node)
        name = self._reader.names.fresh("subquery")
        self._waiting[name] = _Waiting(kind, rows, tuple(values), operands, around(node).negated, node)
        return column(name).tree

    def has_aggregate(self, tree: exp.Expr) -> bool:
        """Whether a resolved expression has aggregates, also as operands of a waiting subquery."""
        if has_aggregate(tree):
            return True
        waiting = (self._waiting[name] for name in Scalar(tree).columns & self.waiting)
        return any(self.has_aggregate(operand.tree) for one in waiting for operand in one.operands)

    def aggregate(self, tree: exp.Expr) -> exp.Expr:
        """The column that replaces an outer query's aggregate in a subquery; see `over_groups`."""
        scalar = Scalar(tree)
        if scalar not in self._aggregates:
            self._aggregates[scalar] = self._fresh("aggregate")
        return column(self._aggregates[scalar]).tree

    @property
    def of_groups(self) -> list[exp.Expr]:
        """The expressions that `over_groups` rewrites over the groups."""
        operands = [operand.tree for one in self._waiting.values() for operand in one.operands]
        return [*operands, *(scalar.tree for scalar in self._aggregates)]

    def over_groups(self, rewrite: Callable[[exp.Expr, exp.Expr], Scalar]) -> dict[str, Scalar]:
        """Rewrite the waiting subqueries over the groups: their operands, and the aggregates that they read.

        rewrite  turns an expression over FROM, and the node that contains it, into one over the groups
        Returns: by name, the columns that the groups need in addition to their own.
        """
        for name, one in self._waiting.items():
            operands = tuple(rewrite(operand.tree, one.node) for operand in one.operands)
            self._waiting[name] = replace(one, operands=operands)
        return {name: rewrite(scalar.tree, scalar.tree) for scalar, name in self._aggregates.items()}

    def same_column(self, node: exp.Expr, scope: Scope, aliases: Mapping[str, exp.Expr]) -> exp.Expr:
        """The column of an equal waiting subquery (GROUP BY may repeat a SELECT item), or a new one."""
        same, unknown = inside_parentheses(node), around(node).negated
        equal_ones = (
            name
            for name, one in self._waiting.items()
            if inside_parentheses(one.node) == same and (one.kind != "in" or one.unknown == unknown)
        )
        name = next(equal_ones, None)
        return self.column(node, scope, aliases) if name is None else column(name).tree

    def joined(self, relation: Relation, wanted: frozenset[str]) -> Relation:
        """The relation joined to the subqueries whose columns are in `wanted`."""
        for name in list(self._waiting):
            if name in wanted:
                relation = self._join(relation, name)
        return relation

    def filtered(self, relation: Relation, predicate: Scalar) -> Relation:
        """The rows for which a predicate, which may contain subqueries, is TRUE."""
        kept = [p for p in conjuncts(predicate) if not p.columns & self.waiting]
        if kept:
            relation = _filter(relation, conjunction(kept))
        for conjunct in conjuncts(predicate):
            waiting = conjunct.columns & self.waiting
            if not waiting:
                continue
            tested = self._tested(relation, conjunct)
            relation = tested or _filter(self.joined(relation, waiting), conjunct)
        return relation

    def beside(self, left: Relation, right: Relation, join: exp.Expr) -> tuple[Relation, Relation]:
        """The sides of an outer or semi join, each joined to those subqueries of ON that read it.

        A subquery that reads neither side is joined to the left one.
        """
        for name in list(self._waiting):
            waiting = self._waiting[name]
            if waiting.read & frozenset(right.columns):
                if waiting.read & frozenset(left.columns):
                    raise not_supported("a subquery in ON that reads both sides", join)
                right = self._join(right, name)
            else:
                left = self._join(left, name)
        return left, right

    def refuse_not_in(
        self, condition: Iterable[Scalar], tested_first: frozenset[str], join: exp.Expr
    ) -> None:
        """Refuse NOT IN in ON of an outer or semi join, where Spark takes unknown for FALSE before NOT.

        tested_first  columns of the side on which Spark tests conditions before the join: there NOT IN is
                      what it is in WHERE
        Raises: NotIncremental.
        """
        for predicate in condition:
            waiting = [self._waiting[name] for name in predicate.columns & self.waiting]
            if any(one.kind == "in" and one.unknown for one in waiting):
                read = (predicate.columns - self.waiting).union(*(one.read for one in waiting))
                if not read <= tested_first:
                    raise not_supported("NOT IN with a subquery in ON of an outer or semi join", join)

    # EXISTS and IN as conjuncts

    def _tested(self, relation: Relation, conjunct: Scalar) -> Relation | None:
        """The rows that pass a conjunct that is just EXISTS or IN, or its negation; None for others."""
        tree, anti = conjunct.tree, False
        while isinstance(tree, (exp.Not, exp.Paren)):
            anti ^= isinstance(tree, exp.Not)
            tree = tree.this
        name = Scalar(tree).as_column
        waiting = self._waiting.get(name or "")
        if name is None or waiting is None or waiting.kind == "scalar":
            return None
        if anti and len(waiting.operands) > 1:
            return None
        if any(operand.columns & self.waiting for operand in waiting.operands):
            return None
        relation, operands = self._as_columns(relation, waiting.operands)
        pulled = Correlation(relation, self._reader.names).pulled(waiting.rows)
        if pulled is None:
            return None
        del self._waiting[name]
        rows, predicates = pulled
        # EXISTS has no operands, and its columns do not matter.
        matches = self._matches(waiting, relation, operands, rows) if operands else ()
        result = _semi_join(relation, rows, (*predicates, *matches), anti)
        if anti and operands:
            return self._without_unknown(result, rows, predicates, operands[0], waiting.values[0])
        return result

    def _without_unknown(
        self, relation: Relation, rows: Relation, predicates: tuple[Scalar, ...], x: str, y: str
    ) -> Relation:
        """The rows for which x NOT IN y is TRUE: neither x nor any y is NULL, or there is no y at all."""
        read = sorted(frozenset().union(*(p.columns for p in predicates)) & frozenset(rows.columns))
        for some, condition in (
            (Filter(rows, expression("y is null", y=y)), ()),
            (rows, (expression("x is null", x=x),)),
        ):
            mine = {name: self._reader.names.fresh(name) for name in read}
            items = tuple((new, column(old)) for old, new in mine.items())
            one = self._reader.names.fresh("one")
            distinct = Aggregate(Project(some, (*items, (one, integer(1)))), (*mine.values(), one), ())
            on = (*(p.rename(mine) for p in predicates), *condition)
            relation = _semi_join(relation, distinct, on, anti=True)
        return relation

    # anywhere else

    def _join(self, relation: Relation, name: str) -> Relation:
        waiting = self._waiting.pop(name)
        below = frozenset().union(*(operand.columns for operand in waiting.operands)) & self.waiting
        relation, operands = self._as_columns(self.joined(relation, below), waiting.operands)
        correlation = Correlation(relation, self._reader.names)
        match waiting.kind:
            case "scalar":
                joined, value = self._scalar(relation, waiting, correlation)
            case "exists":
                joined, value = self._exists(relation, waiting, correlation)
            case "in":
                joined, value = self._in(relation, waiting, correlation, operands)
                value = as_in_value(value, operands, waiting.unknown, waiting.node)
        kept = tuple((passed, column(passed)) for passed in relation.columns)
        return Project(joined, (*kept, (name, value)))

    def _scalar(
        self, relation: Relation, waiting: _Waiting, correlation: Correlation
    ) -> tuple[Relation, Scalar]:
        single = self._single_row(relation, waiting, correlation)
        if single is not None:
            return single
        bound = correlation.bind(waiting.rows)
        n, v = self._fresh("n"), self._fresh("value")
        calls = (
            Call(n, COUNT_ROWS),
            Call(v, evaluated(), expression("any_value(x)", x=waiting.values[0])),
        )
        joined = self._beside(relation, bound, calls)
        if not bound.columns:
            return joined, expression(_TWO_ROWS.format(message=_MESSAGE), n=n, v=v)
        return joined, expression(_TWO_ROWS.format(message=_MESSAGE_FOR), n=n, v=v, k=min(bound.columns))

    def _single_row(
        self, relation: Relation, waiting: _Waiting, correlation: Correlation
    ) -> tuple[Relation, Scalar] | None:
        """An aggregate without keys, below projections and HAVING: we join its groups directly."""
        value: Scalar = column(waiting.values[0])
        having: list[Scalar] = []
        node = waiting.rows
        while isinstance(node, (Project, Filter)):
            if isinstance(node, Filter):
                having.append(node.predicate)
            else:
                items = dict(node.items)
                value, having = value.substitute(items), [p.substitute(items) for p in having]
            node = node.input
        if not isinstance(node, Aggregate) or node.keys:
            return None
        read = value.columns.union(*(p.columns for p in having))
        arguments = (call.argument.columns for call in node.calls if call.argument is not None)
        outside = frozenset(relation.columns) & frozenset().union(*arguments)
        if outside or not read <= {call.name for call in node.calls}:
            return None
        kept = conjunction(having)
        if kept is not None:
            value = expression("case when p then v end", p=kept, v=value)
        bound = correlation.bind(node.input)
        if bound.columns:
            value = value.substitute({call.name: or_over_no_rows(call) for call in node.calls})
        return self._beside(relation, bound, node.calls), value

    def _exists(
        self, relation: Relation, waiting: _Waiting, correlation: Correlation
    ) -> tuple[Relation, Scalar]:
        n = self._fresh("n")
        joined = self._beside(relation, correlation.bind(waiting.rows), (Call(n, COUNT_ROWS),))
        return joined, expression("coalesce(n, 0) > 0", n=n)

    def _in(
        self,
        relation: Relation,
        waiting: _Waiting,
        correlation: Correlation,
        operands: tuple[str, ...],
    ) -> tuple[Relation, Scalar]:
        bound = correlation.bind(waiting.rows)
        matches = self._matches(waiting, relation, operands, waiting.rows)
        if len(operands) > 1 or not all(map(equality, matches)):
            return self._in_domain(relation, waiting, correlation, bound, operands)
        x, y = operands[0], waiting.values[0]
        n, u = self._fresh("n"), self._fresh("nulls")
        counted = (
            Call(n, COUNT_ROWS),
            Call(u, COUNT, expression("case when y is null then 1 end", y=y)),
        )
        beside = self._beside(relation, bound, counted)
        hit, found = self._fresh("hit"), self._fresh(y)
        names = {of: self._fresh(of) for of in bound.columns}
        keys = (*((names[of], bound.columns[of]) for of in names), (found, y))
        values = Aggregate(renamed(bound.relation, keys), (*names.values(), found), ())
        passed = tuple((name, column(name)) for name in values.columns)
        pairs = tuple(Pair(of, names[of], of not in bound.strict) for of in names)
        marked = Project(values, (*passed, (hit, integer(1))))
        joined = LeftJoin(beside, marked, JoinCondition((*pairs, Pair(x, found))))
        text = _IN.format(unknown=str(waiting.unknown).lower())
        return joined, expression(text, hit=hit, x=x, n=expression("coalesce(n, 0)", n=n), u=u)

    def _in_domain(
        self,
        relation: Relation,
        waiting: _Waiting,
        correlation: Correlation,
        bound: Bound,
        operands: tuple[str, ...],
    ) -> tuple[Relation, Scalar]:
        """IN by comparing each distinct operand x with each value."""
        every = correlation.ranging(bound, operands)
        mine = tuple(every.columns[x] for x in operands)
        condition = conjunction(self._matches(waiting, every.relation, mine, every.relation))
        assert condition is not None, "IN compares something"
        h, u = self._fresh("hits"), self._fresh("unknown")
        calls = (
            Call(h, COUNT, expression("case when p then 1 end", p=condition)),
            Call(u, COUNT, expression("case when (p) is null then 1 end", p=condition)),
        )
        text = _IN_COUNTED.format(unknown=str(waiting.unknown).lower())
        return self._beside(relation, every, calls), expression(text, h=h, u=u)

    def _matches(
        self, waiting: _Waiting, relation: Relation, operands: Sequence[str], rows: Relation
    ) -> tuple[Scalar, ...]:
        """How IN compares its operands (columns of the relation) with its values (columns of `rows`)."""
        types = self._reader.names.types
        for x, y in zip(operands, waiting.values, strict=True):
            lengths = (char_length(relation, x, types), char_length(rows, y, types))
            refuse_different_lengths(lengths, "IN", waiting.node)
        return tuple(
            equal(x, y)
            if self._reader.names.same_when_equal((relation, column(x)), (rows, column(y)))
            else membership(x, y, place_of(waiting.node))
            for x, y in zip(operands, waiting.values, strict=True)
        )

    def _beside(self, relation: Relation, bound: Bound, calls: tuple[Call, ...]) -> Relation:
        """Each row, joined to the aggregate of its rows in the subquery; NULLs if there are none."""
        if not bound.columns:
            return InnerJoin((relation, Aggregate(bound.relation, (), calls)), ())
        names = {of: self._fresh(of) for of in bound.columns}
        grouped = Aggregate(bound.relation, tuple(bound.columns.values()), calls)
        pairs = tuple(Pair(of, names[of], null_safe=of not in bound.strict) for of in names)
        return LeftJoin(relation, _renamed_keys(grouped, bound, names), JoinCondition(pairs))

    def _as_columns(
        self, relation: Relation, scalars: tuple[Scalar, ...]
    ) -> tuple[Relation, tuple[str, ...]]:
        """The relation with each expression as a column, and the names of these."""
        for scalar in scalars:
            check_accepted(scalar.tree)  # an aggregate becomes a column only by grouping
        new = {
            self._fresh("operand"): scalar for scalar in scalars if scalar.as_column not in relation.columns
        }
        names = {scalar: name for name, scalar in new.items()}
        if new:
            passed = tuple((name, column(name)) for name in relation.columns)
            relation = Project(relation, (*passed, *new.items()))
        return relation, tuple(names.get(scalar) or scalar.as_column or "" for scalar in scalars)

    def _fresh(self, name: str) -> str:
        return self._reader.names.fresh(name)


def _filter(relation: Relation, predicate: Scalar | None) -> Relation:
    return relation if predicate is None else Filter(relation, predicate)


def _semi_join(left: Relation, right: Relation, predicates: tuple[Scalar, ...], anti: bool) -> SemiJoin:
    return SemiJoin(left, right, JoinCondition.of(predicates, left.columns, right.columns), anti)


def _renamed_keys(grouped: Aggregate, bound: Bound, names: Mapping[str, str]) -> Project:
    """Groups with keys of their own, because several of one relation may be joined to the same rows."""
    keys = ((names[of], mine) for of, mine in bound.columns.items())
    return renamed(grouped, (*keys, *((call.name, call.name) for call in grouped.calls)))


def _is_in_parentheses(query: exp.Expr) -> bool:
    """Whether a query has parentheses around it and nothing else, like LIMIT."""
    return isinstance(query, exp.Subquery) and not any(
        value for key, value in query.args.items() if key != "this"
    )
