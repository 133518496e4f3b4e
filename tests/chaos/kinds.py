"""The kinds of refresh that we disturb: what changes before each, and the result without a fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from sparkivm.errors import ModelError
from sparkivm.reasons import Reason
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.result import Mode, RefreshResult
from sparkivm.refresh.stored.drop_view import drop_incremental_view
from tests.spark.lab import Lab, View
from tests.spark.state_sizes import Size
from tests.spark.test_steps import NESTED

SUMS = "select k, count(*) as n, sum(x) as s from t group by k"
EXTREMA = "select k, max(x) as most, min(id) as first_id, sum(x) as s from t group by k"
ROWS = "select t.id, t.x, u.y from t join u on t.k = u.k"
SUMS_AND_MEANS = "select k, count(*) as n, sum(x) as s, sum(x) / count(*) as mean from t group by k"
ROWS_AND_TWICE = "select t.id, t.x, u.y, t.x * 2 as twice from t join u on t.k = u.k"
INNER = "select n, count(*) as groups from (select k, count(*) as n from t group by k) group by n"
MIRRORED = "select k, count(*) as n, sum(x) as s from p group by k"
RANDOM = "select id, x from t where rand() < 2"
NUMBERED = "select id, k, row_number() over (partition by k order by x, id) as n from t"
OUTER = "select t.id, t.x, u.y from t full join u on t.k = u.k"
ANTI = "select id, x from t where k not in (select y from u)"
DISTINCT = "select distinct k, x % 3 as x from t"
UNION = "select k, x from t union all select k, y from u"
TOTALS = "select count(*) as n, max(x) as most, sum(x) as s from t"
TOP = "select id, x from t order by x desc, id limit 3"
INNER_OF_NUMBER = INNER.replace("from t", "from t where x >= {i} % 3")
PLAIN = "select k, count(*) as n, sum(y) as s from plain group by k"
THREE = "select t.id, u.y, orders.n from t join u on t.k = u.k left join orders on orders.id = t.id"
EXCEPT = "select k, x from t except all select k, y from u"

Change = Callable[[View, int], None]
Act = Callable[[View], object]


@dataclass(frozen=True)
class Kind:
    """One kind of refresh.

    change    what happens before the refresh with this number, such that its kind stays the same
    mode, form, reason  the result of an undisturbed refresh
    disturbed options of the disturbed refresh; the healing refresh has none of them
    act       what is disturbed instead of a refresh
    settings  session settings of the refresh with this number; SQL with {i} gets the number too
    """

    name: str
    sql: str
    change: Change
    mode: Mode = "incremental"
    form: str = ""
    reason: Reason | None = None
    size: Size = "small"
    options: Mapping[str, Any] = field(default_factory=dict)
    disturbed: Mapping[str, Any] = field(default_factory=dict)
    act: Act | None = None
    settings: Callable[[int], dict[str, str]] = lambda _: {}

    @property
    def in_iceberg(self) -> bool:
        """Whether the state is in Iceberg, at least in the disturbed refresh."""
        return _ICEBERG["layout"] in (self.options.get("layout"), self.disturbed.get("layout"))

    def check(self, result: object) -> None:
        """Check that an undisturbed refresh is of this kind."""
        if self.act is None:
            assert isinstance(result, RefreshResult)
            reason = result.fallback.reason if result.fallback else None
            found = (result.mode, reason, self.form and result.apply_form)
            assert found == (self.mode, self.reason, self.form), (self.name, result)


def drop(view: View) -> str:
    request, owner = view.request, view.request.owner
    catalogs = [request.layout.catalog] if request.layout.catalog else []
    try:
        return drop_incremental_view(view.lab.engine, request.view, owner.project, owner.model, catalogs)
    except ModelError:  # an earlier drop was complete
        return ""


def insert(view: View, i: int) -> None:
    view.lab.run(f"insert into t values ({i}, {i % 5}, {i})")


def mixed(view: View, i: int) -> None:
    """Insert, update and delete in one commit, because three statements take three times as long."""
    view.lab.run(
        f"merge into t using (select * from values ({i}, {i % 5}, {i}), ({i + 1}, null, null) as s (id, k, x)) "
        "on false when not matched then insert * "
        f"when not matched by source and id % 7 = {i % 7} then delete "
        f"when not matched by source and t.k = {i % 4} then update set x = t.x + 1"
    )


def after(do: Change, *statements: str) -> Change:
    """The change followed by statements."""

    def change(view: View, i: int) -> None:
        do(view, i)
        view.lab.run(*(statement.format(i=i) for statement in statements))

    return change


def edited_from(sql: str) -> Change:
    """The view had another query until now."""

    def change(view: View, i: int) -> None:
        view.with_(sql=sql).refresh()

    return change


def built_in_delta(view: View, i: int) -> None:
    view.with_(layout=StateLayout()).refresh()
    mixed(view, i)


def dropped(view: View, i: int) -> None:
    drop(view)
    mixed(view, i)


def without_capture(view: View, i: int) -> None:
    """Another table takes a source's name; it does not record changes."""
    view.lab.run(
        "drop table u",
        f"create table u using delta as select cast(id as int) as k, cast(id * {i} as int) as y from range(5)",
    )


