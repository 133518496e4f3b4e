"""UNION, INTERSECT and EXCEPT, each with and without ALL."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from sparkivm.algebra import Aggregate, Call, Filter, Project, Relation, Repeat, UnionAll
from sparkivm.algebra.aggregates.sum import SUM
from sparkivm.algebra.project import only, renamed
from sparkivm.algebra.scalar import column, integer
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend.char_padding import char_length, refuse_different_lengths
from sparkivm.frontend.place import not_supported, not_understood
from sparkivm.frontend.scope import NameAllocator, Visible


class SetOperations:
    """Reads set operations over their branches."""

    def __init__(
        self, rows: Callable[[exp.Query], tuple[Relation, list[Visible]]], names: NameAllocator
    ) -> None:
        """rows: reads a branch, returns its rows and columns."""
        self._rows, self._names = rows, names

    def union(self, tree: exp.Union) -> tuple[Relation, list[Visible]]:
        """UNION: all rows of all branches; without ALL, distinct rows."""
        # A chain of branches nests to the left and may be long: we loop instead of recursing.
        branches: list[exp.Expr] = [tree.expression]
        left = tree.this
        while (
            isinstance(left, exp.Union)
            and not left.args.get("with_")
            and left.args.get("distinct") == tree.args.get("distinct")
        ):
            branches.append(left.expression)
            left = left.this
        branches.append(left)
        inputs, output = self._branches(reversed(branches), "UNION")
        union: Relation = UnionAll(tuple(inputs), in_pairs=True)
        if tree.args.get("distinct"):
            union = Aggregate(union, union.columns, ())
        return union, output

    def counted(self, tree: exp.Intersect | exp.Except) -> tuple[Relation, list[Visible]]:
        """INTERSECT and EXCEPT: rows grouped by all columns, counted per input.

        With counts a and b, a row is in A ∩ B if a > 0 and b > 0, in A − B if a > 0 and b = 0; with ALL,
        min(a, b) or a − b times.
        """
        branches, output = self._branches((tree.this, tree.expression), "a set operation")
        counts = (self._names.fresh("left_rows"), self._names.fresh("right_rows"))
        inputs: list[Relation] = []
        for index, branch in enumerate(branches):
            tags = ((name, integer(int(index == i))) for i, name in enumerate(counts))
            inputs.append(Project(branch.input, (*branch.items, *tags)))
        keys = tuple(name for _, name in output)
        calls = tuple(Call(self._names.fresh(name), SUM, column(name)) for name in counts)
        counted = Aggregate(UnionAll(tuple(inputs)), keys, calls)
        a, b = (call.name for call in calls)
        both = isinstance(tree, exp.Intersect)
        if tree.args.get("distinct"):
            kept = "a > 0 and b > 0" if both else "a > 0 and b = 0"
            return only(Filter(counted, expression(kept, a=a, b=b)), keys), output
        some = Filter(counted, expression("a > 0 and b > 0" if both else "a > b", a=a, b=b))
        times = expression("least(a, b)" if both else "a - b", a=a, b=b)
        return only(Repeat(some, times), keys), output

    def _branches(self, trees: Iterable[exp.Expr], what: str) -> tuple[list[Project], list[Visible]]:
        """The branches of a set operation, with the column names of the first one."""
        inputs: list[Project] = []
        output: list[Visible] = []
        for branch in trees:
            if not isinstance(branch, exp.Query):
                raise not_supported(f"this branch of {what}", branch)
            relation, visible = self._rows(branch)
            if not output:
                output = [(name, self._names.fresh(name)) for name, _ in visible]
            if len(visible) != len(output):
                raise not_understood(f"branches of {what} differ in their number of columns", branch)
            pairs = [(new, old) for (_, new), (_, old) in zip(output, visible, strict=True)]
            inputs.append(renamed(relation, pairs))
            for new, _ in pairs:
                first, mine = (char_length(one, new, self._names.types) for one in (inputs[0], inputs[-1]))
                refuse_different_lengths((first, mine), what, branch)
        return inputs, output
