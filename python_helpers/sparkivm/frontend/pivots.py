"""PIVOT and UNPIVOT: groups with a column for each value, rows for each column.

tested  tests/unit/test_pivots.py, test_unclear_texts.py
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from sqlglot import exp

from sparkivm.algebra import Filter, Project, Relation, Scalar, UnionAll
from sparkivm.algebra.aggregates.functions import FUNCTIONS
from sparkivm.algebra.function_call import AROUND_AGGREGATES, spark_name
from sparkivm.algebra.scalar import column, replace_nodes
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend.aggregate_calls import read_call
from sparkivm.frontend.aggregation import Aggregation
from sparkivm.frontend.char_padding import char_length, refused_of_char
from sparkivm.frontend.expressions import aggregate_calls, is_aggregate, resolve
from sparkivm.frontend.grouping_sets import Grouping
from sparkivm.frontend.pivot_values import is_value
from sparkivm.frontend.place import not_supported, not_understood
from sparkivm.frontend.scope import NameAllocator, Scope, Visible, refuse_two_names
from sparkivm.frontend.windows import Windows
from sparkivm.spark.data_types import STRING, SparkType

_TYPE_OVER_NO_ROWS = {"0": SparkType("bigint"), "array()": SparkType("array")}
_BOOLEAN = ("bool_and", "bool_or", "every", "some")
_NULL_OF_NULL = (
    exp.Abs, exp.Add, exp.Cast, exp.Ceil, exp.Div, exp.Floor, exp.Mul, exp.Neg, exp.Paren, exp.Round, exp.Sub
)  # fmt: skip
_DOUBLE = SparkType("double")
_ADDING = ("avg", "mean", "sum")
_OF_ARGUMENT = (*_ADDING, "max", "max_by", "min", "min_by", "mode")
# The types that Spark's PivotFirst supports.
_PIVOTED_AT_ONCE = frozenset("tinyint smallint int bigint float double boolean decimal".split())


def pivoted(
    relation: Relation, scope: Scope, pivot: exp.Pivot, names: NameAllocator
) -> tuple[Relation, list[Visible]]:
    """A relation of FROM after its PIVOT or UNPIVOT.

    PIVOT (f(x) FOR k IN (v, …))    γ over all columns that neither f nor FOR names; for each v the column
                                    f(x) FILTER (WHERE k <=> v); NULL if the group has no such row, unless
                                    Spark pivots the type of some f by another plan
    UNPIVOT (x FOR k IN (c, …))     ⊎ over c of π_{others, 'c' as k, c as x}, without rows whose x is NULL
    """
    if len(pivot.args["fields"]) != 1 or not isinstance(pivot.args["fields"][0], exp.In):
        raise not_supported("this form of PIVOT", pivot)
    return (_unpivot if pivot.unpivot else _pivot)(relation, scope, pivot, names)


@dataclass(frozen=True)
class _Entry:
    """One item of IN: its values or columns, and its alias."""

    trees: tuple[exp.Expr, ...]
    alias: str


def _entries(pivot: exp.Pivot) -> list[_Entry]:
    found = []
    for node in pivot.args["fields"][0].expressions:
        tree = node.this if isinstance(node, exp.PivotAlias) else node
        parts = tuple(tree.expressions) if isinstance(tree, exp.Tuple) else (tree,)
        alias = node.args["alias"] if isinstance(node, exp.PivotAlias) else None
        if alias is not None and not isinstance(alias, exp.Identifier):
            raise not_understood(f"{alias.sql('spark')} as an alias", pivot)
        found.append(_Entry(parts, alias.name if alias is not None else ""))
    return found


def _pivot(
    relation: Relation, scope: Scope, pivot: exp.Pivot, names: NameAllocator
) -> tuple[Relation, list[Visible]]:
    of = pivot.args["fields"][0].this
    keys = [resolve(key, scope) for key in (of.expressions if isinstance(of, exp.Tuple) else [of])]
    types = [names.type_of(relation, Scalar(key)) for key in keys]
    calls = [(node.alias, resolve(node.unalias(), scope)) for node in pivot.expressions]
    at_once = _is_at_once([call for _, call in calls], relation, names, pivot)
    read = frozenset[str]().union(*(Scalar(tree).columns for tree in (*keys, *(c for _, c in calls))))
    refuse_two_names(scope.star, read, "PIVOT", pivot)
    kept = [(shown, name) for shown, name in scope.star if name not in read]
    grouping = Grouping(tuple((column(name).tree, name) for name in sorted(name for _, name in kept)))
    aggregation = Aggregation(relation, grouping, names, frozenset(), Windows(names))
    items = {name: aggregation.rewrite(column(name).tree, pivot) for name in sorted(name for _, name in kept)}
    visible = list(kept)
    seen: set[Scalar] = set()
    for entry in _entries(pivot):
        if len(entry.trees) != len(keys):
            raise not_understood("values of PIVOT do not match its columns", pivot)
        triples = zip(keys, entry.trees, types, strict=True)
        found = exp.and_(*(is_value(key, value, type_) for key, value, type_ in triples))
        if at_once and Scalar(found) in seen:
            # Spark's fast plan fills only the column of the last one.
            raise not_understood("a value of PIVOT that is listed twice", pivot)
        seen.add(Scalar(found))
        for alias, call in calls:
            value = _where(call, found)
            if at_once:
                there = exp.GT(this=exp.CountIf(this=found.copy()), expression=exp.Literal.number(0))
                value = exp.Case(ifs=[exp.If(this=there, true=value)])
            shown = entry.alias or _name_of(entry, pivot)
            if len(calls) > 1:
                shown = f"{shown}_{alias}"
            name = names.fresh(shown)
            items[name] = aggregation.rewrite(value, pivot)
            visible.append((shown, name))
    return Project(aggregation.relation(), tuple(items.items())), visible


def _is_at_once(calls: list[exp.Expr], relation: Relation, names: NameAllocator, pivot: exp.Pivot) -> bool:
    """Whether a group without rows has NULL for every aggregate, as in Spark's fast plan.

    Spark takes it if all aggregates have plain types. Its other plan aggregates over empty input.
    """
    if len(calls) > 1 and not all(node.alias for node in pivot.expressions):
        raise not_supported("PIVOT with several aggregates, one without an alias", pivot)
    for call in chain.from_iterable(map(aggregate_calls, calls)):
        read_call(call, pivot)
    if all(map(_is_null_over_no_rows, calls)):
        return True
    types = [_type_of(call, relation, names) for call in calls]
    if any(type_ is not None and type_.word not in _PIVOTED_AT_ONCE for type_ in types):
        return False
    if None in types:
        text = calls[types.index(None)].sql(dialect="spark")
        raise not_supported(f"PIVOT with {text}, whose type is not known here", pivot)
    return True


def _is_null_over_no_rows(tree: exp.Expr) -> bool:
    """Whether an expression of aggregates is NULL over empty input."""
    if is_aggregate(tree):
        function = FUNCTIONS.get(spark_name(tree))
        return function is not None and function.over_no_rows == "null"
    return isinstance(tree, _NULL_OF_NULL) and any(map(_is_null_over_no_rows, tree.iter_expressions()))


def _type_of(call: exp.Expr, relation: Relation, names: NameAllocator) -> SparkType | None:
    """The type of an aggregate, None if it is not known."""
    if not is_aggregate(call):
        return None
    name = spark_name(call)
    if name in _OF_ARGUMENT and isinstance(call.this, exp.Expr):
        type_ = names.type_of(relation, Scalar(call.this))
        return _DOUBLE if type_ == STRING and name in _ADDING else type_
    if name in _BOOLEAN:
        return SparkType("boolean")
    function = FUNCTIONS.get(name)
    return _TYPE_OVER_NO_ROWS.get(function.over_no_rows) if function is not None else None


def _where(tree: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """An expression of aggregates, each restricted to the rows that meet the condition."""

    def replacement(node: exp.Expr) -> exp.Expr | None:
        if not is_aggregate(node):
            return None
        return exp.Filter(this=node.copy(), expression=exp.Where(this=condition.copy()))

    if any(isinstance(node, AROUND_AGGREGATES) for node in tree.walk()):
        raise not_supported("PIVOT with FILTER or a similar clause", tree)
    return replace_nodes(tree, replacement)


def _name_of(entry: _Entry, pivot: exp.Pivot) -> str:
    """The column name of a value without an alias: the value as text."""
    texts = [_text_of(value) for value in entry.trees]
    if None in texts:
        raise not_supported("a value of PIVOT without an alias", pivot)
    return str(texts[0]) if len(texts) == 1 else f"{{{', '.join(map(str, texts))}}}"


def _text_of(value: exp.Expr) -> str | None:
    """A string, an integer or NULL as Spark prints it; None for other values."""
    if isinstance(value, exp.Null):
        return "null"
    sign = "-" if isinstance(value, exp.Neg) else ""
    value = value.this if sign else value
    plain = isinstance(value, exp.Literal) and (value.is_string or value.this.isdigit())
    return f"{sign}{value.this}" if plain else None


def _unpivot(
    relation: Relation, scope: Scope, pivot: exp.Pivot, names: NameAllocator
) -> tuple[Relation, list[Visible]]:
    target = pivot.expressions[0]
    values = [part.name for part in (target.expressions if isinstance(target, exp.Tuple) else [target])]
    label = pivot.args["fields"][0].this.name
    entries = [(entry, [_column(tree, scope, pivot) for tree in entry.trees]) for entry in _entries(pivot)]
    if not entries:
        raise not_understood("UNPIVOT without columns", pivot)
    used = {name for _, columns in entries for _, name in columns}
    refuse_two_names(scope.star, used, "UNPIVOT", pivot)
    kept = [(shown, name) for shown, name in scope.star if name not in used]
    new = [(shown, names.fresh(shown)) for shown in (label, *values)]
    same = {name: names.fresh(shown) for shown, name in sorted(kept)}
    inputs: list[Relation] = []
    for entry, columns in entries:
        if len(columns) != len(values):
            raise not_understood("columns of UNPIVOT do not match its values", pivot)
        if any(char_length(relation, name, names.types) for _, name in columns):
            raise refused_of_char("UNPIVOT of CHAR", pivot)
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
    """A column of UNPIVOT; the result shows its name as the query writes it."""
    name = Scalar(resolve(tree, scope)).as_column
    if name is None or all(name != mine for _, mine in scope.star):
        raise not_supported("UNPIVOT of a non-column", pivot)
    return tree.name, name
