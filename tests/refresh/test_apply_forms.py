"""How a change reaches the state: append, rewrite, replace, merge, recompute; each gives the rows of a rebuild."""

from __future__ import annotations

import random

import pytest

from sparkivm.reasons import Reason
from tests.refresh.lab import Lab, View
from tests.refresh.two_tables import two_tables

MiB = 1 << 20
MANY = 300_000  # more changed rows than `replace` is used for

VIEWS = {
    "counts and sums": "select k, count(*) as n, sum(x) as s, avg(y) as a from t group by k",
    "of all rows": "select count(*) as n, sum(x) as s, max(x) as m from t",
    "by two keys": "select k, name, count(x) as n from t group by k, name",
    "extrema": "select k, min(x) as low, max(y) as high, count(*) as n from t group by k",
    "by an unwritable key": "select y, max(x) as m from t group by y",
    "recomputed": "select k, count(distinct x) as d, max(name) as m from t group by k",
    "having": "select k, sum(x) as s from t group by k having count(*) > 1",
    "rows": "select id, name, x from t where x > 1",
    "copies": "select k, name from t",
    "unwritable": "select y from t",
    "inner join": "select t.id, u.z from t join u on t.k = u.k",
    "left join": "select t.id, t.x, u.z from t left join u on t.k = u.k",
    "full join": "select t.id, u.k, u.z from t full join u on t.k = u.k",
    "not exists": "select id, k from t where not exists (select 1 from u where u.k = t.k)",
    "grouped join": "select u.z, count(*) as n, sum(t.x) as s from t join u on t.k = u.k group by u.z",
    "groups of a left join": "select t.k, count(u.z) as n, max(u.z) as m from t left join u on t.k = u.k group by t.k",
    "union": "select id as i, x from t union all select k, z from u",
    "topped": "select id, x from t order by x desc, id limit 3",
    "all but the first": "select id, x from t order by x, id offset 1",
    "ranked": "select id, k, row_number() over (partition by k order by x, id) as r from t",
}  # fmt: skip
SIZES = {"small": (0, 0), "large": (9 * MiB, 0), "huge": (9 * MiB, MANY)}

# Views whose changes are merged differently from those of similar views.
HUGE = ("counts and sums", "extrema", "recomputed", "rows", "copies", "inner join", "full join")

# Keys that appear and vanish, NULLs, copies, ties, deleted extrema, a group and a table that become empty.
BATCHES = (
    ("insert into t values (6, 2, 5, 1.5, 'a'), (6, 2, 5, 1.5, 'a'), (7, null, 9, null, null)", "insert into u values (9, 1), (null, 2)"),
    ("update t set k = 3 where id = 2", "delete from t where x = 9", "update u set z = null where k = 1", "delete from t where id = 6"),
    ("delete from t where k = 1", "insert into t values (8, 1, null, null, null), (8, 1, 2, -1, 'b')", "update t set x = x + 1 where k is null"),
    ("delete from t where true", "insert into u values (1, 7)", "insert into t values (1, 1, 1, 0.5, 'z')"),
    ("insert into t values (2, 9, 3, 2.5, null), (3, null, 4, 0, 'a')", "delete from u where k = 9 or k is null"),
)  # fmt: skip


@pytest.fixture(scope="module")
def world() -> Lab:
    """Two tables, to be forked."""
    lab = Lab()
    rows = (
        "(1, 1, 2, 0.5, 'a')",
        "(2, 1, 7, 1.5, null)",
        "(3, 2, 4, null, 'b')",
        "(4, null, 3, 2.5, 'b')",
        "(5, 9, 7, 1, 'c')",
        "(5, 9, 7, 1, 'c')",
    )
    lab.table("t", "id int, k int, x int, y decimal(5,1), name string", *rows)
    lab.table("u", "k int, z int", "(1, 10)", "(1, 20)", "(2, null)", "(null, 5)")
    return lab


FORMS = {
    "small": {"append", "rewrite"},
    "large": {"append", "rewrite", "replace", "merge"},
    "huge": {"append", "rewrite", "merge"},
}


def rebuilt(view: View) -> list[tuple[object, ...]]:
    """The state after a full refresh in a fork."""
    fork = view.on(view.lab.fork())
    fork.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    return folded(fork)


