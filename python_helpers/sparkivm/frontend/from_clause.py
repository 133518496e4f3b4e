"""FROM: tables, views, CTEs, derived tables and their joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkivm.algebra import (
    Filter,
    FullJoin,
    InnerJoin,
    JoinCondition,
    LeftJoin,
    OneRow,
    Relation,
    Scalar,
    Scan,
    SemiJoin,
    UnionAll,
)
from sparkivm.algebra.function_call import spark_name
from sparkivm.algebra.project import Project
from sparkivm.algebra.scalar import column, conjuncts, equal, integer
from sparkivm.algebra.spark_functions import TABLE_FUNCTIONS
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend.accepted_expressions import check_accepted
from sparkivm.frontend.correlation import Correlation
from sparkivm.frontend.expressions import SubqueryColumn, resolve
from sparkivm.frontend.generators import generated, is_generator, made_in_from
from sparkivm.frontend.pivots import pivoted
from sparkivm.frontend.place import not_supported, not_understood
from sparkivm.frontend.scope import Scope, Visible, has_name, under_names
from sparkivm.frontend.subqueries import Subqueries

if TYPE_CHECKING:
    from sparkivm.frontend.query import QueryReader


class FromReader:
    """Reads one FROM clause."""

    def __init__(self, reader: QueryReader) -> None:
        self._reader = reader

    def read(self, select: exp.Select) -> tuple[Relation, Scope]:
        source = select.args.get("from_")
        if source is None:
            return Project(OneRow(), (("__ivm_one", integer(1)),)), Scope()
        relation, scope = self._item(source.this)
        for join in select.args.get("joins") or ():
            relation, scope = self._join(relation, scope, join)
        for view in select.args.get("laterals") or ():
            relation, scope = self._lateral_view(relation, scope, view)
        return relation, scope

    def _lateral_view(self, input: Relation, scope: Scope, node: exp.Lateral) -> tuple[Relation, Scope]:
        """Each row, joined to the rows that a function makes from it."""
        call = self._generator(node, replace(scope, outer=self._reader.outer))
        outer = bool(node.args.get("outer"))
        rows, visible = generated(input, call, _column_aliases(node), self._reader.names, outer=outer)
        return rows, scope.joined(_aliased(visible, node.alias))

    @staticmethod
    def _generator(node: exp.Lateral, scope: Scope) -> exp.Expr:
        if not is_generator(node.this):
            raise not_supported("a table function in FROM", node)
        return resolve(node.this, scope)

    def _lateral(
        self, left: Relation, scope: Scope, node: exp.Lateral, join: exp.Join
    ) -> tuple[Relation, Scope]:
        """Each row, joined to the rows of a subquery or function that may use its columns."""
        side, kind, method = join.side.upper(), join.kind.upper(), join.method.upper()
        condition = join.args.get("on")
        if isinstance(condition, exp.Boolean) and condition.this:
            condition = None
        if side not in ("", "LEFT") or kind in ("SEMI", "ANTI") or method or join.args.get("using"):
            raise not_supported(f"{_join_name(join)} LATERAL", join)
        if isinstance(node.this, exp.Subquery):
            inner, visible = self._reader.read_subquery(node.this, scope, exists=False)
            visible = _with_column_aliases(visible, node)
        elif condition is None and side == "LEFT":
            # Spark keeps no row for which the function makes none, unlike LATERAL VIEW OUTER.
            what = "LEFT JOIN LATERAL of a table function without a condition; write LATERAL VIEW OUTER"
            raise not_supported(what, join)
        elif condition is None:
            return self._lateral_view(left, scope, node)
        elif side == "":
            rows, both = self._lateral_view(left, scope, node)
            return Filter(rows, self._condition(condition, both)), both
        else:
            call = self._generator(node, Scope(outer=replace(scope, outer=self._reader.outer)))
            inner, visible = made_in_from(call, _column_aliases(node), self._reader.names)
        bound = Correlation(left, self._reader.names).bind(inner)
        both = scope.joined(_aliased(visible, node.alias))
        predicates = [equal(pair.left, pair.right, pair.null_safe) for pair in bound.pairs()]
        if condition is not None:
            predicates.extend(conjuncts(self._condition(condition, both)))
        if side == "LEFT":
            on = JoinCondition.of(predicates, left.columns, bound.relation.columns)
            return LeftJoin(left, bound.relation, on), both
        return InnerJoin((left, bound.relation), tuple(predicates)), both

    def _condition(self, tree: exp.Expr, scope: Scope, subquery: SubqueryColumn | None = None) -> Scalar:
        """An ON over the columns of both sides, and of the outer queries."""
        resolved = resolve(tree, replace(scope, outer=self._reader.outer), subquery=subquery)
        check_accepted(resolved)
        return Scalar(resolved)

    def _join(self, left: Relation, left_scope: Scope, join: exp.Join) -> tuple[Relation, Scope]:
        if join.this.args.get("pivots"):
            # Spark pivots the result of all joins before it, but not a relation behind a comma.
            raise not_understood("PIVOT behind a join without a condition", join.this)
        if isinstance(join.this, exp.Lateral):
            relation, scope = self._lateral(left, left_scope, join.this, join)
        else:
            relation, scope = self._joined(left, left_scope, join)
        return self._pivoted(relation, scope, join)

    def _pivoted(
        self, relation: Relation, scope: Scope, node: exp.Expr, alias: str = ""
    ) -> tuple[Relation, Scope]:
        """Apply the PIVOT and UNPIVOT behind a table or a join; `alias` is the default alias."""
        for pivot in node.args.get("pivots") or ():
            relation, visible = pivoted(relation, scope, pivot, self._reader.names)
            scope = _aliased(_with_column_aliases(visible, pivot), pivot.alias or alias)
        return relation, scope

    def _joined(self, left: Relation, left_scope: Scope, join: exp.Join) -> tuple[Relation, Scope]:
        right, right_scope = self._item(join.this)
        side, kind, method = join.side.upper(), join.kind.upper(), join.method.upper()
        if method not in ("", "NATURAL") or kind not in ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"):
            raise not_supported(_join_name(join), join)
        using = [identifier.name for identifier in join.args.get("using") or ()]
        if method == "NATURAL":
            using = _names_of_both(left_scope, right_scope, join)
        for name in using:
            if any(_times(name, scope) != 1 for scope in (left_scope, right_scope)):
                raise not_understood(f"USING names {name}, which one side lacks or has twice", join)
        predicates = [equal(left_scope.named(name)[1], right_scope.named(name)[1]) for name in sorted(using)]
        on, inner = join.args.get("on"), side == "" and kind not in ("SEMI", "ANTI")
        subqueries = Subqueries(self._reader)
        if on is not None:
            both = left_scope.joined(right_scope)
            predicates.extend(conjuncts(self._condition(on, both, subqueries.column)))
        if subqueries.waiting and not inner:
            tested_first = () if side == "FULL" else (left if side == "RIGHT" else right).columns
            subqueries.refuse_not_in(predicates, frozenset(tested_first), join)
            left, right = subqueries.beside(left, right, join)
        if kind in ("SEMI", "ANTI"):
            condition = JoinCondition.of(predicates, left.columns, right.columns)
            return SemiJoin(left, right, condition, anti=kind == "ANTI"), left_scope.led_by(using)
        scope = left_scope.joined(right_scope, using, keep_right=side == "RIGHT")
        if side == "FULL":
            full = FullJoin(left, right, JoinCondition.of(predicates, left.columns, right.columns))
            return self._merged(full, using, left_scope, right_scope)
        if side == "LEFT":
            return LeftJoin(left, right, JoinCondition.of(predicates, left.columns, right.columns)), scope
        if side == "RIGHT":
            return LeftJoin(right, left, JoinCondition.of(predicates, right.columns, left.columns)), scope
        above = [p for p in predicates if p.columns & subqueries.waiting]
        joined: Relation = InnerJoin((left, right), tuple(p for p in predicates if p not in above))
        for predicate in above:
            joined = subqueries.filtered(joined, predicate)
        return joined, scope

    def _merged(
        self, join: FullJoin, using: Sequence[str], left: Scope, right: Scope
    ) -> tuple[Relation, Scope]:
        """FULL JOIN USING shows the column of the side that has a row."""
        if not using:
            return join, left.joined(right)
        shared: list[Visible] = []
        items: dict[str, Scalar] = {name: column(name) for name in join.columns}
        for name in using:
            (shown, mine), (_, theirs) = left.named(name), right.named(name)
            merged = self._reader.names.fresh(name)
            items[merged] = expression("coalesce(l, r)", l=mine, r=theirs)
            shared.append((shown, merged))
        scope = left.joined(right, using)
        keys, rest = scope.star[: len(using)], scope.star[len(using) :]
        scope = replace(scope, star=[*shared, *rest], hidden=[*keys, *scope.hidden])
        return Project(join, tuple(items.items())), scope

    def _item(self, node: exp.Expr) -> tuple[Relation, Scope]:
        if isinstance(node, exp.Table):
            relation, scope = self._table(node)
        elif isinstance(node, exp.Subquery) and _is_relation(node.this):
            relation, scope = self._item(node.this)
            if node.alias:
                scope = _aliased(_with_column_aliases(scope.star, node), node.alias)
        elif isinstance(node, exp.Values):
            relation, visible = self._values(node)
            scope = _aliased(_with_column_aliases(visible, node), node.alias)
        elif isinstance(node, exp.Subquery):
            relation, visible = self._reader.rows(node)
            scope = _aliased(_with_column_aliases(visible, node), node.alias)
        else:
            raise not_supported(f"{type(node).__name__.upper()} in FROM", node)
        relation, scope = self._pivoted(relation, scope, node, node.alias)
        for join in node.args.get("joins") or ():
            relation, scope = self._join(relation, scope, join)
        return relation, scope

    def _values(self, node: exp.Values) -> tuple[Relation, list[Visible]]:
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
        if any(len(row) == 1 and isinstance(row[0].unnest(), (exp.Struct, exp.Tuple)) for row in rows):
            # Spark takes the fields of a single struct for columns.
            raise not_understood("a row of VALUES that is one struct", node)
        visible = [(f"col{i + 1}", self._reader.names.fresh(f"col{i + 1}")) for i in range(len(rows[0]))]
        inputs: list[Relation] = []
        for row in rows:
            if len(row) != len(visible):
                raise not_understood("rows of VALUES differ in length", node)
            trees = [resolve(value, Scope()) for value in row]
            for tree in trees:
                check_accepted(tree)
            items = ((name, Scalar(tree)) for (_, name), tree in zip(visible, trees, strict=True))
            inputs.append(Project(OneRow(), tuple(items)))
        return (UnionAll(tuple(inputs)) if len(inputs) > 1 else inputs[0]), visible

    def _table_function(self, node: exp.Table) -> tuple[Relation, Scope]:
        if isinstance(node.this, exp.Dot):
            raise not_supported(
                f"{node.sql(dialect='spark')}: a table function whose name has a schema", node
            )
        if spark_name(node.this) not in TABLE_FUNCTIONS:
            raise not_supported("a table function in FROM", node)
        call = resolve(node.this, Scope())
        relation, visible = made_in_from(call, _column_aliases(node), self._reader.names)
        return relation, _aliased(visible, node.alias)

    def _table(self, node: exp.Table) -> tuple[Relation, Scope]:
        if not isinstance(node.this, exp.Identifier):
            return self._table_function(node)
        parts = tuple(part.name for part in node.parts)
        cte = self._reader.cte(parts)
        if cte is not None:
            relation, visible = self._reader.instance_of(cte)
        else:
            found = self._reader.lookup(parts)
            if found.kind == "view":
                relation, visible = self._reader.read_view(found, node)
            else:
                # Sorted by name, so that the plan does not depend on the order of the table's columns.
                types = {field.name: field.declared_type for field in found.fields}
                names = {source: self._reader.names.fresh(source) for source in sorted(types)}
                relation = Scan(found.key, tuple((name, source) for source, name in names.items()))
                self._reader.names.types |= {name: types[source] for source, name in names.items()}
                visible = [(field.name, names[field.name]) for field in found.fields]
        visible = _with_column_aliases(visible, node)
        return relation, _aliased(visible, *([node.alias] if node.alias else parts))


def _join_name(join: exp.Join) -> str:
    return " ".join(word.upper() for word in (join.method, join.side, join.kind, "JOIN") if word)


def _aliased(visible: list[Visible], *name: str) -> Scope:
    """Columns under an alias ("" for none), or under the parts of a table's name."""
    entry = (tuple(part.lower() for part in name), list(visible))
    return Scope(list(visible), [entry] if any(name) else [])


