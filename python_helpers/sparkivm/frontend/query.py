"""Queries around SELECT: WITH, set operations, ORDER BY … LIMIT, and the lookup of names in FROM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sparkivm.algebra import Filter, Ordering, Project, Relation, Scalar, Window, WindowCall
from sparkivm.algebra.query import Query, SortKey
from sparkivm.algebra.scalar import column
from sparkivm.algebra.spark_text import SparkText
from sparkivm.algebra.sql_expression import expression
from sparkivm.engine import RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.frontend.char_padding import with_padding
from sparkivm.frontend.chosen_rows import with_chosen_rows
from sparkivm.frontend.correlation import reads_outer_columns_only_among_themselves
from sparkivm.frontend.in_values import refuse_unclear_in_values
from sparkivm.frontend.known_clauses import refuse_unknown_clauses
from sparkivm.frontend.order_by import (
    any_rows,
    by_all,
    number_of,
    output_key,
    sort_key,
    takes_all,
    takes_some,
)
from sparkivm.frontend.parentheses import inside_parentheses
from sparkivm.frontend.parse import with_units_and_signs
from sparkivm.frontend.place import not_deterministic, not_supported, not_understood, place_of
from sparkivm.frontend.precedence import refuse_other_precedence
from sparkivm.frontend.scope import NameAllocator, Scope, Visible, has_name, under_names
from sparkivm.frontend.select import SelectReader
from sparkivm.frontend.set_operations import SetOperations
from sparkivm.frontend.stars import has_star
from sparkivm.frontend.windows import with_key_in_order

_DEEPEST_VIEW = 40


class Catalog(Protocol):
    """What the frontend asks of the engine: which table or view a name refers to."""

    def lookup(self, parts: tuple[str, ...], namespace: tuple[str, ...]) -> RelationFacts:
        """The relation of a name of one to three parts; unqualified names of a view are in its namespace.

        Raises: NotIncremental if it is neither a table with a history nor a view.
        """


@dataclass(frozen=True)
class _Cte:
    """A CTE: its text, the CTEs that it may use, its column names."""

    body: exp.Query
    before: dict[str, _Cte]
    columns: tuple[str, ...]


def read_query(tree: exp.Query, catalog: Catalog, names: NameAllocator | None = None) -> Query:
    """The query of a parsed SELECT.

    names  shared with other queries that become parts of the same plan
    Raises: NotIncremental for the first construct without a rule, with its place.
    """
    _refuse_unread(tree)
    reader = QueryReader(catalog, names or NameAllocator())
    query = reader.query(with_chosen_rows(tree))
    refuse_unclear_in_values(query.root)
    return with_padding(query, reader.names.types)


def _refuse_unread(tree: exp.Query) -> None:
    """Refuse what we would ignore or misread."""
    refuse_unknown_clauses(tree)
    refuse_other_precedence(tree)


def _are_called(visible: Sequence[Visible], names: Sequence[str]) -> bool:
    """Whether columns have these names; a column whose name we do not know matches any."""
    pairs = zip(visible, names, strict=False)
    return len(visible) == len(names) and all(
        one[0].lower() == name.lower() for one, name in pairs if has_name(one)
    )


def _without_rows(relation: Relation) -> Filter:
    """The result of LIMIT 0, in any order."""
    return Filter(relation, expression("false"))


@dataclass(frozen=True)
class QueryReader:
    """Reads the queries of one WITH scope.

    namespace  in which names are looked up; () for the session's
    depth      of views around the query
    outer      the columns of the outer query that a subquery sees
    """

    catalog: Catalog
    names: NameAllocator
    namespace: tuple[str, ...] = ()
    ctes: dict[str, _Cte] = field(default_factory=dict)
    depth: int = 0
    outer: Scope | None = None

    # what FROM asks

    def cte(self, parts: tuple[str, ...]) -> _Cte | None:
        return self.ctes.get(parts[0].lower()) if len(parts) == 1 else None

    def lookup(self, parts: tuple[str, ...]) -> RelationFacts:
        return self.catalog.lookup(parts, self.namespace)

    def instance_of(self, cte: _Cte) -> tuple[Relation, list[Visible]]:
        """A use of a CTE: each one is a relation with columns of its own."""
        relation, visible = replace(self, ctes=cte.before).rows(cte.body)
        return relation, under_names(visible, cte.columns, cte.body) if cte.columns else visible

    def read_view(self, view: RelationFacts, node: exp.Expr) -> tuple[Relation, list[Visible]]:
        """A use of a view: its text, read in the view's own namespace."""
        if self.depth >= _DEEPEST_VIEW:
            raise not_understood(f"views are nested more than {_DEEPEST_VIEW} deep", node)
        try:
            tree = sqlglot.parse_one(view.view_text, dialect=SparkText)
        except SqlglotError as error:
            raise not_understood(f"cannot parse the text of the view {view.key}: {error}", node) from None
        if not isinstance(tree, exp.Query):
            raise not_understood(f"the view {view.key} is not a SELECT", node)
        tree = with_units_and_signs(tree)
        _refuse_unread(tree)
        inner = QueryReader(self.catalog, self.names, view.view_namespace, depth=self.depth + 1)
        try:
            relation, visible = inner.rows(with_chosen_rows(tree))
        except NotIncremental as error:
            if self.depth:
                raise
            inside = error.fallback  # its place is in the text of a view
            detail = f"in the view {view.key}: {inside.detail or inside.reason.happened}"
            raise type(error)(inside.reason, detail, place_of(node)) from None
        names = [field.name for field in view.fields]
        if has_star(tree) and not _are_called(visible, names):
            what = f"the view {view.key} is a SELECT * of other columns than when it was created"
            raise not_understood(f"{what}: create it again", node)
        return relation, under_names(visible, names, node)

    def read_subquery(self, tree: exp.Expr, scope: Scope, *, exists: bool) -> tuple[Relation, list[Visible]]:
        """A subquery of an expression, which may use columns of `scope`, and the columns that it returns."""
        query = inside_parentheses(tree)
        if not isinstance(query, exp.Query):
            raise not_supported("this subquery", tree)
        if exists and not query.args.get("offset") and number_of(query, "limit") != 0:
            query = query.copy()  # EXISTS asks only whether there is a row
            query.set("limit", None)
        return replace(self, outer=scope).rows(query)

    def _with(self, tree: exp.Query) -> QueryReader:
        """The reader that knows the CTEs of a query's own WITH."""
        clause = tree.args.get("with_")
        if clause is None:
            return self
        ctes = dict(self.ctes)
        for node in clause.expressions:
            columns = tuple(identifier.name for identifier in node.args["alias"].args.get("columns") or ())
            if not isinstance(node.this, exp.Query):
                raise not_supported("a CTE that is not a SELECT", node)
            ctes[node.alias.lower()] = _Cte(node.this, dict(ctes), columns)
        return replace(self, ctes=ctes)

    # queries

    def query(self, tree: exp.Query) -> Query:
        """The outermost query, whose ORDER BY and LIMIT present the rows."""
        tree = inside_parentheses(tree)
        reader = self._with(tree)
        relation, visible, sort = reader._sorted(tree)
        limit, offset = number_of(tree, "limit"), number_of(tree, "offset")
        if limit == 0:
            relation, sort, limit, offset = _without_rows(relation), [], None, None
        if (limit is not None or offset is not None) and not sort:
            if not takes_all(relation, offset):
                raise any_rows(tree)
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
        """A query whose rows another query uses."""
        if takes_some(tree):
            return self._with(tree)._limited(tree)
        return self._with(tree)._body(tree)

    def _limited(self, tree: exp.Query) -> tuple[Relation, list[Visible]]:
        """ORDER BY … LIMIT below the top: the rows by their position in the order, with ties broken."""
        relation, visible, sort = self._sorted(tree)
        limit, offset = number_of(tree, "limit"), number_of(tree, "offset") or 0
        if limit == 0:
            return _without_rows(relation), visible
        if not sort:
            if not takes_all(relation, offset):
                raise any_rows(tree)
            return relation, visible
        if reads_outer_columns_only_among_themselves(relation):
            what = "ORDER BY … LIMIT takes arbitrary rows if nothing compares outer columns with its own"
            raise not_deterministic(what, tree.args.get("limit") or tree)
        order = tuple(Ordering(column(key.column), key.descending, key.nulls_first) for key in sort)
        position = self.names.fresh("position")
        call = with_key_in_order(
            WindowCall(position, expression("row_number()"), order, settled=True), relation
        )
        kept = f"p > {offset}" if limit is None else f"p > {offset} and p <= {offset + limit}"
        return Filter(Window(relation, (), (call,)), expression(kept, p=position)), visible

    def _sorted(self, tree: exp.Query) -> tuple[Relation, list[Visible], list[SortKey]]:
        """A query without its WITH, and the columns of its ORDER BY."""
        nodes = list(tree.args["order"].expressions) if tree.args.get("order") else []
        if isinstance(tree, exp.Select):
            return SelectReader(self).read(tree, nodes)
        relation, visible = self._body(tree)
        nodes = by_all(nodes, len(visible), (name for name, _ in visible))
        keys = [output_key(node, visible) for node in nodes]
        known = {column(name): name for name in relation.columns}
        for scalar in keys:
            if scalar not in known:
                known[scalar] = self.names.fresh("sort_key")
        if len(known) > len(relation.columns):
            relation = Project(relation, tuple((name, scalar) for scalar, name in known.items()))
        return relation, visible, [sort_key(node, known[key]) for node, key in zip(nodes, keys, strict=True)]

    def _body(self, tree: exp.Query) -> tuple[Relation, list[Visible]]:
        if isinstance(tree, exp.Select):
            relation, visible, _ = SelectReader(self).read(tree, [])
            return relation, visible
        if isinstance(tree, exp.Union):
            return SetOperations(self.rows, self.names).union(tree)
        if isinstance(tree, (exp.Intersect, exp.Except)):
            return SetOperations(self.rows, self.names).counted(tree)
        if isinstance(tree, exp.Subquery):
            return self.rows(tree.this)
        raise not_supported(type(tree).__name__.upper(), tree)