def folded(view: View) -> list[tuple[object, ...]]:
    """The state with one entry per group; a sum of no values becomes NULL."""
    held = [dict(row) for row in view.lab.session.rows(f"select * from {view.state}")]
    if view.frontier().several:
        hidden = [name for name in held[0] if name.startswith("__ivm_")] if held else []
        groups: dict[tuple[object, ...], dict[str, object]] = {}
        for row in held:
            key = tuple(value for name, value in row.items() if name not in hidden)
            found = groups.setdefault(key, {**row, **dict.fromkeys(hidden, 0)})
            for name in hidden:
                found[name] = (found[name] or 0) + (row[name] or 0)  # type: ignore[operator]
        held = [row for row in groups.values() if row["__ivm_n"]]
    for row in held:
        for name in row:
            if name.startswith("__ivm_sum_") and not row.get(name.replace("__ivm_sum_", "__ivm_n_"), 1):
                row[name] = None
    return sorted((tuple(row.values()) for row in held), key=repr)


def form(view: View) -> str:
    return view.must_be("incremental").apply_form


# which form is used


def test_entries_are_appended_sixteen_times_then_folded(lab, view):
    found = []
    for number in range(18):
        lab.run(f"insert into t values ({number}, 1, {number})")
        found.append(form(view))
        assert view.frontier().appended == (number + 1 if number < 16 else number - 16)
    assert found == ["append"] * 16 + ["rewrite", "append"]
    assert len(view.held()) == 2 + 1


def test_entries_of_a_state_that_grew_are_folded(lab, view):
    """The public view of a large state does not add up entries."""
    lab.run("insert into t values (4, 1, 8)")
    assert form(view) == "append"
    lab.resize("m__ivm", 9 * MiB)
    lab.run("insert into t values (5, 1, 8)")
    assert form(view) == "rewrite"
    assert len(view.held()) == 2
    lab.run("insert into t values (6, 1, 8)")
    assert form(view) == "replace"


@pytest.mark.parametrize(
    ("size", "said", "wanted"),
    [(0, 0, "rewrite"), (MiB, 0, "rewrite"), (MiB + 1, 0, "replace"), (MiB + 1, MANY, "merge")],
)
def test_extrema(lab, size, said, wanted):
    lab.resize("v__ivm", size)
    view = lab.view("v", "select k, max(x) as m from t group by k").build()
    lab.run("insert into t values (4, 1, 8)")
    if said:
        lab.says_many("t", said)
    assert form(view) == wanted


@pytest.mark.parametrize(("mode", "wanted"), [("incremental", "rewrite"), ("auto", "recompute")])
def test_a_state_of_unknown_size_counts_as_small(lab, mode, wanted):
    lab.resize("v__ivm", None)
    view = lab.view("v", EXTREMA, refresh_mode=mode).build()
    lab.run("insert into t values (4, 1, 8)")
    assert form(view) == wanted


@pytest.mark.parametrize(
    ("write", "wanted"),
    [
        ("insert into t values (4, 1, 8)", "append"),
        ("merge into t using (select 9 as i) s on t.id = s.i when not matched then insert (id, k, x) values (s.i, 1, 2)", "append"),
        ("delete from t where id = 1", "rewrite"),
        ("update t set x = 9 where id = 1", "rewrite"),
        ("merge into t using (select 1 as i) s on t.id = s.i when matched then delete", "rewrite"),
        ("merge into t using (select 1 as i) s on t.id = s.i when matched then update set x = 9", "rewrite"),
        ("insert overwrite t values (4, 1, 8)", "rewrite"),
        ("insert into t replace where k = 1 values (4, 1, 8)", "rewrite"),
    ],
)  # fmt: skip
def test_rows_are_appended_only_where_none_went(lab, write, wanted):
    view = lab.view("v", "select id, x from t").build()
    lab.run(write)
    assert form(view) == wanted


@pytest.mark.parametrize("between", ["delete from t where id = 1", "update t set x = 0 where id = 2"])
def test_one_commit_that_takes_rows_is_enough(lab, between):
    view = lab.view("v", "select id, x from t").build()
    lab.run("insert into t values (4, 1, 8)", between, "insert into t values (5, 1, 8)")
    assert form(view) == "rewrite"


