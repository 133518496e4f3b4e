"""SELECT, UNION ALL and WITH: text that Spark accepts → algebra."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sparkivm.algebra import (
    Aggregate,
    Call,
    Filter,
    Ordering,
    Project,
    Relation,
    Repeat,
    Scalar,
    UnionAll,
    Window,
    WindowCall,
)
from sparkivm.algebra.project import only, renamed
from sparkivm.algebra.query import Query, SortKey
from sparkivm.algebra.scalar import column, integer
from sparkivm.algebra.spark_text import SparkText
from sparkivm.algebra.sql_expression import expression
from sparkivm.errors import NotIncremental
from sparkivm.frontend.accepted_expressions import check_accepted
from sparkivm.frontend.aggregation import Aggregation
from sparkivm.frontend.catalog import Catalog, CatalogTable, CatalogView
from sparkivm.frontend.correlation import reads_outer_columns_only_among_themselves
from sparkivm.frontend.expressions import (
    aggregate_calls,
    direction,
    has_aggregate,
    is_aggregate,
    outside_of_subqueries,
    resolve,
)
from sparkivm.frontend.from_clause import FromReader
from sparkivm.frontend.generators import generated, is_generator
from sparkivm.frontend.grouping_sets import Grouping, Key, read_grouping
from sparkivm.frontend.place import not_incremental
from sparkivm.frontend.scope import NameAllocator, Scope, Visible, under_names, unresolved
from sparkivm.frontend.subqueries import Subqueries
from sparkivm.frontend.windows import Windows, with_named_windows
from sparkivm.properties.single_row import at_most_one_row
from sparkivm.reasons import Reason

_DEEPEST_VIEW = 40


@dataclass(frozen=True)
class _Cte:
    """A CTE: its text, the CTEs that it may use, its column names."""

    body: exp.Query
    before: dict[str, _Cte]
    columns: tuple[str, ...]


@dataclass
class _Item:
    """One item of a SELECT list: the name it is visible by, and its expression over FROM."""

    name: str
    tree: exp.Expr
    source: exp.Expr  # what the user wrote


def read_query(
    tree: exp.Query,
    catalog: Catalog,
    namespace: tuple[str, ...] = (),
    names: NameAllocator | None = None,
) -> Query:
    """The query of a parsed SELECT.

    names  those of queries that are going to be parts of one plan with it
    Raises: NotIncremental for the first construct without a rule, with its place.
    """
    reader = SelectReader(catalog, namespace, names or NameAllocator(), {}, 0)
    return reader.query(tree)


class SelectReader:
    """Reads the SELECTs of one WITH scope."""

    def __init__(
        self,
        catalog: Catalog,
        namespace: tuple[str, ...],
        names: NameAllocator,
        ctes: dict[str, _Cte],
        depth: int,
        outer: Scope | None = None,
    ) -> None:
        """outer: what a subquery sees of the query around it."""
        self._catalog, self._namespace, self.names = catalog, namespace, names
        self._ctes, self._depth, self.outer = ctes, depth, outer

    # what FROM asks

    def cte(self, parts: tuple[str, ...]) -> _Cte | None:
        return self._ctes.get(parts[0].lower()) if len(parts) == 1 else None

    def lookup(self, parts: tuple[str, ...]) -> CatalogTable | CatalogView:
        return self._catalog.lookup(parts, self._namespace)

    def instance_of(self, cte: _Cte) -> tuple[Relation, list[Visible]]:
        """A CTE where it is used: a relation with columns of its own each time."""
        relation, visible = self._within(cte.before).rows(cte.body)
        return relation, under_names(visible, cte.columns, cte.body) if cte.columns else visible

    def read_nested(self, node: exp.Subquery) -> tuple[Relation, list[Visible]]:
        return self.rows(node)

    def read_view(self, view: CatalogView, node: exp.Expr) -> tuple[Relation, list[Visible]]:
        """A view where it is used: its text, read in its own namespace."""
        if self._depth >= _DEEPEST_VIEW:
            raise not_incremental(
                Reason.SQL_NOT_UNDERSTOOD, f"views are nested more than {_DEEPEST_VIEW} deep", node
            )
        try:
            tree = sqlglot.parse_one(view.text, dialect=SparkText)
        except SqlglotError as error:
            raise not_incremental(
                Reason.SQL_NOT_UNDERSTOOD, f"the text of the view {view.key}: {error}", node
            ) from None
        if not isinstance(tree, exp.Query):
            raise not_incremental(Reason.SQL_NOT_UNDERSTOOD, f"the view {view.key} is no SELECT", node)
        inner = SelectReader(self._catalog, view.namespace, self.names, {}, self._depth + 1)
        relation, visible = inner.rows(tree)
        return relation, under_names(visible, [field.name for field in view.fields], node)

    def read_subquery(self, tree: exp.Expr, scope: Scope, *, exists: bool) -> tuple[Relation, list[Visible]]:
        """A subquery of an expression, which may use columns of `scope`; and the columns that it returns."""
        query = tree.this if isinstance(tree, exp.Subquery) else tree
        if not isinstance(query, exp.Query):
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "this subquery", tree)
        if exists and not query.args.get("offset") and _number(query, "limit") != 0:
            query = query.copy()  # whether there is a row
            query.set("limit", None)
        inner = SelectReader(self._catalog, self._namespace, self.names, self._ctes, self._depth, scope)
        return inner.rows(query)

    def _within(self, ctes: dict[str, _Cte]) -> SelectReader:
        return SelectReader(self._catalog, self._namespace, self.names, ctes, self._depth, self.outer)

    def _with(self, tree: exp.Query) -> SelectReader:
        """The reader inside of a query's own WITH."""
        clause = tree.args.get("with_")
        if clause is None:
            return self
        if clause.args.get("recursive"):
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "a recursive CTE", clause)
        ctes = dict(self._ctes)
        for node in clause.expressions:
            columns = tuple(identifier.name for identifier in node.args["alias"].args.get("columns") or ())
            if not isinstance(node.this, exp.Query):
                raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "a CTE that is no SELECT", node)
            ctes[node.alias.lower()] = _Cte(node.this, dict(ctes), columns)
        return self._within(ctes)

    # queries

    def query(self, tree: exp.Query) -> Query:
        """The outermost query, whose ORDER BY and LIMIT present the rows."""
        while isinstance(tree, exp.Subquery) and not _presentation(tree) and not tree.args.get("with_"):
            tree = tree.this
        reader = self._with(tree)
        relation, visible, sort = reader._sorted(tree)
        limit, offset = _number(tree, "limit"), _number(tree, "offset")
        if (limit is not None or offset is not None) and not sort:
            if not _takes_all(relation, limit, offset):
                raise _any_rows(tree)
            limit = offset = None
        output = [name for _, name in visible]
        if len(set(output)) < len(output) or set(relation.columns) != {
            *output,
            *(key.column for key in sort),
        }:
            relation, output, sort = self._distinct_columns(relation, visible, sort)
        return Query(relation, tuple(output), tuple(sort), limit, offset)

    def _distinct_columns(
        self, relation: Relation, visible: list[Visible], sort: list[SortKey]
    ) -> tuple[Relation, list[str], list[SortKey]]:
        """A projection with a column of its own for each output, then those that only sort."""
        output: list[str] = []
        items: list[tuple[str, Scalar]] = []
        for name, source in visible:
            target = source if source not in output else self.names.fresh(name)
            output.append(target)
            items.append((target, column(source)))
        extra = dict.fromkeys(key.column for key in sort if key.column not in output)
        items.extend((name, column(name)) for name in extra)
        return Project(relation, tuple(items)), output, sort

    def rows(self, tree: exp.Query) -> tuple[Relation, list[Visible]]:
        """A query whose rows are used by another one."""
        if isinstance(tree, exp.Subquery):
            if _presentation(tree):
                raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "LIMIT below the top of the query", tree)
            return self._with(tree).rows(tree.this)
        if tree.args.get("limit") or tree.args.get("offset"):
            return self._with(tree)._limited(tree)
        return self._with(tree)._body(tree)

    def _limited(self, tree: exp.Query) -> tuple[Relation, list[Visible]]:
        """ORDER BY … LIMIT below the top: the rows by their position in the order, ties settled."""
        relation, visible, sort = self._sorted(tree)
        limit, offset = _number(tree, "limit"), _number(tree, "offset") or 0
        if not sort:
            if not _takes_all(relation, limit, offset):
                raise _any_rows(tree)
            return relation, visible
        if reads_outer_columns_only_among_themselves(relation):
            what = (
                "ORDER BY … LIMIT takes any rows for Spark where nothing compares outer columns with its own"
            )
            raise not_incremental(Reason.NON_DETERMINISTIC_EXPRESSION, what, tree.args.get("limit") or tree)
        order = tuple(Ordering(column(key.column), key.descending, key.nulls_first) for key in sort)
        position = self.names.fresh("position")
        call = WindowCall(position, expression("row_number()"), order, settled=True)
        kept = f"p > {offset}" if limit is None else f"p > {offset} and p <= {offset + limit}"
        return Filter(Window(relation, (), (call,)), expression(kept, p=position)), visible

    def _sorted(self, tree: exp.Query) -> tuple[Relation, list[Visible], list[SortKey]]:
        """A query without its WITH, and the columns that its ORDER BY names."""
        nodes = list(tree.args["order"].expressions) if tree.args.get("order") else []
        if isinstance(tree, exp.Select):
            return self._select(tree, nodes)
        relation, visible = self._body(tree)
        nodes = _by_all(nodes, len(visible), (name for name, _ in visible))
        return relation, visible, [self._output_key(node, visible) for node in nodes]

    def _body(self, tree: exp.Query) -> tuple[Relation, list[Visible]]:
        if isinstance(tree, exp.Select):
            relation, visible, _ = self._select(tree, [])
            return relation, visible
        if isinstance(tree, exp.Union):
            return self._union(tree)
        if isinstance(tree, (exp.Intersect, exp.Except)):
            return self._counted(tree)
        if isinstance(tree, exp.Subquery):
            return self.rows(tree)
        raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, type(tree).__name__.upper(), tree)

    def _union(self, tree: exp.Union) -> tuple[Relation, list[Visible]]:
        if tree.args.get("by_name"):
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "UNION BY NAME", tree)
        # A chain of a thousand branches leans to the left; it is walked, not recursed into.
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
        union: Relation = UnionAll(tuple(inputs))
        if tree.args.get("distinct"):
            union = Aggregate(union, union.columns, ())
        return union, output

    def _branches(self, trees: Iterable[exp.Expr], what: str) -> tuple[list[Project], list[Visible]]:
        """The branches of a set operation, their columns under the names of the first one's."""
        inputs: list[Project] = []
        output: list[Visible] = []
        for branch in trees:
            if not isinstance(branch, exp.Query):
                raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, f"this branch of {what}", branch)
            relation, visible = self.rows(branch)
            if not output:
                output = [(name, self.names.fresh(name)) for name, _ in visible]
            if len(visible) != len(output):
                raise not_incremental(
                    Reason.SQL_NOT_UNDERSTOOD, f"branches of {what} differ in their columns", branch
                )
            inputs.append(
                renamed(relation, ((new, old) for (_, new), (_, old) in zip(output, visible, strict=True)))
            )
        return inputs, output

    def _counted(self, tree: exp.Intersect | exp.Except) -> tuple[Relation, list[Visible]]:
        """INTERSECT and EXCEPT: rows grouped by all columns, and counted in each of both inputs.

        With counts a, b a row is in A ∩ B if a > 0 and b > 0, in A − B if a > 0 and b = 0; with ALL it is
        there min(a, b) or a − b times.
        """
        if tree.args.get("by_name"):
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "a set operation BY NAME", tree)
        branches, output = self._branches((tree.this, tree.expression), "a set operation")
        counts = (self.names.fresh("left_rows"), self.names.fresh("right_rows"))
        inputs: list[Relation] = []
        for index, branch in enumerate(branches):
            tags = ((name, integer(int(index == i))) for i, name in enumerate(counts))
            inputs.append(Project(branch.input, (*branch.items, *tags)))
        keys = tuple(name for _, name in output)
        calls = tuple(Call(self.names.fresh(name), "sum", column(name)) for name in counts)
        counted = Aggregate(UnionAll(tuple(inputs)), keys, calls)
        a, b = (call.name for call in calls)
        both = isinstance(tree, exp.Intersect)
        if tree.args.get("distinct"):
            kept = "a > 0 and b > 0" if both else "a > 0 and b = 0"
            return only(Filter(counted, expression(kept, a=a, b=b)), keys), output
        some = Filter(counted, expression("a > 0 and b > 0" if both else "a > b", a=a, b=b))
        times = expression("least(a, b)" if both else "a - b", a=a, b=b)
        return only(Repeat(some, times), keys), output

    # SELECT

    def _select(
        self, tree: exp.Select, sort: list[exp.Expr]
    ) -> tuple[Relation, list[Visible], list[SortKey]]:
        self._refuse_clauses(tree)
        relation, scope = FromReader(self).read(tree)
        scope = replace(scope, outer=self.outer)
        subqueries, windows = Subqueries(self), Windows(self.names)
        where = tree.args.get("where")
        if where is not None:
            predicate = resolve(where.this, scope, subquery=subqueries.column)
            check_accepted(predicate)
            relation = subqueries.filtered(relation, Scalar(predicate))
        relation, made = self._made_rows(tree, relation, scope)
        items = self._items(tree, scope, subqueries, made)
        having, group = tree.args.get("having"), tree.args.get("group")
        grouped = group is not None or any(has_aggregate(item.tree) for item in items) or having is not None
        distinct = tree.args.get("distinct") is not None
        if distinct and tree.args["distinct"].args.get("on"):
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "DISTINCT ON", tree)

        aliases = {item.name.lower(): item.tree for item in items}
        sort = _by_all(sort, len(items), chain(aliases, (name for name, _ in scope.star)))
        named = tree.args.get("windows") or ()
        sort_trees = [
            (node, self._sort_tree(node, items, aliases, scope, subqueries, named)) for node in sort
        ]
        if grouped:
            relation, scalars, sort_scalars = self._grouped(
                tree, relation, scope, items, sort_trees, subqueries, windows
            )
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
                name = known[scalar] = self.names.name_for(scalar, relation, item.name)
                columns[name] = scalar
            visible.append((item.name, name))
        keys: list[SortKey] = []
        for node, scalar in zip(sort, sort_scalars, strict=True):
            name = known.get(scalar)
            if name is None:
                if distinct:
                    raise not_incremental(
                        Reason.SQL_NOT_UNDERSTOOD, "ORDER BY of what DISTINCT does not return", node
                    )
                name = known[scalar] = self.names.name_for(scalar, relation, "sort_key")
                columns[name] = scalar
            keys.append(_sort_key(node, name))
        relation = Project(relation, tuple(columns.items()))
        if distinct:
            relation = Aggregate(relation, relation.columns, ())
        return relation, visible, keys

    def _grouped(
        self,
        tree: exp.Select,
        relation: Relation,
        scope: Scope,
        items: list[_Item],
        sort_trees: list[tuple[exp.Expr, exp.Expr]],
        subqueries: Subqueries,
        windows: Windows,
    ) -> tuple[Relation, list[Scalar], list[Scalar]]:
        having = tree.args.get("having")
        condition = None
        if having is not None:
            aliases = {item.name.lower(): item.tree for item in items}
            condition = self._over_output(having.this, items, aliases, scope, subqueries)
            if not isinstance(condition.unnest(), (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)):
                condition = exp.cast(condition, "boolean")  # as Spark does
        grouping = self._grouping(tree, scope, items)
        # What is grouped or aggregated has to be there before, all else is computed from the groups.
        trees = [item.tree for item in items] + [sort_tree for _, sort_tree in sort_trees]
        trees += [condition] if condition is not None else []
        early = [key for key, _ in grouping.keys] + [call for one in trees for call in aggregate_calls(one)]
        read = frozenset().union(*(Scalar(one).columns for one in early))
        relation = subqueries.joined(relation, read & subqueries.waiting)
        aggregation = Aggregation(relation, grouping, self.names, scope.outside | subqueries.waiting, windows)
        scalars = [aggregation.rewrite(item.tree, item.source) for item in items]
        sort_scalars = [aggregation.rewrite(sort_tree, node) for node, sort_tree in sort_trees]
        kept = aggregation.rewrite(condition, condition) if condition is not None else None
        result: Relation = aggregation.relation()
        # The value of such a key is in a column of another name.
        if subqueries.read & frozenset(relation.columns) - frozenset(result.columns):
            raise not_incremental(
                Reason.OPERATOR_NOT_SUPPORTED,
                "a subquery that reads a grouped expression, or a key of grouping sets",
                tree,
            )
        if kept is not None:
            result = subqueries.filtered(result, kept)
        return subqueries.joined(result, subqueries.waiting), scalars, sort_scalars

    def _grouping(self, tree: exp.Select, scope: Scope, items: list[_Item]) -> Grouping:
        group = tree.args.get("group")
        if group is None:
            return Grouping(())
        if group.args.get("all"):
            _must_be_no_name((name for name, _ in scope.star), tree)
            return Grouping(
                tuple((one.tree.unnest(), one.name) for one in items if not has_aggregate(one.tree))
            )
        aliases = {item.name.lower(): item.tree for item in items}

        def key(node: exp.Expr) -> Key:
            if isinstance(node, exp.Literal) and not node.is_string:
                position = int(node.this) if node.this.isdigit() else 0
                if not 0 < position <= len(items):
                    raise not_incremental(Reason.SQL_NOT_UNDERSTOOD, f"GROUP BY {node.this}", node)
                return items[position - 1].tree.unnest(), items[position - 1].name
            resolved = resolve(node, scope, aliases)
            plain = isinstance(node, exp.Column)
            return resolved.unnest(), node.name if plain else _alias_of(resolved, items) or "group_key"

        return read_grouping(group, key)

    def _made_rows(
        self, tree: exp.Select, relation: Relation, scope: Scope
    ) -> tuple[Relation, dict[int, list[Visible]]]:
        """EXPLODE and its like in the SELECT list: the rows that they make, and the columns of each item."""
        made: dict[int, list[Visible]] = {}
        for node in tree.expressions:
            call = node.this if isinstance(node, (exp.Alias, exp.Aliases)) else node
            if not is_generator(call):
                continue
            given = [one.name for one in node.aliases] if isinstance(node, exp.Aliases) else []
            given = [node.alias] if isinstance(node, exp.Alias) else given
            relation, made[id(node)] = generated(relation, resolve(call, scope), given, self.names)
        return relation, made

    def _items(
        self, tree: exp.Select, scope: Scope, subqueries: Subqueries, made: Mapping[int, list[Visible]]
    ) -> list[_Item]:
        items: list[_Item] = []
        aliases: dict[str, exp.Expr] = {}
        for node in tree.expressions:
            star = node if isinstance(node, exp.Star) else node.this if isinstance(node, exp.Column) else None
            if isinstance(star, exp.Star):
                if star.args.get("replace") or star.args.get("rename"):
                    raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "* with REPLACE or RENAME", node)
                left_out = {part.name.lower() for part in star.args.get("except_") or ()}
                qualifier = [part.name for part in node.parts[:-1]] if isinstance(node, exp.Column) else []
                for name, source in scope.expand(qualifier, node):
                    if name.lower() not in left_out:
                        items.append(_Item(name, column(source).tree, node))
                continue
            # DISTINCT (a) is read as an item in parentheses.
            inner = (node.this if isinstance(node, exp.Alias) else node).unnest()
            inner = with_named_windows(inner, tree.args.get("windows") or ())
            if id(node) in made:
                items.extend(_Item(shown, column(name).tree, node) for shown, name in made[id(node)])
                continue
            if isinstance(node, (exp.Aliases, exp.Kwarg)):
                raise not_incremental(
                    Reason.OPERATOR_NOT_SUPPORTED, "several aliases of one expression", node
                )
            resolved = resolve(inner, scope, aliases, subqueries.column)
            name = node.alias if isinstance(node, exp.Alias) else _implicit_name(inner, len(items))
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
        subqueries: Subqueries,
        definitions: Sequence[exp.Expr],
    ) -> exp.Expr:
        tree = node.this if isinstance(node, exp.Ordered) else node
        tree = with_named_windows(tree, definitions)
        if isinstance(tree, exp.Literal) and not tree.is_string and tree.this.isdigit():
            position = int(tree.this)
            if not 0 < position <= len(items):
                raise not_incremental(Reason.SQL_NOT_UNDERSTOOD, f"ORDER BY {position}", node)
            return items[position - 1].tree
        if isinstance(tree, exp.Column) and len(tree.parts) == 1 and tree.name.lower() in aliases:
            return aliases[tree.name.lower()]  # a column of FROM by the same name stands back
        return self._over_output(tree, items, aliases, scope, subqueries)

    @staticmethod
    def _over_output(
        tree: exp.Expr,
        items: list[_Item],
        aliases: dict[str, exp.Expr],
        scope: Scope,
        subqueries: Subqueries,
    ) -> exp.Expr:
        """An expression in which names are output columns first, columns of FROM second.

        Which of the two Spark takes depends on the place; where both exist and differ the query is refused.
        """
        calls = [call for call in outside_of_subqueries(tree) if is_aggregate(call)]
        in_calls = {id(node) for call in calls for node in call.walk()}
        for node in outside_of_subqueries(tree):
            if not isinstance(node, exp.Column) or id(node) in in_calls:
                continue  # an aggregate's argument is a matter of FROM
            parts = [part.name for part in node.parts]
            alias = aliases.get(parts[0].lower())
            found = scope.find(node)
            if alias is None and found is None and scope.find_outside(node) is None:
                raise unresolved(node)
            if alias is not None and found is not None and Scalar(alias) != column(found[0]):
                raise not_incremental(
                    Reason.SQL_NOT_UNDERSTOOD,
                    f"{parts[0]} is both a column and another expression's alias",
                    node,
                )
        return resolve(tree, scope, aliases, subqueries.column)

    @staticmethod
    def _output_key(node: exp.Expr, visible: list[Visible]) -> SortKey:
        """A sort key of a UNION: a position or an output column."""
        tree = node.this if isinstance(node, exp.Ordered) else node
        if isinstance(tree, exp.Literal) and tree.this.isdigit() and 0 < int(tree.this) <= len(visible):
            return _sort_key(node, visible[int(tree.this) - 1][1])
        for name, source in visible:
            if isinstance(tree, exp.Column) and len(tree.parts) == 1 and name.lower() == tree.name.lower():
                return _sort_key(node, source)
        raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "ORDER BY an expression over a UNION", node)

    @staticmethod
    def _refuse_clauses(tree: exp.Select) -> None:
        refused = {
            "qualify": "QUALIFY",
            "pivots": "PIVOT",
            "connect": "CONNECT BY",
            "match": "MATCH_RECOGNIZE",
            "kind": "SELECT AS",
            "into": "INTO",
        }
        for clause, words in refused.items():
            value = tree.args.get(clause)
            if value:
                node = value[0] if isinstance(value, list) else value
                raise not_incremental(
                    Reason.OPERATOR_NOT_SUPPORTED, words, node if isinstance(node, exp.Expr) else tree
                )