def other_types(view: View, i: int) -> None:
    type_ = "bigint" if i % 2 else "int"
    view.lab.run(f"create or replace table u using delta as select k, cast(y as {type_}) as y from u")


def other_format(view: View, i: int) -> None:
    lab = view.lab
    setting = "spark.databricks.delta.commitInfo.userMetadata"
    metadata = view.history()[-1]["userMetadata"]
    lab.session.conf.set(setting, metadata.replace('"sparkivm":', '"sparkivm":99'))
    lab.run(f"alter table m__ivm set tblproperties (written = '{i}')")
    lab.session.conf.unset(setting)
    mixed(view, i)


def state_in_iceberg_modified(view: View, i: int) -> None:
    state = f"{ICE}.{view.lab.schema}.m__ivm"
    view.lab.run(f"insert into {state} select * from {state} limit 1")
    mixed(view, i)


def both(view: View, i: int) -> None:
    mixed(view, i)
    view.lab.run(f"insert into u values ({i % 4}, {i}), (null, {i})", f"delete from u where y % 5 = {i % 5}")


def orders(view: View, i: int) -> None:
    view.lab.run(f"insert into orders values ({i}, {i})", f"delete from orders where id = {i - 3}")


def capture_off(view: View, i: int) -> None:
    view.lab.run("alter table t set tblproperties (delta.enableChangeDataFeed = false)")
    mixed(view, i)


def plain_again(view: View, i: int) -> None:
    drop(view)
    view.lab.run(f"create or replace table plain using delta as select k, y + {i} as y from u")


def commit_gone(view: View, i: int) -> None:
    """A source's log is cleaned up beyond the version that the view has read."""
    lab = view.lab
    lab.run("alter table t set tblproperties (delta.checkpointInterval = 1)")
    mixed(view, i)
    version = lab.version("t")
    insert(view, i + 1)
    files = Path(urlparse(lab.rows("describe detail t")[0].location).path)
    (files / "_delta_log" / f"{version:020}.json").unlink()
    jvm: Any = lab.session._jvm
    jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def vacuumed(view: View, i: int) -> None:
    """The feed needs files that are gone."""
    lab = view.lab
    lab.session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    lab.run(
        "alter table t set tblproperties (delta.enableDeletionVectors = false)",
        f"insert into t values ({i}, 1, 1)",
        f"delete from t where id = {i}",
        f"insert overwrite t values ({i}, {i % 5}, {i}), (5, 5, 5)",
        "vacuum t retain 0 hours",
    )


def files_grow(view: View, i: int) -> None:
    view.lab.run(f"insert into p values ({i}, {i % 5}, {i})")


def files_change(view: View, i: int) -> None:
    view.lab.run(
        "insert overwrite p select id, k, x from (select * from p_copy where id % 7 <> "
        f"{i % 7} union all select {i}, {i % 5}, {i})"
    )


def mirror_dropped(view: View, i: int) -> None:
    drop(view)
    view.lab.run("drop table if exists p__ivm_mirror")
    files_grow(view, i)


def built_as_a_table(view: View, i: int) -> None:
    drop(view)
    view.lab.run(
        "drop table if exists m__ivm_replaced",
        "drop view if exists m",
        "drop table if exists m",
        "create table m using delta as select 7 as mine",
    )
    mixed(view, i)


