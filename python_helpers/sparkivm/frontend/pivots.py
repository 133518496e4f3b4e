"""PIVOT and UNPIVOT: groups with a column for each value, rows for each column."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sparkivm.algebra import Filter, Project, Relation, Scalar, UnionAll
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend.aggregation import Aggregation
from sparkivm.frontend.expressions import resolve
from sparkivm.frontend.grouping_sets import Grouping
from sparkivm.frontend.place import not_incremental
from sparkivm.frontend.scope import NameAllocator, Scope, Visible
from sparkivm.frontend.windows import Windows
from sparkivm.reasons import Reason

# NULL for a group without rows of the value: for others it depends on the type.
_NULL_OF_NOTHING = (exp.Sum, exp.Avg, exp.Min, exp.Max)


def pivoted(
    relation: Relation, scope: Scope, pivot: exp.Pivot, names: NameAllocator
) -> tuple[Relation, list[Visible]]:
    """What FROM has for a relation with PIVOT or UNPIVOT behind it.

    PIVOT (f(x) FOR k IN (v, …))    γ over all columns that neither f nor FOR names; for each v the column
                                    f(x) FILTER (WHERE k <=> v), NULL if the group has no such row
    UNPIVOT (x FOR k IN (c, …))     ⊎ over c of π_{others, 'c' as k, c as x}, without rows whose x is NULL
    """
    if len(pivot.args["fields"]) != 1 or not isinstance(pivot.args["fields"][0], exp.In):
        raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "this form of PIVOT", pivot)
    return (_unpivot if pivot.unpivot else _pivot)(relation, scope, pivot, names)


@dataclass(frozen=True)
class _Entry:
    """One item of IN: what it stands for, and the name that it gets."""

    trees: tuple[exp.Expr, ...]
    alias: str


def _entries(pivot: exp.Pivot) -> list[_Entry]:
    found = []
    for node in pivot.args["fields"][0].expressions:
        tree = node.this if isinstance(node, exp.PivotAlias) else node
        parts = tuple(tree.expressions) if isinstance(tree, exp.Tuple) else (tree,)
        alias = node.args["alias"] if isinstance(node, exp.PivotAlias) else None
        if alias is not None and not isinstance(alias, exp.Identifier):
            raise not_incremental(Reason.SQL_NOT_UNDERSTOOD, f"{alias.sql('spark')} as an alias", pivot)
        found.append(_Entry(parts, alias.name if alias is not None else ""))
    return found


def _pivot(
    relation: Relation, scope: Scope, pivot: exp.Pivot, names: NameAllocator
) -> tuple[Relation, list[Visible]]:
    of = pivot.args["fields"][0].this
    keys = [resolve(key, scope) for key in (of.expressions if isinstance(of, exp.Tuple) else [of])]
    calls = [(node.alias, resolve(node.unalias(), scope)) for node in pivot.expressions]
    _refuse_calls([call for _, call in calls], pivot)
    read = frozenset[str]().union(*(Scalar(tree).columns for tree in (*keys, *(c for _, c in calls))))
    kept = [(shown, name) for shown, name in scope.star if name not in read]
    grouping = Grouping(tuple((column(name).tree, name) for _, name in kept))
    aggregation = Aggregation(relation, grouping, names, frozenset(), Windows(names))
    items = {name: aggregation.rewrite(column(name).tree, pivot) for _, name in kept}
    visible = list(kept)
    for entry in _entries(pivot):
        if len(entry.trees) != len(keys):
            raise not_incremental(
                Reason.SQL_NOT_UNDERSTOOD, "values of PIVOT do not match its columns", pivot
            )
        pairs = zip(keys, entry.trees, strict=True)
        found = exp.and_(*(exp.NullSafeEQ(this=key.copy(), expression=value.copy()) for key, value in pairs))
        for alias, call in calls:
            filtered = exp.Filter(this=call.copy(), expression=exp.Where(this=found.copy()))
            there = exp.GT(this=exp.CountIf(this=found.copy()), expression=exp.Literal.number(0))
            value = exp.Case(ifs=[exp.If(this=there, true=filtered)])
            shown = entry.alias or _name_of(entry, pivot)
            if len(calls) > 1:
                shown = f"{shown}_{alias}"
            name = names.fresh(shown)
            items[name] = aggregation.rewrite(value, pivot)
            visible.append((shown, name))
    return Project(aggregation.relation(), tuple(items.items())), visible


def _refuse_calls(calls: list[exp.Expr], pivot: exp.Pivot) -> None:
    """Spark has two ways to pivot, by type, and they differ where a group has no row of a value."""
    if len(calls) > 1 and not all(node.alias for node in pivot.expressions):
        raise not_incremental(
            Reason.OPERATOR_NOT_SUPPORTED, "PIVOT with several aggregates, one without an alias", pivot
        )
    counts = [isinstance(call, exp.Count) for call in calls]
    if all(counts) or all(isinstance(call, _NULL_OF_NOTHING) for call in calls):
        return
    raise not_incremental(
        Reason.OPERATOR_NOT_SUPPORTED,
        "PIVOT with other aggregates than SUM, AVG, MIN, MAX, or than COUNT alone",
        pivot,
    )


def _name_of(entry: _Entry, pivot: exp.Pivot) -> str:
    """The column of a value without an alias."""
    value = entry.trees[0]
    if len(entry.trees) == 1 and isinstance(value, exp.Literal):
        whole = not value.is_string and value.this.isdigit()
        if value.is_string or whole:
            return str(value.this)
    raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "a value of PIVOT without an alias", pivot)


def _unpivot(
    relation: Relation, scope: Scope, pivot: exp.Pivot, names: NameAllocator
) -> tuple[Relation, list[Visible]]:
    target = pivot.expressions[0]
    values = [part.name for part in (target.expressions if isinstance(target, exp.Tuple) else [target])]
    label = pivot.args["fields"][0].this.name
    entries = [(entry, [_column(tree, scope, pivot) for tree in entry.trees]) for entry in _entries(pivot)]
    used = {name for _, columns in entries for _, name in columns}
    kept = [(shown, name) for shown, name in scope.star if name not in used]
    new = [(shown, names.fresh(shown)) for shown in (label, *values)]
    same = {name: names.fresh(shown) for shown, name in kept}
    inputs: list[Relation] = []
    for entry, columns in entries:
        if len(columns) != len(values):
            raise not_incremental(
                Reason.SQL_NOT_UNDERSTOOD, "columns of UNPIVOT do not match its values", pivot
            )
        text = entry.alias or "_".join(shown for shown, _ in columns)
        items = {target: column(name) for name, target in same.items()}
        items[new[0][1]] = Scalar(exp.Literal.string(text))
        items |= {name: column(source) for (_, name), (_, source) in zip(new[1:], columns, strict=True)}
        inputs.append(Project(relation, tuple(items.items())))
    rows: Relation = UnionAll(tuple(inputs)) if len(inputs) > 1 else inputs[0]
    if not pivot.args.get("include_nulls"):
        some = " or ".join(f"x{i} is not null" for i in range(len(values)))
        rows = Filter(rows, expression(some, **{f"x{i}": name for i, (_, name) in enumerate(new[1:])}))
    return rows, [*((shown, same[name]) for shown, name in kept), *new]


def _column(tree: exp.Expr, scope: Scope, pivot: exp.Pivot) -> Visible:
    name = Scalar(resolve(tree, scope)).as_column
    shown = next((shown for shown, mine in scope.star if mine == name), None)
    if name is None or shown is None:
        raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "UNPIVOT of what is no column", pivot)
    return shown, name
