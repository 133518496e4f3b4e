"""The public view's SELECT over the state table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import indent
from typing import Literal

from sqlglot import exp

from sparkivm.algebra import Aggregate, Project, Relation, Scalar
from sparkivm.algebra.scalar import column, null, replace_nodes
from sparkivm.engine import Field
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.run_constants import is_run_constant
from sparkivm.plan.split import Split
from sparkivm.plan.state import BagState, GroupState, State, stored
from sparkivm.spark.data_types import SparkType
from sparkivm.spark_sql.dialects import SPARK, SqlDialect
from sparkivm.spark_sql.relations import select_text
from sparkivm.spark_sql.source_texts import PlainTexts

_STORED = f"{RESERVED_PREFIX}stored"
Entries = Literal["one", "several"]  # per group, in a group state
Keeps = Callable[[SparkType], bool]


@dataclass(frozen=True)
class Finalizer:
    """query = finalizer(core), ready to be printed."""

    split: Split
    state: State
    fields: tuple[Field, ...]  # the public columns as Spark types them for the user's text

    @property
    def run_constants(self) -> frozenset[str]:
        """Public columns that are the same literal in every row."""
        columns = zip(self.split.output, self.fields, strict=True)
        return frozenset(field.name for scalar, field in columns if is_run_constant(scalar))

    @property
    def of_runs(self) -> frozenset[str]:
        """Public columns whose values come from the text of this refresh, or of earlier ones."""
        names = {stamp.name for stamp in self.state.stamps}
        columns = zip(self.split.output, self.fields, strict=True)
        return self.run_constants | {field.name for scalar, field in columns if scalar.as_column in names}

    @property
    def stored_columns(self) -> dict[str, str]:
        """The public columns that show a column of the state as it is: public name → column of the state."""
        formulas = {} if self.split.windows is not None else self._formulas()
        shown = (scalar.substitute(formulas).as_column for scalar in self.split.output)
        pairs = zip(self.fields, shown, strict=True)
        return {field.name: column for field, column in pairs if column in self.state.names}

    @property
    def without_run_constants(self) -> Finalizer:
        """The same with these literals replaced by NULL."""
        output = tuple(null() if is_run_constant(scalar) else scalar for scalar in self.split.output)
        return replace(self, split=replace(self.split, output=output))

    def text(
        self, state_table: str, entries: Entries, dialect: SqlDialect = SPARK, keeps: Keeps = lambda _: True
    ) -> str:
        """The SELECT that presents the state; it reads nothing else, so a reader always sees one commit.

        entries  "several": it adds up the entries of a group, so that a refresh may append some
        keeps    whether the state stores a column of a type as this type
        """
        formulas, source = self._formulas(), self._source(state_table, entries, dialect)
        if self.split.windows is not None and isinstance(self.state, GroupState):
            windows = _over_state(self.split.windows, self.state)
            text = select_text(windows, PlainTexts(lambda _: source), dialect)
            formulas, source = {}, _nested(text)
        items = [
            f"{self._typed(scalar.substitute(formulas), field, dialect, keeps)} as {dialect.name(field.name)}"
            for scalar, field in zip(self.split.output, self.fields, strict=True)
        ]
        sort = self._sort(formulas, dialect)
        text = f"select {', '.join(items)}\nfrom {source}"
        if sort and isinstance(self.state, GroupState):
            text += f" as {_STORED}"
        if self.split.having is not None:
            text += f"\nwhere {self.split.having.substitute(formulas).sql(dialect.scalars)}"
        if sort:
            text += f"\norder by {', '.join(sort)}"
        if self.split.limit is not None:
            text += f"\nlimit {self.split.limit}"
        if self.split.offset is not None:
            text += f"\noffset {self.split.offset}"
        return text

    def text_of_entries(self, state_table: str, dialect: SqlDialect = SPARK) -> str | None:
        """The SELECT that presents the entries of groups, for readers that add them up.

        A sum is shown as stored, even without values. None if the view cannot be added up this way.
        """
        if not (isinstance(self.state, GroupState) and self.state.linear):
            return None
        hidden = {(entry.function.name, entry.argument): entry.name for entry in self.state.columns}
        columns: dict[str, str | None] = {key: key for key in self.state.keys}
        columns |= {
            call.name: hidden.get((call.function.name, call.argument)) for call in self.state.core.calls
        }
        shown = [columns.get(scalar.as_column or "") for scalar in self.split.output]
        if None in shown or self.split.having is not None or self.split.windows is not None:
            return None
        items = (
            f"{dialect.name(name)} as {dialect.name(field.name)}"
            for name, field in zip(filter(None, shown), self.fields, strict=True)
        )
        return f"select {', '.join(items)}\nfrom {state_table}"

    def _sort(self, formulas: Mapping[str, Scalar], dialect: SqlDialect) -> list[str]:
        """The items of ORDER BY, with qualified columns, because a bare name is an output column first.

        Constants are left out: they sort nothing, and a number would be a position.
        """
        keys = [(scalar.substitute(formulas), key) for scalar, key in self.split.sort]
        if isinstance(self.state, GroupState):
            keys = [(_of_stored(scalar), key) for scalar, key in keys]
        return [
            f"{scalar.sql(dialect.scalars)} {'desc' if key.descending else 'asc'} "
            f"nulls {'first' if key.nulls_first else 'last'}"
            for scalar, key in keys
            if scalar.columns
        ]

    def _formulas(self) -> dict[str, Scalar]:
        if isinstance(self.state, GroupState):
            return dict(self.state.formulas)
        return {mine: column(name) for name, mine in self.state.columns}

    def _typed(self, scalar: Scalar, field: Field, dialect: SqlDialect, keeps: Keeps) -> str:
        """Gives an expression the type and nullability of a column of a table made from a query: nullable."""
        text = scalar.sql(dialect.scalars)
        of_bag = isinstance(self.state, BagState) and not is_run_constant(scalar)
        stored = of_bag or scalar.as_column in getattr(self.state, "keys", ())
        if (stored and keeps(field.spark_type)) or not field.type or dialect is not SPARK:
            return text
        tree = scalar.tree
        may_be_null = (isinstance(tree, exp.Column) and self.split.windows is None) or (
            isinstance(tree, exp.Case) and not tree.args.get("default")
        )
        if not may_be_null:
            text = f"if(true, {text}, null)"
        return f"cast({text} as {field.spark_type.cast_text})"

    def _source(self, table: str, entries: Entries, dialect: SqlDialect) -> str:
        if entries == "several" and isinstance(self.state, GroupState) and self.state.linear:
            return _nested(added_up(self.state, table, dialect))
        return table


def _nested(text: str) -> str:
    return f"(\n{indent(text, '  ')}\n)"


def _of_stored(scalar: Scalar) -> Scalar:
    """The expression with its columns qualified by the item that is read."""

    def replacement(node: exp.Expr) -> exp.Expr | None:
        return exp.column(node.this.copy(), table=_STORED) if isinstance(node, exp.Column) else None

    return Scalar(replace_nodes(scalar.tree, replacement))


def _over_state(node: Relation, state: GroupState) -> Relation:
    """Windows, and the operators between them and the groups, over the state's groups."""
    if not isinstance(node, Aggregate):
        return node.with_children(tuple(_over_state(child, state) for child in node.children))
    return Project(stored(state), (*((key, column(key)) for key in state.keys), *state.formulas))


def added_up(state: GroupState, table: str, dialect: SqlDialect = SPARK) -> str:
    """One row per group from the entries of a linear state."""
    keys = [dialect.name(key) for key in state.keys]
    names = [dialect.name(entry.name) for entry in state.columns]
    values = zip(state.columns, names, strict=True)
    totals = [f"{entry.additive.of_entries(name)} as {name}" for entry, name in values]
    text = f"select {', '.join([*keys, *totals])}\nfrom {table}"
    if not keys:
        return text
    return f"{text}\ngroup by {', '.join(keys)}\nhaving sum({names[0]}) > 0"


def duplicate(names: Sequence[str]) -> str | None:
    """The first name that occurs twice, compared as Spark does."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            return name
        seen.add(name.lower())
    return None