@pytest.mark.parametrize(
    "sql",
    [
        "select t.id, u.y from t left join u on t.k = u.k",
        "select distinct k from t",
        "select id from t where k not in (select k from u)",
    ],
)
def test_views_that_lose_rows_by_new_ones_append_none(lab, sql):
    lab.table("u", "k int, y int", "(1, 1)")
    view = lab.view("v", sql).build()
    lab.run("insert into u values (2, 2)", "insert into t values (4, 2, 1)")
    assert form(view) == ("append" if "distinct" in sql else "rewrite")


def test_a_moment_that_moved_appends_nothing(lab):
    lab.table("e", "id int, d date", "(1, date'2024-01-01')")
    view = lab.view("v", "select id, datediff(current_date(), d) as days from e").build()
    lab.lake.ahead_ms += 24 * 3600 * 1000
    lab.run("insert into e values (2, date'2024-01-02')")
    assert form(view) == "rewrite"


def test_a_part_is_told_by_the_values_of_one_column(lab):
    lab.resize("v__ivm", 3 * MiB)
    view = lab.view("v", "select k, max(x) as m from t group by k").build()
    lab.run("insert into t values (4, null, 8), (5, 7, 1)", "delete from t where k = 2")
    result = view.must_be("incremental")
    assert "replace where `k` in (2, 7) or `k` is null" in result.statements[-1]


def test_a_part_is_told_by_the_column_whose_values_have_the_fewest_rows(lab):
    """The row that is updated has two quantities, and one id."""
    lab.table("sales", "id int, qty int", *(f"({i}, {i % 25})" for i in range(400)))
    lab.resize("v__ivm", 3 * MiB)
    view = lab.view("v", "select qty, id from sales").build()
    lab.run("update sales set qty = qty + 7 where id = 77")
    result = view.must_be("incremental")
    assert "replace where `id` in (77)" in result.statements[-1]
    assert result.rows_inserted == 1


@pytest.mark.parametrize(("said", "counts"), [(0, ("replace", 3, None, 2)), (MANY, ("merge", 2, 1, 1))])
def test_rows_of_the_state_are_counted(lab, said, counts):
    """A part is replaced as a whole; a merge reports each row that it changed."""
    lab.resize("v__ivm", 9 * MiB)
    view = lab.view("v", EXTREMA).build()
    lab.run("insert into t values (4, 1, 8), (5, 7, 1), (6, 8, 1)", "delete from t where k = 2")
    if said:
        lab.says_many("t", said)
    result = view.must_be("incremental")
    assert (result.apply_form, result.rows_inserted, result.rows_updated, result.rows_deleted) == counts


def test_a_large_state_marks_deleted_rows_from_its_first_change_on(lab):
    lab.resize("v__ivm", 9 * MiB)
    view = lab.view("v", EXTREMA).build()
    assert "delta.enableDeletionVectors" not in lab.properties("v__ivm")
    for number in range(2):
        lab.run(f"insert into t values ({number}, 1, 8)")
        said = "\n".join(view.must_be("incremental").statements)
        assert ("delta.enableDeletionVectors = true" in said) == (number == 0)
    assert lab.properties("v__ivm")["delta.enableDeletionVectors"] == "true"


@pytest.mark.parametrize(("keys", "is_asked"), [("k", False), ("k, id", True)])
def test_how_much_of_the_state_a_part_holds(lab, keys, is_asked):
    """Not asked if the column is the whole key: then the part holds exactly the changed keys."""
    lab.resize("v__ivm", 9 * MiB)
    view = lab.view("v", f"select {keys}, max(x) as m from t group by {keys}").build()
    lab.run("insert into t values (4, 1, 8)")
    lab.engine.asked.clear()
    assert form(view) == "replace"
    assert any("as held" in text for text in lab.engine.asked) == is_asked


def test_a_part_of_which_nothing_changed(lab):
    """The frontier moves with an append of zero rows."""
    lab.resize("v__ivm", 3 * MiB)
    view = lab.view("v", "select k, max(x) as m from t group by k").build()
    lab.run("insert into t values (4, 1, 8)", "delete from t where id = 4")
    result = view.must_be("incremental")
    assert (result.apply_form, result.rows_inserted) == ("append", 0)
    view.must_be("no_op")


# every form


