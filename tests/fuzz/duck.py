"""A view on an embedded engine: built, refreshed from deltas, compared with its query computed afresh."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import duckdb
import sqlglot

from sparkivm.algebra import Derivation, Relation
from sparkivm.algebra.project import renamed
from sparkivm.engine import Field
from sparkivm.frontend.catalog import CatalogTable
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.select import read_query
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.plan import bag_changes, group_changes
from sparkivm.plan.compile_model import ViewPlan, compile_query
from sparkivm.plan.state import GroupState
from sparkivm.spark_sql.dialects import DUCKDB
from sparkivm.spark_sql.relations import select_text
from tests.fuzz.random_data import COLUMNS, TABLES, Change, Row, applied

_TO_DUCKDB = {"string": "varchar"}
_TO_SPARK = {"INTEGER": "int", "BIGINT": "bigint", "VARCHAR": "string", "DOUBLE": "double", "BOOLEAN": "boolean", "HUGEINT": "decimal(38,0)"}  # fmt: skip


class Catalog:
    """The tables of `random_data`."""

    def lookup(self, parts: tuple[str, ...], namespace: tuple[str, ...]) -> CatalogTable:
        assert parts[-1] in TABLES, parts
        return CatalogTable(parts[-1], tuple(Field(name, type_) for name, type_ in COLUMNS))


class Sources:
    """Old, new and changed rows of each table are tables of their own."""

    def new(self, table: str) -> str:
        return "state" if table == group_changes.STATE else table

    def old(self, table: str) -> str:
        return f"{table}_old"

    def changes(self, table: str, fields: Sequence[str]) -> str:
        return f'select {", ".join([*fields, "w"])} as "__ivm_w" from {table}_changes'


class Database:
    """One in-memory database with the random tables."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("set threads = 1")
        self.connection.execute("create macro raise_error(message) as error(message)")
        self.rows: dict[str, list[Row]] = {table: [] for table in TABLES}
        columns = ", ".join(f"{name} {_TO_DUCKDB.get(type_, type_)}" for name, type_ in COLUMNS)
        for table in TABLES:
            self.connection.execute(f"create table {table} ({columns})")
            self.connection.execute(f"create table {table}_old ({columns})")
            self.connection.execute(f"create table {table}_changes ({columns}, w bigint)")

    def load(self, rows: dict[str, list[Row]]) -> None:
        for table, content in rows.items():
            self.rows[table] = content
            self._fill(table, content)

    def change(self, changes: dict[str, Change]) -> None:
        """Commit a change of every table; until the next one the old rows and the delta can be read."""
        for table in TABLES:
            change = changes.get(table, Change((), ()))
            self._fill(f"{table}_old", self.rows[table])
            self.rows[table] = applied(self.rows[table], change)
            self._fill(table, self.rows[table])
            self._fill(f"{table}_changes", [*((*r, -1) for r in change.deleted), *((*r, 1) for r in change.inserted)])

    def _fill(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        self.connection.execute(f"delete from {table}")
        if rows:
            marks = ", ".join(["(" + ", ".join("?" * len(rows[0])) + ")"] * len(rows))
            self.connection.execute(f"insert into {table} values {marks}", [v for row in rows for v in row])

    def bag(self, sql: str) -> Counter[Any]:
        return Counter(tuple(_comparable(v) for v in row) for row in self.connection.execute(sql).fetchall())

    def types(self, sql: str) -> list[Field]:
        found = self.connection.execute(f"describe {sql}").fetchall()
        return [Field(row[0], _spark_type(row[1])) for row in found]


class View:
    """One model: its plan, and its state table `state`."""

    def __init__(self, database: Database, sql: str) -> None:
        self.database, self.sql = database, sql
        tree = parse_model("model", sql)
        self.recomputation = sqlglot.transpile(sql, read="spark", write="duckdb")[0]
        query = read_query(tree, Catalog())
        fields = tuple(database.types(self.recomputation))
        self.plan: ViewPlan = compile_query(query, fields, self._types_of)
        self.entries = "one"

    def _types_of(self, relation: Relation) -> tuple[str, ...]:
        return tuple(field.type for field in self.database.types(select_text(relation, Sources(), DUCKDB)))

    def build(self) -> None:
        self._store(self._content())

    def _content(self) -> Relation:
        state = self.plan.state
        return state.content if isinstance(state, GroupState) else renamed(state.core, state.columns)

    def refresh(self, rng: random.Random, insert_only: bool, changed: frozenset[str]) -> str:
        """Apply the deltas by one of the forms that may be used here; says which."""
        state, d = self.plan.state, Derivation(changed & self.plan.tables)
        if not changed & self.plan.tables:
            return "no_op"
        if isinstance(state, GroupState):
            if state.linear:
                form = rng.choice(("append", "rewrite"))
                if form == "append":
                    self._insert(group_changes.entries(state, d))
                    self.entries = "several"
                else:
                    self._store(group_changes.folded(state, group_changes.entries(state, d)))
                    self.entries = "one"
                return form
            change = group_changes.changed_groups(state, d)
            self._store(group_changes.replaced(state, change))
            return "rewrite_groups"
        forms = ["rewrite", "merge"] + (["append"] if insert_only and _monotone(self.plan.core) else [])
        form = rng.choice(forms)
        if form == "append":
            self._insert(bag_changes.appended(state, d))
        elif form == "rewrite":
            self._store(bag_changes.replaced(state, d))
        else:
            rows = bag_changes.merged(state, d)
            self.database.connection.execute(f"create or replace table source as {self._text(rows.rows)}")
            match = " and ".join(f'state."{n}" is not distinct from s."{n}"' for n in state.names)
            self.database.connection.execute(
                f'delete from state where exists (select 1 from source s where s."{bag_changes.MATCH}" and {match})'
            )
            names = ", ".join(f'"{n}"' for n in state.names)
            self.database.connection.execute(
                f'insert into state ({names}) select {names} from source where not "{bag_changes.MATCH}"'
            )
        return form

    def difference(self) -> tuple[Counter[Any], Counter[Any]]:
        """(rows the view has too many, rows it lacks), for the public view."""
        public = self.plan.finalizer.text("state", self.entries, DUCKDB)  # type: ignore[arg-type]
        have, want = self.database.bag(public), self.database.bag(self.recomputation)
        return have - want, want - have

    def state_difference(self) -> tuple[Counter[Any], Counter[Any]]:
        """The same for the hidden columns, against a state built afresh."""
        state = self.plan.state
        if isinstance(state, GroupState) and self.entries == "several":
            have = self.database.bag(self._text(group_changes.folded(state)))
        else:
            have = self.database.bag("select * from state")
        want = self.database.bag(self._text(self._content()))
        if isinstance(state, GroupState):
            have, want = _without_moot_sums(state, have), _without_moot_sums(state, want)
        return have - want, want - have

    def _text(self, relation: Relation) -> str:
        return select_text(prune_empty(relation), Sources(), DUCKDB)

    def _store(self, relation: Relation) -> None:
        self.database.connection.execute(f"create or replace table state_next as {self._text(relation)}")
        self.database.connection.execute("create or replace table state as select * from state_next")

    def _insert(self, relation: Relation) -> None:
        names = ", ".join(f'"{name}"' for name in self.plan.state.names)
        self.database.connection.execute(f"insert into state ({names}) {self._text(relation)}")


def _monotone(core: Relation) -> bool:
    from sparkivm.properties.append_only import keeps_append_only

    return keeps_append_only(core)


def _without_moot_sums(state: GroupState, rows: Counter[Any]) -> Counter[Any]:
    """A sum of no values is NULL or 0, and means nothing."""
    names = state.names
    result: Counter[Any] = Counter()
    for row, count in rows.items():
        values = dict(zip(names, row, strict=True))
        for entry in state.columns:
            if entry.kind == "sum" and not values[entry.counted_by]:
                values[entry.name] = None
        if state.keys and values[state.columns[0].name] == 0:
            continue
        result[tuple(values.values())] += count
    return result


def _comparable(value: Any) -> Any:
    return round(value, 9) if isinstance(value, float) else value


def _spark_type(type_: str) -> str:
    return _TO_SPARK.get(type_, type_.lower().replace(" ", ""))
