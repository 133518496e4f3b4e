"""Scalar expressions: names to columns, and what they may not contain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlglot import exp

from sparkivm.algebra.function_call import AROUND_AGGREGATES
from sparkivm.algebra.moment import MOMENTS, moment
from sparkivm.algebra.scalar import as_operand, column, replace_nodes
from sparkivm.algebra.spark_functions import AGGREGATE_FUNCTIONS
from sparkivm.frontend.accepted_expressions import WITHOUT_PARENTHESES, function_name
from sparkivm.frontend.field_names import with_field_names
from sparkivm.frontend.lambdas import with_own_parameters
from sparkivm.frontend.place import not_deterministic, not_incremental, not_supported, not_understood
from sparkivm.frontend.scope import Scope, unresolved, with_fields
from sparkivm.frontend.stars import with_columns
from sparkivm.reasons import Reason

_GROUPING_ID = exp.GroupingId()

# Returns the column that replaces a subquery.
SubqueryColumn = Callable[[exp.Expr, Scope, Mapping[str, exp.Expr]], exp.Expr]


def resolve(
    tree: exp.Expr,
    scope: Scope,
    aliases: Mapping[str, exp.Expr] | None = None,
    subquery: SubqueryColumn | None = None,
) -> exp.Expr:
    """A copy of `tree` whose columns are columns of the relation.

    aliases   earlier items of the SELECT list by lower-case alias, resolved; columns of FROM come first
    subquery  replaces a subquery; without it subqueries are refused
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
        asserted = _within_assertion(node)
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
                what = f"{node.name} is not a column here, so Spark takes it for a function of the session"
                raise not_deterministic(what, node)
            alias = (aliases or {}).get(node.parts[0].name.lower())
            if alias is not None:
                whole = node.parent is None
                return with_fields(
                    alias if whole else as_operand(alias), [part.name for part in node.parts[1:]]
                )
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
    """In a subquery of HAVING: the column for an aggregate over the rows of HAVING's own query.

    None for any other expression.
    """
    outer = scope.outer
    if outer is None or outer.aggregate is None or not is_called(node) or is_windowed(node):
        return None
    columns = list(node.find_all(exp.Column))
    if not columns or any(scope.find(one) or not outer.find(one) for one in columns):
        return None
    if not scope.filters:
        what = "an aggregate of the outer query in a subquery of HAVING, outside the subquery's WHERE and ON"
        raise not_supported(what, node)
    return outer.aggregate(resolve(node, outer))


def _within_assertion(node: exp.Expr) -> exp.Expr | None:
    """The x of COALESCE(x, NVL2(x, ASSERT_TRUE(x IS NOT NULL), NULL)) = x; None for other expressions.

    dbt-spark's date macros put this assertion around each call. It cannot fail: if x is NULL, NVL2 takes its
    third argument.
    """
    if not isinstance(node, exp.Coalesce):
        return None
    x = node.this
    holds = exp.Not(this=exp.Is(this=x.copy(), expression=exp.Null()))
    asserted = exp.Anonymous(this="assert_true", expressions=[holds])
    nothing = exp.Anonymous(this="nvl2", expressions=[x.copy(), asserted, exp.Null()])
    return x if node == exp.Coalesce(this=x.copy(), expressions=[nothing]) else None


def is_hive_grouping_id(node: exp.Column) -> bool:
    """Whether a name is Hive's for GROUPING_ID(), unless it is a column."""
    return len(node.parts) == 1 and node.name.lower() == "grouping__id"


def _refuse_column_named_alike(node: exp.Expr, scope: Scope) -> None:
    """Refuse `current_date` and its like where a column has the same name."""
    name = function_name(node)
    if scope.find(exp.column(name)) or scope.find_outside(exp.column(name)):
        raise not_understood(f"{name} is a function and a column", node)


def is_subquery(node: exp.Expr) -> bool:
    """Whether a node is an expression that contains a query: scalar, EXISTS or IN."""
    if isinstance(node, exp.Exists):
        return isinstance(node.this, exp.Query)  # not EXISTS(array, x -> …)
    return isinstance(node, (exp.Subquery, exp.Query)) or (
        isinstance(node, exp.In) and bool(node.args.get("query"))
    )


def outside_of_subqueries(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression, without those inside its subqueries."""
    return tree.walk(prune=is_subquery)


def _refuse_constructs(tree: exp.Expr, subqueries: bool) -> None:
    """Refuse constructs that have no rules yet."""
    for node in outside_of_subqueries(tree):
        if is_subquery(node) and not subqueries:
            raise not_supported("a subquery in this expression", node)
        if isinstance(node, (exp.Placeholder, exp.Parameter)):
            raise not_understood("a parameter of the statement", node)
        if isinstance(node, exp.Collate) or (isinstance(node, exp.DataType) and node.args.get("collate")):
            what = "a collation makes different texts equal; compare lower(…) or rtrim(…) of them"
            raise not_incremental(Reason.TYPE_NOT_SUPPORTED, what, tree)
        if node is not tree and isinstance(node, (exp.Explode, exp.Posexplode, exp.Inline, exp.UDTF)):
            raise not_supported("a function that makes rows (explode)", node)


def direction(node: exp.Expr) -> tuple[bool, bool]:
    """(descending, NULLs first) of a key of ORDER BY, with Spark's defaults."""
    descending = bool(node.args.get("desc"))
    nulls_first = node.args.get("nulls_first")
    return descending, (not descending) if nulls_first is None else bool(nulls_first)


def has_aggregate(tree: exp.Expr) -> bool:
    return bool(aggregate_calls(tree))


def aggregate_calls(tree: exp.Expr) -> list[exp.Expr]:
    """The topmost calls of aggregates in a resolved expression, with their FILTER and the like."""
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
    """Whether a call is a window function and so groups no rows."""
    parent = node.parent
    while isinstance(parent, AROUND_AGGREGATES):
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is node


def is_called(node: exp.Expr) -> bool:
    """Whether a node is an aggregate with its FILTER or WITHIN GROUP."""
    return isinstance(node, AROUND_AGGREGATES) or is_aggregate(node)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is the call of an aggregate itself, without FILTER or WITHIN GROUP."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in AGGREGATE_FUNCTIONS
    return isinstance(node, exp.AggFunc)