@pytest.mark.parametrize(
    ("name", "size"), [(name, size) for name in VIEWS for size in SIZES if size != "huge" or name in HUGE]
)
def test_each_form_leaves_what_a_rebuild_would(name, size, world):
    lab, (size_bytes, said) = world.fork(), SIZES[size]
    if size_bytes:
        lab.resize("v__ivm", size_bytes)
    view = lab.view("v", VIEWS[name], auxiliary_views="never").build()
    forms = set()
    for batch in BATCHES:
        lab.run(*batch)
        if said:
            lab.says_many("t", said)
            lab.says_many("u", said)
        forms.add(view.must_be("incremental").apply_form)
    assert forms <= FORMS[size], forms
    assert folded(view) == rebuilt(view)


# recompute

EXTREMA = "select k, max(x) as m from t group by k"


@pytest.mark.parametrize("name", VIEWS)
def test_small_tables_may_be_read_again_instead_of_their_changes(name, world):
    lab = world.fork()
    view = lab.view("v", VIEWS[name], auxiliary_views="never", refresh_mode="auto").build()
    forms = set()
    for batch in BATCHES:
        lab.run(*batch)
        result = view.must_be("incremental")
        forms.add(result.apply_form)
        assert (result.apply_form == "recompute") == ("s to recompute" in result.explanation)
    assert forms <= {"append", "recompute"}
    assert folded(view) == rebuilt(view)


@pytest.mark.parametrize(
    ("size_bytes", "mode", "form", "reported"),
    [
        (32 * MiB, "auto", "recompute", "incremental"),
        (32 * MiB + 1, "auto", "rebuild", "full"),
        (32 * MiB, "incremental", "rewrite", "incremental"),
        (32 * MiB, "strict", "rewrite", "incremental"),
    ],
)
def test_what_may_be_computed_again(lab, size_bytes, mode, form, reported):
    lab.resize("t", size_bytes)
    view = lab.view("v", EXTREMA, refresh_mode=mode).build()
    lab.run("delete from t where id = 1")
    reason = Reason.CHEAPER_IN_FULL if reported == "full" else None
    assert view.must_be(reported, reason).apply_form == form


@pytest.mark.parametrize(("mode", "form"), [("auto", "recompute"), ("incremental", "replace")])
def test_a_large_state_over_small_tables(lab, mode, form):
    view = lab.view("v", "select id, k, x from t where x > 0", refresh_mode=mode).build()
    lab.resize("v__ivm", 2 * MiB)
    lab.run("delete from t where id = 1")
    assert view.must_be("incremental").apply_form == form
    lab.run("insert into t values (9, 1, 5)")
    assert view.must_be("incremental").apply_form == "append"
    assert folded(view) == rebuilt(view)


@pytest.mark.parametrize(("is_read", "form"), [(False, "recompute"), (True, "replace")])
def test_a_large_state_that_does_not_hand_on_what_changed(lab, is_read, form):
    """Views above would read all rows as changes."""
    sql = "select id, k, x, max(x) over (partition by k) as m from t"
    view = lab.view("v", sql, refresh_mode="auto", is_read=is_read).build()
    lab.resize("v__ivm", 2 * MiB)
    lab.run("delete from t where id = 1")
    assert view.must_be("incremental").apply_form == form


def test_a_column_may_be_named_like_the_number_of_an_argument():
    """A hidden column's name contains the number of its expression."""
    lab = Lab()
    lab.table("p", "k int, `2` int, x int", "(1, 10, 1)", "(1, 20, 2)", "(2, 30, 3)")
    view = lab.view("v", "select k, sum(`2`) as a, sum(x + 1) as b from p group by k").build()
    lab.run("insert into p values (1, 40, 4)", "delete from p where x = 3")
    view.must_be("incremental")


@pytest.mark.parametrize(("mode", "form"), [("auto", "recompute"), ("incremental", "rewrite")])
def test_sums_whose_last_digits_depend_on_the_order(lab, mode, form):
    """Allowed, because a rebuild would also recompute the sums of all groups."""
    view = lab.view("v", "select k, sum(cast(x as double)) as s from t group by k", refresh_mode=mode).build()
    lab.run("delete from t where id = 1")
    assert view.must_be("incremental").apply_form == form


