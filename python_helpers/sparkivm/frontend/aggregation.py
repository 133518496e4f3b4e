"""GROUP BY: the keys, the aggregates that a SELECT uses, and what is computed from both.

tested  tests/unit/test_unclear_texts.py, test_grouping_id.py
"""

from __future__ import annotations

from sqlglot import exp

from sparkivm.algebra import Aggregate, Call, Project, Relation, Scalar
from sparkivm.algebra.aggregates.recomputed import Evaluated
from sparkivm.algebra.function_call import arguments_of
from sparkivm.algebra.scalar import column, integer, is_literal, replace_nodes
from sparkivm.algebra.sql_expression import expression
from sparkivm.errors import NotIncremental
from sparkivm.frontend.accepted_expressions import check_accepted
from sparkivm.frontend.aggregate_calls import ReadCall, read_call
from sparkivm.frontend.char_padding import passing_on
from sparkivm.frontend.expressions import is_called, is_windowed
from sparkivm.frontend.grouping_sets import Grouping, in_sets, ingredients, numbered
from sparkivm.frontend.place import not_supported, not_understood
from sparkivm.frontend.scope import NameAllocator
from sparkivm.frontend.windows import Windows


class Aggregation:
    """One SELECT's grouping: expressions become columns of the Aggregate, which is built at the end."""

    def __init__(
        self,
        input: Relation,
        grouping: Grouping,
        names: NameAllocator,
        constant: frozenset[str],
        windows: Windows,
    ) -> None:
        """A grouping of an input.

        constant  columns from outside the input, with the same value for all of its rows
        """
        self._input, self._names, self._constant, self._windows = input, names, constant, windows
        self._keys: list[tuple[str, Scalar]] = []
        self._calls: dict[ReadCall, Call] = {}
        self._sets, self._number = grouping.sets, names.fresh("grouping_set") if grouping.sets else None
        for tree, wanted in grouping.keys:
            check_accepted(tree)
            scalar = Scalar(tree)
            if all(known != scalar for _, known in self._keys):
                # A key that some sets leave out is not the column that aggregates read.
                name = names.fresh(wanted) if grouping.sets else names.name_for(scalar, input, wanted)
                self._keys.append((name, scalar))
        self._key_of = {scalar: name for name, scalar in self._keys}
        # Within an expression, the same literal is not the key: Spark replaces it only with grouping sets.
        self._literals = frozenset(name for name, scalar in self._keys if is_literal(scalar.tree))
        # Grouping sets: a set may leave out an expression that only Spark recognizes as a key.
        expressions = [scalar for _, scalar in self._keys if grouping.sets and scalar.as_column is None]
        self._unclear_keys = tuple(expressions)
        known = {ingredients(scalar.tree): scalar for scalar in expressions}
        for scalar in expressions:
            if (other := known[ingredients(scalar.tree)]) != scalar:
                raise _may_be_the_key(scalar.tree, other, scalar.tree)

    def rewrite(self, tree: exp.Expr, whole: exp.Expr) -> Scalar:
        """A resolved expression of SELECT, HAVING or ORDER BY, over the columns of Aggregate and windows."""

        def replacement(node: exp.Expr) -> exp.Expr | None:
            key = self._key_of.get(Scalar(node.unnest())) if not isinstance(node, exp.Identifier) else None
            if key is not None and (node.parent is None or key not in self._literals):
                return column(key).tree
            if key is not None and self._sets:
                what = f"the key {node.sql(dialect='spark')} of grouping sets within an expression"
                raise not_supported(what, whole)
            if isinstance(node, (exp.Grouping, exp.GroupingId)):
                return self._left_out(node, whole).tree
            if is_called(node) and not is_windowed(node):
                return column(self._name(read_call(node, whole))).tree
            self._must_be_no_key(node, whole)
            return None

        over_groups = replace_nodes(tree, replacement)
        result = self._windows.lifted(over_groups)
        check_accepted(result)
        own = (
            {name for name, _ in self._keys}
            | {call.name for call in self._calls.values()}
            | {self._number or ""}
        )
        stray = Scalar(over_groups).columns - own - self._constant
        if stray:
            for _, key in self._keys:
                if key.as_column is None and stray <= key.columns:
                    raise _may_be_the_key(whole, key, whole)
            raise not_understood(f"{', '.join(sorted(stray))} is neither grouped nor aggregated", whole)
        return Scalar(result)

    def _must_be_no_key(self, node: exp.Expr, whole: exp.Expr) -> None:
        """Raises: NotIncremental if Spark may take an expression for a key that is written differently.

        Spark knows many spellings of one expression, like `1 + k` of `k + 1` and `nvl(k, 0)` of
        `coalesce(k, 0)`. All of them read the same columns.
        """
        if not self._unclear_keys or isinstance(node, exp.Column):
            return
        read = self._read_beside_keys(node)
        for key in self._unclear_keys:
            if read and read == key.columns:
                raise _may_be_the_key(node, key, whole)

    def _read_beside_keys(self, node: exp.Expr) -> frozenset[str]:
        """The columns that an expression reads, except in keys that are expressions, and in aggregates."""
        if isinstance(node, exp.Column):
            return Scalar(node).columns
        if Scalar(node.unnest()) in self._unclear_keys or (is_called(node) and not is_windowed(node)):
            return frozenset()
        return frozenset().union(*map(self._read_beside_keys, node.iter_expressions()))

    def _name(self, call: ReadCall) -> str:
        """The column of a call, the same for equal calls."""
        known = self._calls.get(call)
        if known is None:
            function, argument = call
            plain = argument.as_column if argument is not None else None
            wanted = f"{function.name}_{plain}" if plain else function.name
            wanted = "aggregate" if isinstance(function, Evaluated) else wanted
            known = self._calls[call] = Call(self._names.fresh(wanted), function, argument)
        return known.name

    def _left_out(self, node: exp.Expr, whole: exp.Expr) -> Scalar:
        """GROUPING and GROUPING_ID: which keys the set of a group leaves out, as bits."""
        if self._number is None:
            raise not_understood("GROUPING without grouping sets", whole)
        named = arguments_of(node)
        scalars = [Scalar(one.unnest()) for one in named] or [scalar for _, scalar in self._keys]
        if not self._key_of.keys() >= set(scalars):
            raise not_understood("GROUPING of a non-key expression", whole)
        bits = [
            in_sets(self._number, self._sets_with(scalar), integer(0), str(1 << position))
            for position, scalar in enumerate(reversed(scalars))
        ]
        total = expression(
            " + ".join(f"b{i}" for i in range(len(bits))) or "0", **{f"b{i}": b for i, b in enumerate(bits)}
        )
        type_ = "tinyint" if isinstance(node, exp.Grouping) else "bigint"
        return expression(f"cast(x as {type_})", x=total)

    def _sets_with(self, key: Scalar) -> list[int]:
        return [number for number, keys in enumerate(self._sets) if key in keys]

    def relation(self) -> Aggregate:
        """The Aggregate, whose keys and arguments, where they are expressions, are computed below it."""
        calls = tuple(self._calls.values())
        keys = tuple(name for name, _ in self._keys)
        if self._number is not None:
            return self._over_sets(self._number, keys, calls)
        if all(scalar.as_column == name for name, scalar in self._keys):
            return Aggregate(self._input, keys, calls)
        return Aggregate(self._computed(self._input, dict(self._keys), calls), keys, calls)

    def _over_sets(self, number: str, keys: tuple[str, ...], calls: tuple[Call, ...]) -> Aggregate:
        rows = numbered(self._input, number, len(self._sets))
        items = {
            name: passing_on(in_sets(number, self._sets_with(scalar), scalar, "null"), scalar)
            for name, scalar in self._keys
        }
        below = self._computed(rows, {**items, number: column(number)}, calls)
        return Aggregate(below, (*keys, number), calls)

    @staticmethod
    def _computed(input: Relation, passed: dict[str, Scalar], calls: tuple[Call, ...]) -> Project:
        """The columns in `passed`, and those that calls read."""
        for call in calls:
            for name in sorted(call.argument.columns) if call.argument is not None else ():
                passed.setdefault(name, column(name))
        return Project(input, tuple(passed.items()))


def _may_be_the_key(node: exp.Expr, key: Scalar, whole: exp.Expr) -> NotIncremental:
    text = node.sql(dialect="spark")
    return not_understood(
        f"{text} may be the same as the key {key.sql('spark')}: write it as in GROUP BY", whole
    )
