"""GROUP BY: the keys, the aggregates that a SELECT uses, and what is computed from both."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sparkivm.algebra import Aggregate, Call, Project, Relation, Scalar
from sparkivm.algebra.scalar import column, replace_nodes
from sparkivm.frontend.accepted_expressions import check_accepted
from sparkivm.frontend.aggregate_calls import ReadCall, read_call
from sparkivm.frontend.expressions import is_called, is_windowed
from sparkivm.frontend.place import not_incremental
from sparkivm.frontend.scope import NameAllocator
from sparkivm.frontend.windows import Windows
from sparkivm.reasons import Reason


class Aggregation:
    """One SELECT's grouping: expressions become columns of the Aggregate, which is built at the end."""

    def __init__(
        self,
        input: Relation,
        keys: Sequence[tuple[exp.Expr, str]],
        names: NameAllocator,
        constant: frozenset[str],
        windows: Windows,
    ) -> None:
        """A grouping by `keys`, pairs of (resolved expression, wanted name).

        constant  columns that are none of the input's, and the same for all of its rows
        """
        self._input, self._names, self._constant, self._windows = input, names, constant, windows
        self._keys: list[tuple[str, Scalar]] = []
        self._calls: dict[ReadCall, Call] = {}
        for tree, wanted in keys:
            check_accepted(tree)
            scalar = Scalar(tree)
            if all(known != scalar for _, known in self._keys):
                self._keys.append((scalar.as_column or names.fresh(wanted), scalar))
        self._key_of = {scalar: name for name, scalar in self._keys}

    def rewrite(self, tree: exp.Expr, whole: exp.Expr) -> Scalar:
        """A resolved expression of SELECT, HAVING or ORDER BY, over what Aggregate and windows have."""

        def replacement(node: exp.Expr) -> exp.Expr | None:
            key = self._key_of.get(Scalar(node)) if not isinstance(node, exp.Identifier) else None
            if key is not None:
                return column(key).tree
            if is_called(node) and not is_windowed(node):
                return column(self._name(read_call(node, whole))).tree
            return None

        over_groups = replace_nodes(tree, replacement)
        result = self._windows.lifted(over_groups)
        check_accepted(result)
        own = {name for name, _ in self._keys} | {call.name for call in self._calls.values()}
        stray = Scalar(over_groups).columns - own - self._constant
        if stray:
            raise not_incremental(
                Reason.SQL_NOT_UNDERSTOOD,
                f"{', '.join(sorted(stray))} is neither grouped nor aggregated",
                whole,
            )
        return Scalar(result)

    def _name(self, call: ReadCall) -> str:
        """The column of a call, the same for equal calls."""
        known = self._calls.get(call)
        if known is None:
            function, argument = call
            plain = argument.as_column if argument is not None else None
            wanted = "aggregate" if function == "other" else f"{function}_{plain}" if plain else function
            known = self._calls[call] = Call(self._names.fresh(wanted), function, argument)
        return known.name

    def relation(self) -> Aggregate:
        """The Aggregate, with its keys and arguments computed below it where they are expressions."""
        calls = tuple(self._calls.values())
        keys = tuple(name for name, _ in self._keys)
        if all(scalar.as_column for _, scalar in self._keys):
            return Aggregate(self._input, keys, calls)
        passed: dict[str, Scalar] = dict(self._keys)
        for call in calls:
            for name in sorted(call.argument.columns) if call.argument is not None else ():
                passed.setdefault(name, column(name))
        return Aggregate(Project(self._input, tuple(passed.items())), keys, calls)
