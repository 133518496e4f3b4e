"""A driver dies or a statement fails, at any boundary of any kind of refresh: the next ordinary run ends well."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import pytest

from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from tests.fake_engine.engine import Killed
from tests.fake_engine.statements import execute
from tests.refresh.conftest import BY_K
from tests.refresh.lab import Lab, View

MiB = 1 << 20
EXTREMA = "select k, max(x) as m, sum(x) as s from t group by k"
ROWS = "select t.id, t.x, u.y from t left join u on t.k = u.k"
INNER = "select n, count(*) as c from (select k, count(*) as n from t group by k) group by n"
OTHER_INNER = "select s, count(*) as c from (select k, sum(x) as s from t group by k) group by s"
OF_FILES = "select k, count(*) as n, sum(x) as s from p group by k"


@dataclass(frozen=True)
class Kind:
    """A pending refresh.

    sql      the view's query
    size     the state's size
    before   statements of others before the view is built
    meanwhile  statements of others after the build, so that there is something to do
    options  of the refresh; those in `always` also of the build
    """

    sql: str = BY_K
    size: int = 1000
    before: tuple[str, ...] = ()
    meanwhile: tuple[str, ...] = ("insert into t values (4, 2, 8), (5, 3, 1)", "delete from t where id = 1")
    then: str = ""
    always: tuple[tuple[str, object], ...] = ()
    full_refresh: bool = False
    is_new: bool = False
    days: float = 0
    setting: str = ""


PARQUET = (
    "create table p (id int, k int, x int) using parquet",
    "insert into p values (1, 1, 1), (2, 1, 2), (2, 1, 2)",
)
AUXILIARY = (("auxiliary_views", "always"),)
KINDS = {
    "create": Kind(is_new=True),
    "create with capture": Kind(
        "select k, x from plain", before=("create table plain (k int, x int) using delta", "insert into plain values (1, 1)"), is_new=True
    ),
    "create with a mirror": Kind(OF_FILES, before=PARQUET, is_new=True),
    "create with an auxiliary view": Kind(INNER, always=AUXILIARY, is_new=True),
    "append": Kind(),
    "rewrite": Kind(EXTREMA),
    "replace": Kind(EXTREMA, size=9 * MiB),
    "merge": Kind(EXTREMA.replace("k,", "cast(k as decimal(5,0)) as k,", 1).replace("by k", "by cast(k as decimal(5,0))"), size=9 * MiB),
    "rows": Kind(ROWS, meanwhile=("insert into u values (2, 7)", "update t set x = 5 where id = 2")),
    "rows of a large state": Kind("select id, k, x from t where x > 0", size=9 * MiB),
    "asked for": Kind(full_refresh=True),
    "another query": Kind(then=EXTREMA),
    "another setting": Kind(setting="spark.sql.session.timeZone"),
    "a state that was written to": Kind(meanwhile=("delete from m__ivm where k = 1",)),
    "a source that was replaced": Kind(meanwhile=("drop table t", "create table t (id int, k int, x int) using delta", "insert into t values (8, 8, 8)")),
    "a frontier to be renewed": Kind(meanwhile=(), days=20),
    "a public view that is gone": Kind(meanwhile=("drop view m",)),
    "an auxiliary view": Kind(INNER, always=AUXILIARY),
    "another auxiliary view": Kind(INNER, always=AUXILIARY, then=OTHER_INNER),
    "no auxiliary view any more": Kind(INNER, always=AUXILIARY, then=BY_K),
    "a mirror": Kind(OF_FILES, before=PARQUET, meanwhile=("insert into p values (3, 2, 5)",)),
    "a mirror that loses rows": Kind(OF_FILES, before=PARQUET, meanwhile=("insert overwrite p select * from p where id = 1",)),
}  # fmt: skip


def waiting(kind: Kind) -> View:
    lab = Lab()
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    lab.table("u", "k int, y int", "(1, 1)")
    lab.run(*kind.before)
    lab.resize("m__ivm", kind.size)
    view = lab.view("m", kind.sql, **dict(kind.always))
    if kind.is_new:
        return view
    view.build()
    lab.run(*kind.meanwhile)
    if kind.days:
        lab.grow_older("m__ivm", kind.days)
    return view.with_(sql=kind.then or kind.sql, full_refresh=kind.full_refresh)


@pytest.fixture(scope="module")
def of_kind() -> Callable[[str], View]:
    """Gives a pending refresh of a kind, in a laboratory of its own; each kind is prepared once."""
    prepared: dict[str, View] = {}

    def fresh(name: str) -> View:
        if name not in prepared:
            prepared[name] = waiting(KINDS[name])
        return fork(prepared[name], KINDS[name])

    return fresh


def fork(view: View, kind: Kind) -> View:
    lab = view.lab.fork()
    if kind.setting:
        lab.engine.set({kind.setting: "Asia/Tokyo"})
    return view.on(lab)


def dies(view: View, at: int) -> None:
    view.lab.engine.is_killed(at, "after")


def fails(view: View, at: int) -> None:
    view.lab.engine.fails(at, "[CONNECTION_LOST] it was never run")


def is_lost(view: View, at: int) -> None:
    view.lab.engine.fails(at, "[CONNECTION_LOST] no answer", when="after")


def runs_twice(view: View, at: int) -> None:
    engine = view.lab.engine
    engine.after(at, lambda: execute(engine.session, engine.ran[at - 1]))


WAYS = (dies, fails, is_lost, runs_twice)
OF_THE_SESSION = ("cache", "create global", "drop view if exists `__ivm", "refresh")


def ways_at(statement: str) -> tuple[Callable[[View, int], None], ...]:
    """What can go wrong at a statement. Effects that only the session sees are lost with it anyway."""
    return (dies, fails) if statement.startswith(OF_THE_SESSION) else WAYS


@pytest.mark.parametrize("name", KINDS)
def test_the_next_run_ends_well(name, of_kind):
    kind = KINDS[name]
    whole = of_kind(name)
    expected = whole.refresh()
    whole.check()
    assert expected.statements, "no statement to die at"
    for at in range(1, len(whole.lab.engine.ran) + 1):
        for way in ways_at(whole.lab.engine.ran[at - 1]):
            broken = of_kind(name)
            way(broken, at)
            with suppress(Killed, EngineError, ModelError):
                broken.refresh()
            healed = broken.on(broken.lab.another()).with_(full_refresh=False)
            if kind.setting:
                healed.lab.engine.set({kind.setting: "Asia/Tokyo"})
            where = f"{way.__name__} at {at}: {whole.lab.engine.ran[at - 1][:60]!r}"
            assert healed.refresh().mode in ("create", "no_op", "incremental", "full"), where
            assert healed.differences() == [], where
            assert healed.refresh().mode == "no_op", where
            assert healed.lab.names() == whole.lab.names(), where
            for relation in ("t", "u"):
                if relation not in expected.statements[0] and not kind.full_refresh:
                    assert healed.lab.version(relation) == whole.lab.version(relation), where


def test_each_kind_does_what_its_name_says(of_kind):
    """Otherwise the test above would interrupt something other than it claims."""
    modes = {name: of_kind(name).refresh() for name in KINDS}
    for name, result in modes.items():
        if name in ("append", "rewrite", "replace", "merge"):
            assert result.apply_form == name
        assert (result.mode == "create") == name.startswith("create")
    rebuilt = {name for name, result in modes.items() if result.mode == "full"}
    assert rebuilt == {
        "asked for", "another query", "another setting", "a state that was written to", "a source that was replaced",
        "another auxiliary view", "no auxiliary view any more",
    }  # fmt: skip
    assert {name for name, result in modes.items() if result.mode == "no_op"} == {
        "a frontier to be renewed",
        "a public view that is gone",
    }


@pytest.mark.parametrize("when", ["before", "after"])
def test_nothing_is_applied_twice_by_the_run_that_follows(when, of_kind):
    """A commit that exists is not repeated; a commit that is missing is done completely."""
    for name in ("append", "rewrite", "replace", "merge", "rows", "rows of a large state"):
        view = of_kind(name)
        statements = (
            "insert into `shop`.`m__ivm`",
            "insert overwrite `shop`.`m__ivm`",
            "merge into `shop`.`m__ivm`",
        )
        for statement in statements:
            view.lab.engine.is_killed(statement, when)
        with pytest.raises(Killed):
            view.refresh()
        again = view.on(view.lab.another())
        again.must_be("no_op" if when == "after" else "incremental")
        assert [o for o in again.operations() if o != "SET TBLPROPERTIES"][1:] in (["WRITE"], ["MERGE"]), name


OPERATIONS: dict[str, tuple[Kind, Callable[[View], object]]] = {
    "drop": (Kind(), lambda view: view.drop()),
    "drop with an auxiliary view": (
        Kind(INNER, always=AUXILIARY),
        lambda view: view.drop(),
    ),
    "capture": (
        Kind(OF_FILES, before=PARQUET, meanwhile=("insert overwrite p select * from p where id = 1",)),
        lambda view: view.lab.capture("p"),
    ),
    "no mirror any more": (
        Kind(OF_FILES, before=PARQUET),
        lambda view: view.lab.capture("p", remove=True),
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_that_died_is_done_again(name):
    kind, operate = OPERATIONS[name]
    view = waiting(kind)
    whole = fork(view, kind)
    operate(whole)
    for at in range(1, len(whole.lab.engine.ran) + 1):
        for way in WAYS:
            broken = fork(view, kind)
            way(broken, at)
            with suppress(Killed, EngineError, ModelError):
                operate(broken)
            healed = broken.on(broken.lab.another())
            with suppress(ModelError):  # if only the answer was lost, nothing is left to drop
                operate(healed)
            assert healed.lab.names() == whole.lab.names(), f"{way.__name__} at {at}"
            if "capture" in name:
                rows = partial(healed.lab.rows)
                assert sorted(rows("select * from p")) == sorted(rows("select * from p__ivm_mirror"))