_AUTO = {"refresh_mode": "auto"}
_ALWAYS = {"auxiliary_views": "always"}
_FULL = {"full_refresh": True}
_REBUILD: dict[str, Any] = {"mode": "full", "form": "rebuild"}
_ZONES = ("UTC", "Europe/Berlin")
ICE = "ice"  # the catalog of states in Iceberg
_ICEBERG: dict[str, Any] = {"layout": StateLayout(file_format="iceberg", catalog=ICE)}

KINDS = (
    Kind("create", SUMS, dropped, mode="create", form="create"),
    Kind("create of a table without a rule", RANDOM, dropped, mode="create", reason=Reason.NON_DETERMINISTIC_EXPRESSION),
    Kind("append of groups", SUMS, insert, form="append"),
    Kind("append of rows", ROWS, insert, form="append"),
    Kind("rewrite of groups", EXTREMA, mixed, form="rewrite"),
    Kind("rewrite of rows", ROWS, mixed, form="rewrite"),
    Kind("replace of additive groups", SUMS, mixed, form="replace", size="large"),
    Kind("replace of groups", EXTREMA, mixed, form="replace", size="large"),
    Kind("replace of rows", ROWS, mixed, form="replace", size="large"),
    Kind("merge of additive groups", SUMS, mixed, form="merge", size="huge"),
    Kind("merge of groups", EXTREMA, mixed, form="merge", size="huge"),
    Kind("merge of rows", ROWS, mixed, form="merge", size="huge"),
    Kind("append of a union", UNION, after(insert, "insert into u values (1, {i})"), form="append"),
    Kind("rewrite after changes on both sides", ROWS, both, form="rewrite"),
    Kind("rewrite from two versions", EXTREMA, capture_off, form="rewrite"),
    Kind("recompute of groups", EXTREMA, mixed, form="recompute", options=_AUTO),
    Kind("recompute of rows", ROWS, both, form="recompute", options=_AUTO),
    Kind("outer join", OUTER, both),
    Kind("outer join, merged", OUTER, both, size="huge"),
    Kind("outer join, replaced", OUTER, both, size="large"),
    Kind("anti join", ANTI, both),
    Kind("anti join, merged", ANTI, both, size="huge"),
    Kind("three tables, merged", THREE, both, size="huge"),
    Kind("except", EXCEPT, both),
    Kind("window", NUMBERED, mixed),
    Kind("window, merged", NUMBERED, mixed, size="huge"),
    Kind("distinct", DISTINCT, mixed),
    Kind("distinct, merged", DISTINCT, mixed, size="huge"),
    Kind("one row", TOTALS, mixed),
    Kind("limit", TOP, mixed),
    Kind("in steps", NESTED, orders),
    Kind("in steps, merged", NESTED, orders, size="huge"),
    Kind("full refresh", SUMS, mixed, reason=Reason.FULL_REFRESH_REQUESTED, disturbed=_FULL, **_REBUILD),
    Kind("rebuild: state modified", SUMS, after(mixed, "insert into m__ivm select * from m__ivm limit 1"), reason=Reason.STATE_MODIFIED, **_REBUILD),
    Kind("rebuild: state missing", SUMS, after(mixed, "drop table if exists m__ivm"), mode="create", form="create"),
    Kind("rebuild: query changed", SUMS + " having count(*) > {i} % 3", mixed, reason=Reason.QUERY_CHANGED, **_REBUILD),
    Kind("rebuild: configuration changed", SUMS, mixed, reason=Reason.CONFIG_CHANGED, settings=lambda i: {"spark.sql.session.timeZone": _ZONES[i % 2]}, **_REBUILD),
    Kind("rebuild: source replaced", ROWS, without_capture, reason=Reason.SOURCE_REPLACED, **_REBUILD),
    Kind("rebuild: source's types changed", ROWS, other_types, reason=Reason.SOURCE_SCHEMA_CHANGED, **_REBUILD),
    Kind("rebuild: history unavailable", SUMS, commit_gone, reason=Reason.HISTORY_UNAVAILABLE, **_REBUILD),
    Kind("rebuild: refresh failed", SUMS, vacuumed, reason=Reason.REFRESH_FAILED, **_REBUILD),
    Kind("rebuild: change capture off", SUMS, capture_off, reason=Reason.CHANGE_CAPTURE_OFF, options={"change_capture": "never_alter"}, **_REBUILD),
    Kind("rebuild: other format", SUMS, other_format, reason=Reason.STATE_FORMAT_CHANGED, **_REBUILD),
    Kind("rebuild: no rule", RANDOM, mixed, reason=Reason.NON_DETERMINISTIC_EXPRESSION, **_REBUILD),
    Kind("with an auxiliary view", INNER, mixed, options=_ALWAYS),
    Kind("with an auxiliary view, merged", INNER, mixed, size="huge", options=_ALWAYS),
    Kind("create with an auxiliary view", INNER, dropped, mode="create", options=_ALWAYS),
    Kind("full refresh with an auxiliary view", INNER, mixed, reason=Reason.FULL_REFRESH_REQUESTED, options=_ALWAYS, disturbed=_FULL, **_REBUILD),
    Kind("rebuild with another auxiliary view", INNER_OF_NUMBER, mixed, reason=Reason.QUERY_CHANGED, options=_ALWAYS, **_REBUILD),
    Kind("create that switches on capture", PLAIN, plain_again, mode="create"),
    Kind("create with a mirror", MIRRORED, mirror_dropped, mode="create"),
    Kind("mirror grows", MIRRORED, files_grow),
    Kind("mirror changes", MIRRORED, files_change),
    Kind("drop", SUMS, mixed, act=drop),
    Kind("drop with an auxiliary view", INNER, mixed, options=_ALWAYS, act=drop),
    Kind("create in Iceberg", SUMS, dropped, mode="create", form="create", options=_ICEBERG),
    Kind("append of groups in Iceberg", SUMS, insert, form="append", options=_ICEBERG),
    Kind("append of rows in Iceberg", ROWS, insert, form="append", options=_ICEBERG),
    Kind("rewrite of groups in Iceberg", EXTREMA, mixed, form="rewrite", options=_ICEBERG),
    Kind("merge of groups in Iceberg", EXTREMA, mixed, form="merge", size="huge", options=_ICEBERG),
    Kind("merge of rows in Iceberg", ROWS, mixed, form="merge", size="huge", options=_ICEBERG),
    Kind("with an auxiliary view in Iceberg", INNER, mixed, options={**_ALWAYS, **_ICEBERG}),
    Kind("full refresh in Iceberg", SUMS, mixed, reason=Reason.FULL_REFRESH_REQUESTED, options=_ICEBERG, disturbed=_FULL, **_REBUILD),
    Kind("rebuild in Iceberg: state modified", SUMS, state_in_iceberg_modified, reason=Reason.STATE_MODIFIED, options=_ICEBERG, **_REBUILD),
    Kind("change of the state's format", SUMS, built_in_delta, reason=Reason.CONFIG_CHANGED, options=_ICEBERG, **_REBUILD),
    Kind("edited query: stored rows stay", SUMS_AND_MEANS, edited_from(SUMS), form=""),
    Kind("edited query: new column", ROWS_AND_TWICE, edited_from(ROWS), form=""),
    Kind("drop in Iceberg", SUMS, mixed, options=_ICEBERG, act=drop),
    Kind("change of materialization", SUMS, built_as_a_table, mode="create", options={"takes_over": True}),
)  # fmt: skip


def open_sources(lab: Lab) -> None:
    """Create the sources of most views."""
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)", "(4, null, 8)")
    lab.table("u", "k int, y int", "(1, 10)", "(1, 10)", "(2, 20)", "(3, 30)")


def open_world(lab: Lab) -> None:
    """Create sources, and relations of others with names that look like ours."""
    open_sources(lab)
    lab.table("orders", "id int, n int", "(1, 1)", "(2, 2)", "(2, 1)", "(null, 3)")
    lab.run(
        "create table p_copy using parquet as select id, k, x from t",
        "create table p using parquet as select id, k, x from t",
        "create table plain using delta as select k, y from u",
        *(f"create table {name} using delta as select 7 as mine" for name in BYSTANDERS),
    )


BYSTANDERS = ("mm", "mm__ivm", "m__ivm_mine", "m__ivm_aux", "x__ivm_aux_1")
