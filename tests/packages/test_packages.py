"""Our own projects as incremental views on the embedded engine; and what the runner does with a project that is wrong."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from sparkivm.engine import Field
from tests.nightly import few_of
from tests.packages import page, run
from tests.packages.changes import changes
from tests.packages.embedded import EmbeddedWarehouse
from tests.packages.outcome import Outcome, summary
from tests.packages.project import NoProject, copied
from tests.packages.run import OWN, own_projects, tried
from tests.packages.trial import Trial

_AT_EACH_RUN = ("shop",)


@pytest.mark.slow
@pytest.mark.parametrize("name", few_of([path.name for path in own_projects()], _AT_EACH_RUN))
def test_all_models_are_incremental_and_right(name):
    found = tried(OWN / name)
    models = len(list((OWN / name / "models").glob("*.sql")))
    assert found.counts == {"incremental": models}
    assert found.refreshes == models * run.ROUNDS


def _project(root: Path, **models: str) -> Path:
    files = {
        "dbt_project.yml": "name: tiny\nversion: 1.0.0\nprofile: tiny\n",
        "seeds/numbers.csv": "id,x\n1,10\n2,20\n3,30\n",
    }
    for path, text in {**files, **{f"models/{name}.sql": sql for name, sql in models.items()}}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.slow
def test_each_kind_of_outcome(tmp_path, monkeypatch):
    path = _project(
        tmp_path / "tiny",
        doubled="select id, x * 2 as x from {{ ref('numbers') }}",
        drawn="select id, x + rand() * 0 as x from {{ ref('numbers') }}",
        unknown="select no_such_function(id) as x from {{ ref('numbers') }}",
        above="select * from {{ ref('unknown') }}",
        wrong="select id, x from {{ ref('numbers') }}",
        ranked="select id, row_number() over (order by x) as n from {{ ref('numbers') }}",
    )
    warehouse = EmbeddedWarehouse()
    correct = warehouse.rows

    def rows(sql):
        """These two views lack a row, and so do their rebuilds."""
        found = sorted(correct(sql), key=repr)
        return (
            found[1:]
            if sql in ("select * from `packages`.`wrong`", "select * from `packages`.`ranked`")
            else found
        )

    monkeypatch.setattr(warehouse, "rows", rows)
    outcomes = {one.model: one for one in Trial(copied(path, [], {}, tmp_path), warehouse).run(1)}
    assert {name: (one.kind, one.reason.partition(";")[0]) for name, one in outcomes.items()} == {
        "doubled": ("incremental", ""),
        "drawn": ("full", "`NON_DETERMINISTIC_EXPRESSION`"),
        "unknown": ("not tried", "the embedded engine cannot run it"),
        "above": ("not tried", "it reads a model that was not tried, or failed"),
        "wrong": ("failed", "wrong rows"),
        "ranked": ("incremental", "equal to its rebuild"),
    }


def test_a_refused_project_is_named(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoProject, match=r"there is no .*empty/dbt_project\.yml"):
        copied(tmp_path / "empty", [], {}, tmp_path)


def test_a_missing_package_is_named(tmp_path):
    path = _project(tmp_path / "tiny")
    (path / "packages.yml").write_text("packages: [{package: some/other_utils, version: 1.0.0}]")
    with pytest.raises(NoProject, match=r"the package other_utils is in none of .*tmp"):
        copied(path, [tmp_path], {}, tmp_path)


def test_a_package_is_found_by_its_repository(tmp_path):
    for name in ("other_utils", "more_utils"):
        package = tmp_path / "shelf" / f"dbt_{name}"
        package.mkdir(parents=True)
        (package / "dbt_project.yml").write_text(f"name: my_{name}\nversion: 1.0.0\n")
    path = _project(tmp_path / "tiny")
    git = "https://example.com/some/dbt-more-utils.git"
    (path / "packages.yml").write_text(
        f"packages: [{{package: some/other_utils, version: 1.0.0}}, {{git: '{git}', revision: main}}]"
    )
    found = copied(path, [tmp_path / "shelf"], {}, tmp_path)
    assert {one.name for one in found.directory.glob("dbt_packages/*")} == {"my_other_utils", "my_more_utils"}


def test_changes_of_a_table():
    fields = (Field("id", "int"), Field("name", "string"))
    found = list(changes(random.Random(1), "t", fields, [(1, "a"), (2, None), (3, "it's")]))
    assert [statement.split()[0] for statement in found] == ["insert", "update", "update", "delete"]
    assert "null" in found[2]
    assert list(changes(random.Random(1), "t", fields, [])) == []
    assert len(list(changes(random.Random(1), "t", fields, [(1, "a")]))) == 3


def test_results_replace_those_of_the_same_project_and_engine(tmp_path):
    path = tmp_path / "results.json"
    outcomes = [
        Outcome("a", "incremental", compared=2),
        Outcome("b", "full", "`UDF`"),
        Outcome("c", "full", "`UDF`"),
    ]
    first = summary("p", "1.0", "embedded", False, outcomes)
    assert (first.models, first.refreshes, first.reasons) == (3, 2, {"full: `UDF`": 2})
    page.add_result(first, path)
    page.add_result(replace(first, engine="Spark"), path)
    page.add_result(replace(first, version="2.0"), path)
    assert [(one.engine, one.version) for one in page.read_results(path)] == [
        ("Spark", "1.0"),
        ("embedded", "2.0"),
    ]


def test_share_on_the_page(tmp_path, monkeypatch):
    found = summary(
        "p", "1.0", "embedded", False, [Outcome("a", "incremental"), Outcome("b", "full", "`UDF`")]
    )
    page.add_result(found, tmp_path / "results.json")
    monkeypatch.setattr(page, "RESULTS", tmp_path / "results.json")
    text = page.packages_page("printed")
    assert "| p | 1.0 | embedded | 2 | 1 | 1 | 0 | 0 | 50.0 % | 0 |" in text
    assert "| p | embedded | 1 | full: `UDF` |" in text
