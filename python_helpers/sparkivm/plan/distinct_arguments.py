"""COUNT, SUM and AVG of DISTINCT arguments at a query's top, as counts and sums that add up.

γ_g(R; f(y), h(DISTINCT x)) = γ_g(U; f(y), h(x))      f, h ignore NULLs; COUNT(*) counts marked rows
U = π_{g, y, NULL as x, 1 as marked}(R) ⊎ π_{g, NULL as y, x, NULL as marked}(V),   one V for each x
V = γ_{g,x}(σ_{x is not null}(R))

Otherwise each changed group is read again as a whole. V changes by the values that come and go, for which we
read only the rows with these values (algebra/totals.py), and the groups add up the difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from sparkivm.algebra import Aggregate, Call, Filter, Project, Relation, Scalar, UnionAll
from sparkivm.algebra.aggregates.aggregate_function import QueryAggregate
from sparkivm.algebra.aggregates.count import COUNT, COUNT_ROWS
from sparkivm.algebra.aggregates.functions import FUNCTIONS
from sparkivm.algebra.aggregates.recomputed import Evaluated, evaluated
from sparkivm.algebra.function_call import arguments_of, spark_name
from sparkivm.algebra.scalar import column, conjunction, integer, null
from sparkivm.algebra.sql_expression import expression
from sparkivm.plan.inner_totals import is_row_by_row
from sparkivm.plan.state import GroupState, group_state, guarded
from sparkivm.plan.types_of import TypesOf

Values = tuple[Scalar, ...]  # the arguments of one DISTINCT, over the columns of R


@dataclass(frozen=True)
class DistinctArguments:
    """An Aggregate with separated DISTINCT arguments.

    core       the Aggregate over U, with the same columns
    plain      columns of U, except those of V, as expressions over R; None for the mark
    values     the same for columns of V: the arguments of the DISTINCT that the column belongs to
    """

    written: Aggregate
    core: Aggregate
    plain: Mapping[str, Scalar | None]
    values: Mapping[str, Values]

    def groups(self, state: GroupState) -> Relation:
        """The state's rows, computed from R itself, which is read once."""
        calls: list[Call] = []
        rows = [Call(f"{state.columns[0].name}rows", COUNT_ROWS)]
        for number, arguments in enumerate(dict.fromkeys(self.values.values()), 1):
            rows.append(_distinct(Call(f"{rows[0].name}{number}", COUNT), arguments))
        for entry in state.columns[1:]:
            name = entry.argument.as_column if entry.argument is not None else None
            assert name is not None, "U has a column for each argument"
            if name in self.values:
                calls.append(_distinct(entry, self.values[name]))
            else:
                of = self.plain[name]
                calls.append(Call(entry.name, COUNT_ROWS) if of is None else replace(entry, argument=of))
        grouped = Aggregate(self.written.input, state.keys, (*rows, *calls))
        count = expression(
            " + ".join(f"n{i}" for i in range(len(rows))), **{f"n{i}": r.name for i, r in enumerate(rows)}
        )
        items = [(key, column(key)) for key in state.keys] + [(state.columns[0].name, count)]
        items += [(call.name, column(call.name)) for call in calls]
        return guarded(state, Project(grouped, tuple(items)))


def with_distinct_arguments_apart(core: Relation, types_of: TypesOf) -> Relation:
    """The core with separated DISTINCT arguments, if it is an Aggregate and its state then adds up."""
    found = taken_apart(core) if isinstance(core, Aggregate) else None
    if found is None or group_state(found.core, types_of).recomputed:
        return core
    return found.core


def taken_apart(written: Aggregate) -> DistinctArguments | None:
    """None if no call has DISTINCT arguments, or another call needs the whole group."""
    if written.keys and not is_row_by_row(written.input):
        return None
    used = {name.lower() for name in written.columns}
    plain: dict[str, Scalar | None] = {}
    parts: dict[Values, tuple[str, ...]] = {}
    calls: list[Call] = []

    def name_for(wanted: str) -> str:
        while wanted.lower() in used:
            wanted += "_"
        used.add(wanted.lower())
        return wanted

    known: dict[Scalar | None, str] = {}
    for call in written.calls:
        distinct = _read(call)
        if distinct is not None:
            function, values = distinct
            if values not in parts:
                parts[values] = tuple(name_for(f"distinct_{x.as_column or 'value'}") for x in values)
            calls.append(Call(call.name, function, column(parts[values][0])))
        elif not isinstance(call.function, Evaluated):
            if call.argument not in known:
                wanted = "marked" if call.argument is None else call.argument.as_column or "argument"
                known[call.argument] = name_for(wanted)
                plain[known[call.argument]] = call.argument
            function = COUNT if call.argument is None else call.called
            calls.append(replace(call, function=function, argument=column(known[call.argument])))
        else:
            return None
    if not parts:
        return None
    values_by_name = {name: values for values, names in parts.items() for name in names}
    columns = (*written.keys, *plain, *values_by_name)

    def branch(input: Relation, items: Mapping[str, Scalar]) -> Relation:
        return Project(input, tuple((name, items.get(name, null())) for name in columns))

    keys = {key: column(key) for key in written.keys}
    marked = {name: integer(1) if of is None else of for name, of in plain.items()}
    branches = [branch(written.input, keys | marked)]
    for values, names in parts.items():
        own = dict(zip(names, values, strict=True))
        there = conjunction(expression("x is not null", x=name) for name in names)
        assert there is not None, "DISTINCT has an argument"
        rows = Filter(Project(written.input, tuple((keys | own).items())), there)
        distinct_values = Aggregate(rows, (*written.keys, *names), ())
        branches.append(branch(distinct_values, keys | {name: column(name) for name in names}))
    core = Aggregate(UnionAll(tuple(branches)), written.keys, tuple(calls))
    return DistinctArguments(written, core, plain, values_by_name)


def _read(call: Call) -> tuple[QueryAggregate, Values] | None:
    """Function and arguments of a call with DISTINCT; rows that its FILTER leaves out become NULL."""
    if not isinstance(call.function, Evaluated) or call.argument is None:
        return None
    tree = call.argument.tree
    condition = tree.expression.this if isinstance(tree, exp.Filter) else None
    inner = tree.this if isinstance(tree, exp.Filter) else tree
    function = FUNCTIONS.get(spark_name(inner))
    if function is None or not function.may_add_up or function.name != spark_name(inner):
        return None  # COUNT_IF's argument differs from COUNT's
    (distinct,) = arguments_of(inner)
    assert isinstance(distinct, exp.Distinct), "only DISTINCT makes its calls `Evaluated`"
    values = [Scalar(value) for value in distinct.expressions]
    if condition is not None:
        values = [expression("case when c then x end", c=Scalar(condition), x=value) for value in values]
    return function, tuple(values)


def _distinct(call: Call, values: Values) -> Call:
    """The aggregate over the distinct values of some expressions in R."""
    tree = expression(call.function.text("distinct x")).tree.copy()
    arguments = tree.find(exp.Distinct)
    assert arguments is not None, "DISTINCT was written"
    arguments.set("expressions", [value.tree.copy() for value in values])
    return Call(call.name, evaluated(), Scalar(tree))
