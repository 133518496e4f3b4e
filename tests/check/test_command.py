"""The command `sparkivm check`: what it prints and its exit codes. The operation's lines are given."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
import jsonschema
import pytest
from click.testing import CliRunner, Result
from dbt.adapters.sparkivm.command import main
from dbt.adapters.sparkivm.command.project import Project
from dbt.adapters.sparkivm.in_the_way import in_the_way

from sparkivm.check.report import Edit, ModelReport
from tests.check.test_report import BROKEN, RANDOM, model

ROOT = Path(__file__).parents[2]
MODELS = (
    model("sums", materialized="incremental_view"),
    model("random", RANDOM, edits=(Edit("{{ this }} is the model", "remove [it]", (4, 7)),)),
    model("wide|one", BROKEN, remarks=("it would read shop.t through a mirror",)),
)


@pytest.fixture
def printed(monkeypatch):
    """The models on which the operation reports."""
    models = list(MODELS)

    def operation(self, macro, arguments, as_printed):
        assert macro == "incremental_view_check"
        as_printed('{"printed": "by a model"}')
        wanted = [one for one in models if arguments["models"] is None or one.model in arguments["models"]]
        left_out = [one.model for one in models if one not in wanted]
        as_printed(
            json.dumps({"project": "p", "models": [one.model for one in wanted], "left_out": left_out})
        )
        for one in wanted:
            as_printed('{"model": "printed by a model", "verdict": 1}')
            as_printed(json.dumps(one.json))

    monkeypatch.setattr(Project, "operation", operation)
    return models


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


def lines(found: Result) -> list[str]:
    return [line.rstrip() for line in found.stdout.splitlines()]


def test_the_table(printed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    found = run()
    assert found.exit_code == 0
    assert [line.split()[1:7:2] for line in lines(found) if line.startswith("│")] == [
        ["random", "table", "full"],
        ["sums", "incremental_view", "incremental"],
        ["wide|one", "table", "unknown"],
    ]
    said = lines(found)[lines(found).index("random models/random.sql") :]
    assert said == [
        "random models/random.sql",
        "  what   rand returns a different value each time it is computed",
        "  where  compiled line 3, column 5: rand()",
        "  do     compute it elsewhere",
        "  edit   line 4, 7: {{ this }} is the model; remove [it]",
        "",
        "wide|one models/wide|one.sql",
        "  what   there is no table shop.t",
        "  do     create it",
        "  note   it would read shop.t through a mirror",
        "",
        "3 models: 1 incremental, 1 full, 1 unknown",
        "how to move a model: docs/from_incremental.md in the repository of dbt-sparkivm",
    ]


def test_json_is_as_its_schema_says(printed, tmp_path):
    schema = json.loads((ROOT / "docs" / "check.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    found = json.loads(run("--format", "json").stdout)
    jsonschema.validate(found, schema)
    assert [ModelReport.of(one) for one in found["models"]] == sorted(MODELS, key=lambda one: one.model)
    for part in (found, found["models"][0], found["models"][0]["cause"]):
        part.pop(next(iter(part)))
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(found, schema)


def test_every_field_is_in_the_schema(printed):
    """So that a new field is described."""
    schema = json.loads((ROOT / "docs" / "check.schema.json").read_text())
    found = json.loads(run("--format", "json").stdout)
    model_, parts = found["models"][0], schema["$defs"]
    assert found.keys() == schema["properties"].keys() - {"changes"}
    assert model_.keys() == parts["model"]["properties"].keys()
    assert model_["cause"].keys() == parts["cause"]["properties"].keys()
    assert model_["edits"][0].keys() == parts["edit"]["properties"].keys()


def test_markdown(printed):
    assert lines(run("--format", "markdown")) == [
        "## Incremental views of p",
        "",
        "3 models: 1 incremental, 1 full, 1 unknown",
        "how to move a model: docs/from_incremental.md in the repository of dbt-sparkivm",
        "",
        "| model | now | as incremental_view | reason |",
        "| --- | --- | --- | --- |",
        "| random | table | full | NON_DETERMINISTIC_EXPRESSION |",
        "| sums | incremental_view | incremental |  |",
        "| wide\\|one | table | unknown | NOT_CHECKED |",
        "",
        "**random** `models/random.sql`",
        "",
        "- what: rand returns a different value each time it is computed",
        "- where: compiled line 3, column 5: rand()",
        "- do: compute it elsewhere",
        "- edit: line 4, 7: {{ this }} is the model; remove [it]",
        "",
        "**wide|one** `models/wide|one.sql`",
        "",
        "- what: there is no table shop.t",
        "- do: create it",
        "- note: it would read shop.t through a mirror",
    ]


@pytest.fixture
def earlier(printed, tmp_path):
    path = tmp_path / "earlier.json"
    path.write_text(run("--format", "json").stdout)
    return path


def test_what_changed(printed, earlier):
    printed[:] = [model("sums", RANDOM), model("random"), model("another")]
    found = run("--compare", earlier)
    said = lines(found)[lines(found).index("Changes since the earlier report") + 1 :][:4]
    assert said == [
        "  became full: sums (NON_DETERMINISTIC_EXPRESSION)",
        "  became incremental: random",
        "  new: another",
        "  removed: wide|one",
    ]
    shown = json.loads(run("--compare", earlier, "--format", "json").stdout)
    jsonschema.validate(shown, json.loads((ROOT / "docs" / "check.schema.json").read_text()))
    assert shown["changes"][2] == {"kind": "new", "model": "model.p.another", "before": None}
    assert "- became full: sums (NON_DETERMINISTIC_EXPRESSION)" in lines(
        run("--compare", earlier, "--format", "markdown")
    )


def test_nothing_changed(printed, earlier):
    found = lines(run("--compare", earlier))
    assert found[found.index("Changes since the earlier report") + 1] == "  none"


@pytest.mark.parametrize(
    ("policy", "now", "code"),
    [
        ("full", MODELS[:1], 0),
        ("full", MODELS, 1),
        ("regression", MODELS, 0),
        ("regression", (model("sums", BROKEN),), 1),
        ("regression", (model("new", RANDOM),), 0),
    ],
)
def test_policies(printed, earlier, policy, now, code):
    printed[:] = now
    found = run("--fail-on", policy, "--compare", earlier)
    assert found.exit_code == code
    assert found.stderr.startswith(f"--fail-on {policy}: ") is bool(code)


def test_selection(printed, earlier, monkeypatch):
    asked = []
    module = sys.modules["dbt.adapters.sparkivm.command.check"]  # the package has the command under this name
    monkeypatch.setattr(module, "_selected", lambda *found: asked.append(found[1:]) or ["model.p.sums"])
    found = run("--select", "sums", "tag:x", "--exclude", "random", "--compare", earlier)
    assert asked == [(("sums", "tag:x"), ("random",))]
    assert "1 model: 1 incremental, 0 full, 0 unknown" in lines(found)
    assert "  none" in lines(found), "models that were left out are not removed"


def test_mistakes(printed, tmp_path):
    found = run("--fail-on", "regression")
    assert (found.exit_code, "--fail-on regression needs --compare" in found.stderr) == (2, True)
    (tmp_path / "x.json").write_text("{}")
    for path, said in ((tmp_path / "none.json", "No such file"), (tmp_path / "x.json", "not a report")):
        found = run("--compare", path)
        assert (found.exit_code, said in found.stderr) == (2, True)


RAW = """{{ config(materialized='incremental', unique_key='id') }}
{# is_incremental() #}
select id, 'this' as this, other.this from {{ source('shop', 'orders') }}
{% if is_incremental() %}
where at > (select max(at) from {{ this }}) or {{ that.this }} {%- raw %} {{ this }} {% endraw %}
{% endif %} {{ "is_incremental()" }} {{ this.schema }}
"""


def test_what_is_in_the_way_in_a_text():
    found = in_the_way(RAW, ["an incremental_view ignores unique_key"])
    assert [(edit.what.split(" is ")[0], edit.lines) for edit in found] == [
        ("is_incremental()", (4,)),
        ("{{ this }}", (5,)),
        ("an incremental_view ignores unique_key", ()),
    ]
    assert in_the_way("select 1 as this", ()) == ()
    assert in_the_way("{{ config(pre_hook='delete from ' ~ this, tags=[('a')]) }} select 1 as x", ()) == ()


def test_a_check_without_spark_is_not_a_regression(monkeypatch):
    def operation(self, macro, arguments, as_printed):
        raise click.ClickException("Spark does not answer")

    monkeypatch.setattr(Project, "operation", operation)
    found = run("--fail-on", "full")
    assert (found.exit_code, found.stderr) == (2, "Error: Spark does not answer\n")
