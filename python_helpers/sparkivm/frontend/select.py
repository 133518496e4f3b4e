"""One SELECT: text that Spark accepts → algebra.

tested  tests/unit/test_unclear_texts.py, test_stars.py, test_order_and_limit.py; tests/golden
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkivm.algebra import Aggregate, Project, Relation, Scalar
from sparkivm.algebra.function_call import spark_name
from sparkivm.algebra.query import SortKey
from sparkivm.algebra.scalar import column, is_literal, replace_nodes
from sparkivm.frontend.accepted_expressions import check_accepted, function_name
from sparkivm.frontend.aggregation import Aggregation
from sparkivm.frontend.expressions import (
    aggregate_calls,
    has_aggregate,
    is_aggregate,
    is_hive_grouping_id,
    outside_of_subqueries,
    resolve,
)
from sparkivm.frontend.from_clause import FromReader
from sparkivm.frontend.generators import generated, is_generator
from sparkivm.frontend.grouping_sets import Grouping, Key, read_grouping
from sparkivm.frontend.order_by import by_all, must_be_no_name, ordinal, sort_key
from sparkivm.frontend.parentheses import inside_parentheses
from sparkivm.frontend.place import not_supported, not_understood
from sparkivm.frontend.scope import Scope, Visible, refuse_two_names, unnamed, unresolved
from sparkivm.frontend.stars import is_of_columns, is_star, items_of_star
from sparkivm.frontend.subqueries import Subqueries
from sparkivm.frontend.time_windows import with_time_windows
from sparkivm.frontend.windows import Windows, with_named_windows

if TYPE_CHECKING:
    from sparkivm.frontend.query import QueryReader

# Functions that are casts.
_CASTS = frozenset(
    "bigint binary boolean date decimal double float int smallint string timestamp tinyint".split()
)


@dataclass
class _Item:
    """One item of a SELECT list: its visible name, and its expression over FROM."""

    name: str
    tree: exp.Expr
    source: exp.Expr  # what the user wrote


class SelectReader:
    """Reads one SELECT."""

    def __init__(self, reader: QueryReader) -> None:
        self._reader, self._names = reader, reader.names
        self._subqueries, self._windows = Subqueries(reader), Windows(reader.names)

    def read(self, tree: exp.Select, sort: list[exp.Expr]) -> tuple[Relation, list[Visible], list[SortKey]]:
        """Its rows, the columns that it returns, and the sort keys for `sort`, the items of its ORDER BY."""
        relation, scope = FromReader(self._reader).read(tree)
        scope = replace(scope, outer=self._reader.outer)
        subqueries, windows = self._subqueries, self._windows
        where = tree.args.get("where")
        if where is not None:
            predicate = resolve(where.this, scope, subquery=subqueries.column)
            check_accepted(predicate)
            relation = subqueries.filtered(relation, Scalar(predicate))
        scope = replace(scope, filters=False)
        tree, relation, scope = with_time_windows(tree, relation, scope, self._names)
        relation, made = self._made_rows(tree, relation, scope)
        items = self._items(tree, scope, made)
        having, group = tree.args.get("having"), tree.args.get("group")
        grouped = (
            group is not None
            or having is not None
            or any(subqueries.has_aggregate(item.tree) for item in items)
        )
        if grouped and made:  # Spark makes them of the groups
            raise not_supported("a function that makes rows beside GROUP BY, HAVING or an aggregate", tree)
        distinct = tree.args.get("distinct") is not None
        aliases = {item.name.lower(): item.tree for item in items}
        sort = by_all(sort, len(items), chain(aliases, (name for name, _ in scope.star)))
        named = tree.args.get("windows") or ()
        sort_trees = [(node, self._sort_tree(node, items, aliases, scope, named)) for node in sort]
        if grouped:
            relation, scalars, sort_scalars = self._grouped(tree, relation, scope, items, aliases, sort_trees)
        else:
            trees = [windows.lifted(item.tree) for item in items]
            sorts = [windows.lifted(sort_tree) for _, sort_tree in sort_trees]
            for one in (*trees, *sorts):
                check_accepted(one)
            scalars, sort_scalars = list(map(Scalar, trees)), list(map(Scalar, sorts))
            relation = subqueries.joined(relation, subqueries.waiting)
        relation = windows.applied(relation)
        return self._project(relation, items, scalars, sort, sort_scalars, distinct)

    def _project(
        self,
        relation: Relation,
        items: list[_Item],
        scalars: list[Scalar],
        sort: list[exp.Expr],
        sort_scalars: list[Scalar],
        distinct: bool,
    ) -> tuple[Relation, list[Visible], list[SortKey]]:
        columns: dict[str, Scalar] = {}
        known: dict[Scalar, str] = {}
        visible: list[Visible] = []
        for item, scalar in zip(items, scalars, strict=True):
            name = known.get(scalar)
            if name is None:
                name = known[scalar] = self._names.name_for(scalar, relation, item.name)
                columns[name] = scalar
            visible.append((item.name, name))
        if any(is_star(item.source) and isinstance(item.tree, exp.Column) for item in items):
            columns = dict(sorted(columns.items()))  # independent of the order of the table's columns
        if distinct:
            relation = Project(relation, tuple(columns.items()))
            relation = Aggregate(relation, relation.columns, ())
            columns = {name: column(name) for name in relation.columns}
            sort_scalars = [
                _over_distinct(scalar, known, node) for node, scalar in zip(sort, sort_scalars, strict=True)
            ]
            known = {scalar: name for name, scalar in columns.items()}
        keys: list[SortKey] = []
        for node, scalar in zip(sort, sort_scalars, strict=True):
            name = known.get(scalar)
            if name is None:
                name = known[scalar] = self._names.name_for(scalar, relation, "sort_key")
                columns[name] = scalar
            keys.append(sort_key(node, name))
        if not distinct or len(columns) > len(relation.columns):
            relation = Project(relation, tuple(columns.items()))
        return relation, visible, keys

    def _grouped(
        self,
        tree: exp.Select,
        relation: Relation,
        scope: Scope,
        items: list[_Item],
        aliases: dict[str, exp.Expr],
        sort_trees: list[tuple[exp.Expr, exp.Expr]],
    ) -> tuple[Relation, list[Scalar], list[Scalar]]:
        subqueries = self._subqueries
        having = tree.args.get("having")
        condition = None
        if having is not None:
            keys = _keys_as_written(tree, items)
            in_having = replace(scope, aggregate=subqueries.aggregate)
            condition = self._over_output(having.this, aliases, in_having, keys)
            if not isinstance(condition.unnest(), (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)):
                condition = exp.cast(condition, "boolean")  # as in Spark
        grouping = self._grouping(tree, scope, items)
        # Subqueries in keys and aggregates are joined before grouping, all others to the groups.
        trees = [item.tree for item in items] + [sort_tree for _, sort_tree in sort_trees]
        trees += [*([condition] if condition is not None else []), *subqueries.of_groups]
        early = [key for key, _ in grouping.keys] + [call for one in trees for call in aggregate_calls(one)]
        read = frozenset().union(*(Scalar(one).columns for one in early))
        relation = subqueries.joined(relation, read & subqueries.waiting)
        constant = scope.outside | subqueries.waiting
        aggregation = Aggregation(relation, grouping, self._names, constant, self._windows)
        scalars = [aggregation.rewrite(item.tree, item.source) for item in items]
        sort_scalars = [aggregation.rewrite(sort_tree, node) for node, sort_tree in sort_trees]
        kept = aggregation.rewrite(condition, condition) if condition is not None else None
        beside = subqueries.over_groups(aggregation.rewrite)
        result: Relation = aggregation.relation()
        if beside:
            own = ((name, column(name)) for name in result.columns)
            result = Project(result, (*own, *beside.items()))
        # The value of such a key is in a column with another name.
        if subqueries.read & frozenset(relation.columns) - frozenset(result.columns):
            raise not_supported("a subquery that reads a grouped expression, or a key of grouping sets", tree)
        if kept is not None:
            result = subqueries.filtered(result, kept)
        return subqueries.joined(result, subqueries.waiting), scalars, sort_scalars

    def _grouping(self, tree: exp.Select, scope: Scope, items: list[_Item]) -> Grouping:
        group = tree.args.get("group")
        if group is None:
            return Grouping(())
        if group.args.get("all"):
            must_be_no_name((name for name, _ in scope.star), tree)
            plain = (one for one in items if not self._subqueries.has_aggregate(one.tree))
            return Grouping(tuple((one.tree.unnest(), one.name) for one in plain))
        aliases = {item.name.lower(): item.tree for item in reversed(items)}  # the first of a name counts

        def key(node: exp.Expr) -> Key:
            position = ordinal(node, len(items), "GROUP BY")
            if position is not None:
                return items[position - 1].tree.unnest(), items[position - 1].name
            resolved = resolve(node, scope, aliases, self._subqueries.same_column)
            plain = isinstance(node, exp.Column)
            return resolved.unnest(), node.name if plain else _alias_of(resolved, items) or "group_key"

        grouping = read_grouping(group, key)
        if grouping.sets:
            _refuse_two_names(grouping, scope, tree)
        return grouping

    def _made_rows(
        self, tree: exp.Select, relation: Relation, scope: Scope
    ) -> tuple[Relation, dict[int, list[Visible]]]:
        """EXPLODE and the like in the SELECT list: the rows that they make, and the columns of each item."""
        made: dict[int, list[Visible]] = {}
        for node in tree.expressions:
            call = node.this if isinstance(node, (exp.Alias, exp.Aliases)) else node
            if not is_generator(call):
                continue
            if has_aggregate(call):
                what = f"an aggregate inside of {spark_name(call).upper()}; compute it in a subquery below"
                raise not_supported(what, node)
            given = [one.name for one in node.aliases] if isinstance(node, exp.Aliases) else []
            given = [node.alias] if isinstance(node, exp.Alias) else given
            relation, made[id(node)] = generated(relation, resolve(call, scope), given, self._names)
        return relation, made

    def _items(self, tree: exp.Select, scope: Scope, made: Mapping[int, list[Visible]]) -> list[_Item]:
        items: list[_Item] = []
        aliases: dict[str, exp.Expr] = {}
        for node in tree.expressions:
            if is_star(node):
                expanded = items_of_star(node, scope, self._names)
                items.extend(_Item(shown, one, node) for shown, one in expanded)
                continue
            # DISTINCT (a) is read as an item in parentheses.
            inner = inside_parentheses(node.this if isinstance(node, exp.Alias) else node)
            inner = with_named_windows(inner, tree.args.get("windows") or ())
            if id(node) in made:
                items.extend(_Item(shown, column(name).tree, node) for shown, name in made[id(node)])
                continue
            if isinstance(node, (exp.Aliases, exp.Kwarg)):
                raise not_supported("several aliases of one expression", node)
            resolved = resolve(inner, scope, aliases, self._subqueries.column)
            name = node.alias if isinstance(node, exp.Alias) else _implicit_name(inner, resolved, len(items))
            items.append(_Item(name, resolved, node))
            if isinstance(node, exp.Alias):
                aliases[name.lower()] = resolved
        return items

    # ORDER BY and HAVING

    def _sort_tree(
        self,
        node: exp.Expr,
        items: list[_Item],
        aliases: dict[str, exp.Expr],
        scope: Scope,
        definitions: Sequence[exp.Expr],
    ) -> exp.Expr:
        tree = inside_parentheses(node.this if isinstance(node, exp.Ordered) else node)
        tree = with_named_windows(tree, definitions)
        position = ordinal(tree, len(items), "ORDER BY")
        if position is not None:
            return items[position - 1].tree
        if isinstance(tree, exp.Column) and len(tree.parts) == 1 and tree.name.lower() in aliases:
            return aliases[tree.name.lower()]  # it hides a column of FROM with the same name
        return self._over_output(tree, aliases, scope)

    def _over_output(
        self,
        tree: exp.Expr,
        aliases: dict[str, exp.Expr],
        scope: Scope,
        keys: Sequence[exp.Expr] | None = (),
    ) -> exp.Expr:
        """An expression of ORDER BY or HAVING: over output columns and columns of FROM.

        If a name is both, and they differ, Spark takes the output column; except in HAVING, where a column of
        FROM by which the query is grouped takes precedence.

        keys  what HAVING's query is grouped by, as written; None if that is not a plain list
        """
        tree, aliases = tree.copy(), dict(aliases)
        calls = [call for call in outside_of_subqueries(tree) if is_aggregate(call)]
        in_calls = {id(node) for call in calls for node in call.walk()}
        for node in list(outside_of_subqueries(tree)):
            if is_of_columns(node):
                raise not_understood("* in ORDER BY or HAVING", node)
            if not isinstance(node, exp.Column) or id(node) in in_calls:
                continue  # arguments of aggregates refer to FROM
            parts = [part.name for part in node.parts]
            alias = aliases.get(parts[0].lower())
            found = scope.find(node)
            known = alias is not None or found is not None or scope.find_outside(node) is not None
            if not known and not is_hive_grouping_id(node):
                raise unresolved(node)
            if alias is None or found is None or Scalar(alias) == column(found[0]):
                continue
            if keys is not None and any(_is_column(key, parts[0]) for key in keys):
                continue
            if (
                keys is None
                or any(_may_be_key(key, node) for key in keys)
                or len(parts) > 1
                or node.find_ancestor(exp.Window)
            ):
                raise not_understood(f"{parts[0]} is both a column and another expression's alias", node)
            name = f"\0{parts[0].lower()}"  # no column has this name
            aliases[name] = alias
            node.set("this", exp.to_identifier(name, quoted=True))
        return resolve(tree, scope, aliases, self._subqueries.column)


def _keys_as_written(tree: exp.Select, items: Sequence[_Item]) -> list[exp.Expr] | None:
    """The expressions of GROUP BY, ordinals replaced by their items; None for ALL and grouping sets."""
    group = tree.args.get("group")
    if group is None:
        return []
    sets = (exp.Cube, exp.GroupingSets, exp.Rollup)
    if any(value for name, value in group.args.items() if name != "expressions") or group.find(*sets):
        return None
    positions = ((ordinal(node, len(items), "GROUP BY"), node) for node in group.expressions)
    return [
        (node if position is None else items[position - 1].source.unalias()).unnest()
        for position, node in positions
    ]


def _refuse_two_names(grouping: Grouping, scope: Scope, tree: exp.Select) -> None:
    """Refuse keys with two names for one column, of which a set may leave out one."""
    group = tree.args["group"]
    nodes = [node for part in (*tree.expressions, group) for node in part.walk()]
    written = {node.name.lower() for node in nodes if isinstance(node, exp.Column)}
    columns = [*scope.star, *scope.made]
    if not any(map(is_of_columns, nodes)):
        columns = [one for one in columns if one[0].lower() in written]
    keys = frozenset[str]().union(*(Scalar(key).columns for key, _ in grouping.keys))
    refuse_two_names(columns, keys, "grouping sets", group)


def _is_column(tree: exp.Expr, name: str) -> bool:
    return isinstance(tree, exp.Column) and tree.name.lower() == name.lower()


def _may_be_key(key: exp.Expr, node: exp.Column) -> bool:
    """Whether a column in HAVING may be part of an expression that Spark recognizes as a key."""
    compared = isinstance(node.parent, exp.Predicate) and not isinstance(key, exp.Predicate)
    return not compared and any(_is_column(one, node.name) for one in key.find_all(exp.Column))


def _over_distinct(scalar: Scalar, known: Mapping[Scalar, str], node: exp.Expr) -> Scalar:
    """An item of ORDER BY rewritten over the output columns of SELECT DISTINCT."""
    literals = {value for value in known if is_literal(value.tree)}

    def replacement(part: exp.Expr) -> exp.Expr | None:
        name = known.get(Scalar(part)) if part.parent is None or Scalar(part) not in literals else None
        return None if name is None else column(name).tree

    found = Scalar(replace_nodes(scalar.tree, replacement))
    if not found.columns <= set(known.values()):
        raise not_understood("ORDER BY of an expression outside DISTINCT", node)
    return found


def _implicit_name(node: exp.Expr, resolved: exp.Expr, position: int) -> str:
    """The name that Spark gives to an item without an alias, unless it is the text of an expression.

    A cast of a column has the column's name.
    """
    argument = _cast_argument(node)
    if argument is not None and isinstance(_cast_argument(resolved), exp.Column):
        node = argument
    root = node
    while isinstance(root, exp.Dot):
        root = root.this
    return str(node.name) if isinstance(root, exp.Column) else unnamed(position + 1)


def _cast_argument(node: exp.Expr) -> exp.Expr | None:
    arguments: list[exp.Expr] = []
    if isinstance(node, exp.Cast):
        arguments = [node.this]
    elif isinstance(node, exp.Anonymous) and function_name(node) in _CASTS:
        arguments = node.expressions
    return arguments[0].unnest() if len(arguments) == 1 else None


def _alias_of(tree: exp.Expr, items: list[_Item]) -> str | None:
    return next((item.name for item in items if Scalar(item.tree) == Scalar(tree)), None)