def _takes_all(relation: Relation, limit: int | None, offset: int | None) -> bool:
    """Whether LIMIT and OFFSET leave nothing to choose, as there is one row at most."""
    return not offset and limit != 0 and at_most_one_row(relation)


def _by_all(sort: list[exp.Expr], count: int, names: Iterable[str]) -> list[exp.Expr]:
    """ORDER BY ALL as the positions of all `count` columns; `names` are those that a key may have."""
    if len(sort) != 1 or not isinstance(sort[0].this, exp.Var) or sort[0].this.name.upper() != "ALL":
        return sort
    _must_be_no_name(names, sort[0])
    keys = [sort[0].copy() for _ in range(count)]
    for position, key in enumerate(keys, 1):
        key.set("this", exp.Literal.number(position))
    return keys


def _must_be_no_name(names: Iterable[str], node: exp.Expr) -> None:
    """GROUP BY ALL and ORDER BY ALL mean a column of this name to Spark if there is one."""
    if any(name.lower() == "all" for name in names):
        raise not_incremental(Reason.SQL_NOT_UNDERSTOOD, "ALL is the name of a column", node)


def _any_rows(tree: exp.Query) -> NotIncremental:
    return not_incremental(
        Reason.NON_DETERMINISTIC_EXPRESSION,
        "LIMIT without ORDER BY takes any rows",
        tree.args.get("limit") or tree,
    )


def _presentation(tree: exp.Query) -> bool:
    return bool(tree.args.get("limit") or tree.args.get("offset") or tree.args.get("order"))


def _sort_key(node: exp.Expr, name: str) -> SortKey:
    return SortKey(name, *direction(node))


def _number(tree: exp.Query, clause: str) -> int | None:
    node = tree.args.get(clause)
    if node is None:
        return None
    value = node.expression
    if isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit():
        return int(value.this)
    raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, f"{clause.upper()} that is no number", node)


def _implicit_name(node: exp.Expr, position: int) -> str:
    if isinstance(node, (exp.Column, exp.Dot)):
        return str(node.name)
    return f"expression_{position + 1}"


def _alias_of(tree: exp.Expr, items: list[_Item]) -> str | None:
    return next((item.name for item in items if Scalar(item.tree) == Scalar(tree)), None)
