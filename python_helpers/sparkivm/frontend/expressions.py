"""Scalar expressions: names to columns, and what may not stand in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlglot import exp

from sparkivm.algebra.function_call import AROUND_AGGREGATES
from sparkivm.algebra.moment import MOMENTS, moment
from sparkivm.algebra.scalar import column, replace_nodes
from sparkivm.algebra.spark_functions import AGGREGATE_FUNCTIONS
from sparkivm.frontend.accepted_expressions import WITHOUT_PARENTHESES, function_name
from sparkivm.frontend.field_names import with_field_names
from sparkivm.frontend.lambdas import with_own_parameters
from sparkivm.frontend.place import not_incremental
from sparkivm.frontend.scope import Scope, unresolved, with_fields
from sparkivm.frontend.stars import with_columns
from sparkivm.frontend.vacuous_assertions import within_assertion
from sparkivm.reasons import Reason

_GROUPING_ID = exp.GroupingId()

# The column that a subquery becomes.
SubqueryColumn = Callable[[exp.Expr, Scope, Mapping[str, exp.Expr]], exp.Expr]


def resolve(
    tree: exp.Expr,
    scope: Scope,
    aliases: Mapping[str, exp.Expr] | None = None,
    subquery: SubqueryColumn | None = None,
) -> exp.Expr:
    """A copy of `tree` whose columns are columns of the relation.

    aliases   earlier items of the SELECT list by lower-case alias, resolved; columns of FROM come first
    subquery  what to do with subqueries, which are refused without
    """
    _refuse_constructs(tree, subquery is not None)

    def replacement(node: exp.Expr) -> exp.Expr | None:
        name = MOMENTS.get(function_name(node)) if isinstance(node, exp.Func) else None
        if name is not None and not node.expressions:
            _refuse_column_named_alike(node, scope)
            return moment(name).tree
        if subquery is not None and is_subquery(node):
            return subquery(node, scope, aliases or {})
        aggregate = _of_the_query_around(node, scope)
        if aggregate is not None:
            return aggregate
        with_stars = with_columns(node, scope, lambda part: replace_nodes(part, replacement))
        if with_stars is not None:
            return with_stars
        asserted = within_assertion(node)
        if asserted is not None:
            return replace_nodes(asserted, replacement)
        named = with_field_names(node, lambda part: replace_nodes(part, replacement), name_of)
        if named is not None:
            return named
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return None
        found = scope.find(node)
        if found is None:
            if (
                is_hive_grouping_id(node)
                and (aliases or {}).get(node.name.lower(), _GROUPING_ID) == _GROUPING_ID
            ):
                return _GROUPING_ID.copy()
            if len(node.parts) == 1 and node.name.lower() in WITHOUT_PARENTHESES:
                what = f"{node.name} is no column here, and to Spark a function of the session"
                raise not_incremental(Reason.NON_DETERMINISTIC_EXPRESSION, what, node)
            alias = (aliases or {}).get(node.parts[0].name.lower())
            if alias is not None:
                return with_fields(alias, [part.name for part in node.parts[1:]])
            found = scope.find_outside(node)
            if found is None:
                raise unresolved(node)
        name, fields = found
        return with_fields(column(name).tree, fields)

    def name_of(node: exp.Column) -> str | None:
        found = scope.find(node)
        fields = found[1] if found is not None else node.parts[1:]
        return None if fields else node.name

    return replace_nodes(with_own_parameters(tree), replacement)


def _of_the_query_around(node: exp.Expr, scope: Scope) -> exp.Expr | None:
    """The column that stands for an aggregate of the rows of HAVING's query, in a subquery there.

    None of any other expression.
    """
    outer = scope.outer
    if outer is None or outer.aggregate is None or not is_called(node) or is_windowed(node):
        return None
    columns = list(node.find_all(exp.Column))
    if not columns or any(scope.find(one) or not outer.find(one) for one in columns):
        return None
    if not scope.filters:
        what = "an aggregate of the query around a subquery of HAVING, outside of the subquery's WHERE and ON"
        raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, what, node)
    return outer.aggregate(resolve(node, outer))


def is_hive_grouping_id(node: exp.Column) -> bool:
    """Whether a name is Hive's for GROUPING_ID(), if it is no column."""
    return len(node.parts) == 1 and node.name.lower() == "grouping__id"


def _refuse_column_named_alike(node: exp.Expr, scope: Scope) -> None:
    """`current_date` without parentheses is a column where there is one."""
    name = function_name(node)
    if scope.find(exp.column(name)) or scope.find_outside(exp.column(name)):
        raise not_incremental(Reason.SQL_NOT_UNDERSTOOD, f"{name} is a function and a column", node)


def is_subquery(node: exp.Expr) -> bool:
    """Whether a node is an expression made of a query: scalar, EXISTS or IN."""
    if isinstance(node, exp.Exists):
        return isinstance(node.this, exp.Query)  # not EXISTS(array, x -> …)
    return isinstance(node, (exp.Subquery, exp.Query)) or (
        isinstance(node, exp.In) and bool(node.args.get("query"))
    )


def outside_of_subqueries(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression, those within its subqueries left out."""
    return tree.walk(prune=is_subquery)


def _refuse_constructs(tree: exp.Expr, subqueries: bool) -> None:
    """What needs rules of its own that do not exist yet."""
    for node in outside_of_subqueries(tree):
        if is_subquery(node) and not subqueries:
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "a subquery in this expression", node)
        if isinstance(node, (exp.Placeholder, exp.Parameter)):
            raise not_incremental(Reason.SQL_NOT_UNDERSTOOD, "a parameter of the statement", node)
        if node is not tree and isinstance(node, (exp.Explode, exp.Posexplode, exp.Inline, exp.UDTF)):
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "a function that makes rows (explode)", node)


def direction(node: exp.Expr) -> tuple[bool, bool]:
    """Whether a key of ORDER BY is descending, and its NULLs come first, as Spark has it."""
    descending = bool(node.args.get("desc"))
    nulls_first = node.args.get("nulls_first")
    return descending, (not descending) if nulls_first is None else bool(nulls_first)


def has_aggregate(tree: exp.Expr) -> bool:
    return bool(aggregate_calls(tree))


def aggregate_calls(tree: exp.Expr) -> list[exp.Expr]:
    """The topmost calls of aggregates in a resolved expression, with what stands around them."""
    found: list[exp.Expr] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if is_called(node) and not is_windowed(node):
            found.append(node)
        else:
            waiting.extend(node.iter_expressions())
    return found


def is_windowed(node: exp.Expr) -> bool:
    """Whether a call is a window function, which groups nothing."""
    parent = node.parent
    while isinstance(parent, AROUND_AGGREGATES):
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is node


def is_called(node: exp.Expr) -> bool:
    """Whether a node is an aggregate with its FILTER or WITHIN GROUP."""
    return isinstance(node, AROUND_AGGREGATES) or is_aggregate(node)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is the call of an aggregate, its FILTER or WITHIN GROUP left out."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in AGGREGATE_FUNCTIONS
    return isinstance(node, exp.AggFunc)
