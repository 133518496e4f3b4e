"""Random projects: several views share sources, plain views and what a run keeps in memory."""

from __future__ import annotations

import random

import pytest

from sparkivm.reasons import Reason
from sparkivm.refresh.sources.pins import Pins
from tests.refresh.lab import FEED, Lab, View

LARGE = 1 << 30  # bytes: reads of the table are cut to the changed keys
MANY = 60_000  # changed rows: they are netted before they are read
FOR_COST = (Reason.CHEAPER_IN_FULL, Reason.CHANGE_TOO_LARGE)
PLAIN = {
    "sold": "select f.id, f.k, f.x, d.name, d.status, d.z from f join d on f.k = d.k",
    "placed": "select f.id, f.j, f.x, e.label, e.k from f join e on e.j = f.j where f.x > 1",
}
RELATIONS = {
    "f join d on f.k = d.k": ("f.id", "f.x", "d.name", "d.status", "d.z"),
    "f left join d on f.k = d.k": ("f.id", "f.k", "d.name", "d.z"),
    "f join e on f.j = e.j join d on e.k = d.k": ("f.x", "e.label", "d.status"),
    "d left join e on d.k = e.k": ("d.name", "d.status", "e.label"),
    "sold": ("sold.name", "sold.status", "sold.x", "sold.z"),
    "sold join e on sold.k = e.k": ("sold.x", "sold.status", "e.label"),
    "placed": ("placed.label", "placed.x", "placed.k"),
    "placed join sold on placed.id = sold.id": ("placed.label", "sold.name", "sold.z"),
    "d": ("d.name", "d.status", "d.z"),
    "f where exists (select 1 from d where d.k = f.k and d.z > 1)": ("f.id", "f.x"),
    "f where not exists (select 1 from e where e.j = f.j and e.label = 'a')": ("f.k", "f.x"),
}
TABLES = {
    "f": ("id int, k int, j int, x int", ("id", "k", "j", "x")),
    "d": ("k int, name string, status string, z int", ("k", "name", "status", "z")),
    "e": ("j int, label string, k int", ("j", "label", "k")),
}


class Project:
    """Tables and views, written to and refreshed by one source of random choices."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lab = Lab()
        for table, (columns, _) in TABLES.items():
            self.lab.table(table, columns, *(self._row(table) for _ in range(12 if table == "f" else 6)))
            self.lab.resize(table, self.rng.choice((None, LARGE)))
        for name, sql in PLAIN.items():
            self.lab.run(f"create view {name} as {sql}")
        self.views: list[View] = []
        for number in range(5):
            self.views.append(self._view(f"v{number}").build())

    def _view(self, name: str) -> View:
        below = dict[str, tuple[str, ...]]()
        for view in self.views:
            for row in self.lab.session.rows(f"select * from {view.name}")[:1]:
                below[f"{view.name} as b"] = tuple(f"b.{column}" for column in row)
                for column, value in row.items():
                    if isinstance(value, int):
                        join = f"{view.name} as b join d on d.z = b.{column}"
                        below[join] = (f"b.{column}", "d.name", "d.status")
        relation, columns = self.rng.choice([*RELATIONS.items(), *below.items()])
        chosen = self.rng.sample(columns, self.rng.randint(1, min(2, len(columns))))
        items = ", ".join(f"{column} as c{number}" for number, column in enumerate(chosen))
        sql = self.rng.choice(
            (
                f"select {items} from {relation}",
                f"select {items} from {relation}",
                f"select {chosen[0]} as c0, count(*) as n, count({chosen[-1]}) as m from {relation} group by {chosen[0]}",
                f"select {chosen[0]} as c0, max({chosen[-1]}) as m from {relation} group by {chosen[0]}",
                f"select distinct {items} from {relation}",
            )
        )
        return self.lab.view(
            name,
            sql,
            refresh_mode=self.rng.choice(("incremental", "incremental", "auto")),
            shared_relations=frozenset(f"shop.{name}" for name in PLAIN),
        )

    def _value(self, column: str) -> str:
        if column == "id":
            return str(self.rng.randint(1, 15))
        if column in ("name", "status", "label"):
            return self.rng.choice(("'a'", "'b'", "'c'", "null"))
        return self.rng.choice(("1", "2", "3", "4", "null"))

    def _row(self, table: str) -> str:
        return f"({', '.join(map(self._value, TABLES[table][1]))})"

    def write(self) -> None:
        """Somebody writes to a table."""
        table = self.rng.choice(sorted(TABLES))
        columns = TABLES[table][1]
        column, key = self.rng.choice(columns[1:]), columns[0]
        value, where = self._value(column), f"{key} = {self.rng.randint(1, 4)}"
        changed = ", ".join(
            f"if({where}, {value}, {name}) as {name}" if name == column else name for name in columns
        )
        kind = self.rng.choice(("insert", "update", "update", "delete", "replace", "replace", "rebuilt"))
        match kind:
            case "insert":
                self.lab.run(f"insert into {table} values {self._row(table)}, {self._row(table)}")
            case "update":
                self.lab.run(f"update {table} set {column} = {value} where {where}")
            case "delete":
                self.lab.run(f"delete from {table} where {where}")
            case "replace":
                self.lab.run(
                    f"create or replace table {table} using delta {FEED} as select {changed} from {table}"
                )
            case "rebuilt":
                self.lab.run(f"create or replace table {table} using delta {FEED} as select * from {table}")
        if self.rng.random() < 0.2:
            self.lab.says_many(table, MANY)

    def run(self) -> None:
        """Refresh most views, in the order of their dependencies, in one run; check their rows."""
        pins = Pins()
        refreshed = [view for view in self.views if self.rng.random() < 0.85]
        for view in refreshed:
            result = view.refresh(pins)
            assert not result.warnings
            assert result.fallback is None or result.fallback.reason in FOR_COST, result
            if result.mode != "no_op" and self.rng.random() < 0.3:
                self.lab.says_many(view.state, MANY)
        pins.memory.drop(self.lab.engine)
        for view in refreshed:
            view.check()


SEEDS = [*range(20), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(20, 300))]


@pytest.mark.parametrize("seed", SEEDS)
def test_each_view_equals_its_query_after_each_run(seed):
    project = Project(seed)
    for _ in range(4):
        for _ in range(project.rng.randint(1, 4)):
            project.write()
        project.run()