def test_a_state_that_is_computed_again_has_one_entry_per_group(lab):
    view = lab.view(
        "v", "select k, count(*) as n, sum(x) as s from t group by k", refresh_mode="auto"
    ).build()
    for number in range(16):
        lab.run(f"insert into t values ({number}, 1, 5)")
        assert view.must_be("incremental").apply_form == "append"
    lab.run("delete from t where id = 5")
    assert view.must_be("incremental").apply_form == "recompute"
    assert not view.frontier().several
    assert folded(view) == rebuilt(view)


def test_views_above_read_what_differs(lab):
    below = lab.view("v", EXTREMA, refresh_mode="auto").build()
    above = lab.view("w", "select m, count(*) as n from v group by m").build()
    lab.run("insert into t values (6, 7, 1)")
    assert below.must_be("incremental").apply_form == "recompute"
    above.must_be("incremental")


# random rounds


@pytest.mark.parametrize("number", range(6))
def test_random_rounds(number, world):
    """The form varies with sizes and changes."""
    rng = random.Random(number)
    lab = world.fork()
    views = [
        lab.view(f"v{i}", VIEWS[name], auxiliary_views="never").build()
        for i, name in enumerate(rng.sample(sorted(VIEWS), 3))
    ]
    for _ in range(4):
        for view in views:
            lab.resize(view.state, rng.choice((100, 3 * MiB, 9 * MiB)))
        for _ in range(rng.randint(1, 3)):
            lab.run(_random_write(rng))
        if rng.random() < 0.3:
            lab.says_many("t", MANY)
        for view in views:
            assert view.refresh().mode in ("incremental", "no_op")
            view.check()
    for view in views:
        assert folded(view) == rebuilt(view)


def _random_write(rng: random.Random) -> str:
    def value(*most: str) -> str:
        return rng.choice(most)

    k, x = value("1", "2", "3", "9", "null"), value("1", "4", "7", "null")
    return value(
        f"insert into t values ({rng.randint(1, 9)}, {k}, {x}, {value('0.5', '1', 'null')}, {value(chr(39) + 'a' + chr(39), 'null')})",
        f"insert into u values ({k}, {x})",
        f"delete from t where x = {x} or id = {rng.randint(1, 9)}",
        f"delete from u where z <=> {x}",
        f"update t set k = {k} where id = {rng.randint(1, 9)}",
        f"update t set x = {x} where k <=> {k}",
        f"update u set z = {x} where k <=> {k}",
    )


def test_the_sizes_and_views_reach_every_form(world):
    """If one is not reached, test_each_form_leaves_what_a_rebuild_would compares too little."""
    reached = set()
    for name in ("counts and sums", "extrema", "rows", "unwritable"):
        for size_bytes, said in SIZES.values():
            lab = world.fork()
            lab.resize("v__ivm", size_bytes)
            view = lab.view("v", VIEWS[name]).build()
            lab.run("update t set x = 9, y = 9 where id in (2, 3)")
            if said:
                lab.says_many("t", said)
            reached.add((name, view.refresh().apply_form))
    assert {form for _, form in reached} == {"append", "rewrite", "replace", "merge"}
    assert {
        ("counts and sums", "append"),
        ("rows", "replace"),
        ("rows", "merge"),
        ("unwritable", "merge"),
    } <= reached


def test_values_that_cancel_each_other_in_bit_xor():
    """The group has values, and their BIT_XOR is 0, not NULL."""
    lab = two_tables()
    sql = "select k, bit_xor(x) as b, count(*) as n from (select k, x from t intersect all select k, y from u) group by k"
    for refreshed in (
        lab.view("m", sql).build(),
        lab.view("m2", f"select bit_xor(b) as b from ({sql})").build(),
    ):
        lab.run("insert into t values (8, 7, 5), (9, 7, 5)", "insert into u values (7, 5), (7, 5)")
        refreshed.must_be("incremental")
        lab.run("delete from u where k = 7")
        refreshed.must_be("incremental")


def test_maps_with_entries_in_another_order_are_other_values():
    """Spark groups both orders into one value, so changed rows are grouped by the entries."""
    lab = Lab()
    lab.table("w", "id int, m map<string,int>", "(1, map('a', 1, 'b', 2))")
    view = lab.view("v", "select id, m from w").build()
    lab.run("insert into w values (1, map('b', 2, 'a', 1))")
    lab.run("delete from w where map_keys(m)[0] = 'a'")
    result = view.must_be("incremental")
    assert any("MAP_ENTRIES(" in text for text in result.statements)