def _is_relation(node: exp.Expr) -> bool:
    """Whether parentheses in FROM hold a relation with its joins and alias, rather than a query."""
    if isinstance(node, exp.Subquery):
        return any(node.args.get(part) for part in ("alias", "joins", "pivots")) or _is_relation(node.this)
    return not isinstance(node, exp.Query)


def _names_of_both(left: Scope, right: Scope, join: exp.Join) -> list[str]:
    """The columns that a NATURAL join compares."""
    if not all(map(has_name, (*left.star, *right.star))):
        raise not_understood("NATURAL JOIN of a column without a name", join)
    theirs = {name for name, _ in right.star}
    using = [name for name, _ in left.star if name in theirs]
    if len(using) < sum(1 for name, _ in left.star if _times(name, right)):
        # Whether these count as one name depends on Spark's version.
        raise not_understood("NATURAL JOIN of columns whose names differ only in case", join)
    return using


def _times(name: str, scope: Scope) -> int:
    """How many of the columns of `*` have this name."""
    return sum(1 for shown, _ in scope.star if shown.lower() == name.lower())


def _with_column_aliases(visible: list[Visible], node: exp.Expr) -> list[Visible]:
    names = _column_aliases(node)
    return under_names(visible, names, node) if names else visible


def _column_aliases(node: exp.Expr) -> list[str]:
    """The column names in `AS alias (a, b)`; empty if there are none."""
    alias = node.args.get("alias")
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    return [identifier.name for identifier in columns or ()]
