"""The law of stamps (sparkivm/plan/stamps.py), on random worlds, for each kind of state and each apply form.

Each batch is another run, whose literal is its number.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

from sparkivm.plan import bag_changes, group_changes
from sparkivm.plan.state import GroupState
from sparkivm.plan.state_change import Form
from tests.fuzz.database import Database
from tests.fuzz.random_data import MOST_BATCHES, World, random_world
from tests.fuzz.view import View
from tests.laws.test_apply_law import EDGES, may_be_taken, only_inserts

WORLDS = 6
FORMS: tuple[Form, ...] = ("append", "rewrite", "replace", "merge")
# In each, the first column is the stamp. Keys of groups are public, so that rows of two groups are never equal.
MODELS = {
    "bag": "select {run} as run, s, k, a from r",
    "bag with a constant": "select {run} as run, 'x' as other, s, k from r",
    "sorted bag": "select {run} as run, k, a from r order by run, a",
    "bag of a join": "select {run} as run, x.k, y.a, y.s from r x join s y on x.k <=> y.k",
    "bag of an outer join": "select {run} as run, x.s, y.a from r x left join s y on x.k = y.k",
    "counts and sums": "select {run} as run, k, count(a) as m, sum(b) as x from r group by k",
    "a ratio": "select {run} as run, k, s, sum(a) > count(*) as many from r group by k, s",
    "having": "select {run} as run, k, max(a) as x from r group by k having count(*) > 1",
    "extrema": "select {run} as run, k, min(a) as x, max(b) as y, count(*) as n from r group by k",
    "sorted groups": "select {run} as run, k, count(*) as n from r group by k order by max(a), run",
    "recomputed": "select {run} as run, k, count(distinct a, b) as x from r group by k",
    "keys alone": "select {run} as run, k, s from r group by k, s",
    "without keys": "select {run} as run, count(*) as n, min(a) as x, sum(b) as y from r",
    "recomputed without keys": "select {run} as run, count(distinct a, b) as n from r",
}


@pytest.fixture(scope="module")
def database() -> Database:
    return Database()


def expected(
    before: list[tuple[Any, ...]], rows: list[tuple[Any, ...]], run: int
) -> Counter[tuple[Any, ...]]:
    """The law, in Python. Rows with stamps begin with the stamp."""
    stamps: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for stamp, *row in before:
        stamps[tuple(row)].append(stamp)
    found: Counter[tuple[Any, ...]] = Counter()
    for row, copies in Counter(row[1:] for row in rows).items():
        kept = sorted(stamps[row])[:copies]
        found.update((stamp, *row) for stamp in [*kept, *[run] * (copies - len(kept))])
    return found


def views(database: Database, name: str) -> list[View]:
    """The model's views, by run."""
    return [
        View(database, MODELS[name].format(run=run), stamp_columns=["Run"]) for run in range(MOST_BATCHES + 1)
    ]


def check(database: Database, by_run: Sequence[View], name: str, form: Form, world: World, seed: int) -> bool:
    """Refresh by one form through all batches. Returns whether the form was ever used."""
    database.load(world)
    rng, taken = random.Random(seed), False
    by_run[0].build()
    for version, batch in enumerate(world.batches, 1):
        now = by_run[version]
        if not may_be_taken(now, form, world):
            break
        before = now.visible()
        done = now.refresh(rng, version, batch, form=form)
        taken = taken or done != "no_op"
        have, want = (
            Counter(now.visible()),
            expected(before, database.rows(now.recomputation(version)), version),
        )
        assert have == want, f"{name} by {done}, run {version}: {have - want} instead of {want - have}"
    return taken


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_a_row_keeps_its_stamp_until_it_changes(name, form, database, law_seed):
    rng = random.Random(f"{law_seed} {name} {form}")
    worlds = [random_world(rng, MOST_BATCHES) for _ in range(WORLDS)]
    if form == "append":
        worlds = [only_inserts(one) for one in worlds]
    by_run = views(database, name)
    taken = [check(database, by_run, name, form, one, number) for number, one in enumerate(worlds)]
    taken += [check(database, by_run, name, form, one, 0) for one in EDGES.values()]
    never = form == "append" and (name == "bag of an outer join" or "bag" not in name)
    assert any(taken) is not (never or (form == "replace" and "without keys" in name))


def test_a_stamped_group_has_one_entry(database):
    """Entries that add up would have a stamp each."""
    database.load(EDGES["a group dies"])
    view = View(database, MODELS["counts and sums"].format(run=1), stamp_columns=["run"])
    assert isinstance(view.plan.state, GroupState)
    assert not view.plan.state.linear


@pytest.mark.parametrize(
    ("name", "module", "rule", "wrong"),
    [
        ("bag", bag_changes, "_remaining", lambda state, less: bag_changes._not_negative(less, "")),
        ("having", group_changes, "_with_stamps", lambda state, change: _all_new(state, change)),
    ],
)
def test_a_wrong_rule_is_found(name, module, rule, wrong, monkeypatch, database):
    monkeypatch.setattr(module, rule, wrong)
    by_run = views(database, name)
    with pytest.raises(Exception, match=r"instead of|lacks|column"):
        _ = [check(database, by_run, name, "rewrite", edge, 0) for edge in EDGES.values()]


def _all_new(state, change):
    from sparkivm.plan.stamps import stamped

    return group_changes.GroupRows(stamped(change.rows, state.stamps), change.keys)
