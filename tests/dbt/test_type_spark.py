"""`type: spark`: dbt-spark's own profile, adapter and connections, with incremental views added."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner
from dbt.adapters.sparkivm.command import main
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

from tests.dbt.shop_project import modes, responses, rows, run_sql
from tests.dbt.spark_project import (
    CHANGES,
    INCREMENTAL_VIEWS,
    MODELS,
    SEEDS,
    SNAPSHOTS,
    TABLES,
    TESTS,
    modes_of_views,
    write_package,
)
from tests.nightly import few_of

pytestmark = [pytest.mark.dbt, pytest.mark.slow]


class SparkProject:
    """The project's life cycle, for every connection method."""

    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self):
        return SEEDS

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"+file_format": "delta"}}

    @pytest.fixture(scope="class")
    def packages(self):
        return {"packages": [{"local": "pricing"}]}

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        write_package(Path(project.project_root))
        write_file(SNAPSHOTS, project.project_root, "snapshots", "snapshots.yml")
        run_sql(project, *TABLES)
        run_dbt(["deps"])
        run_dbt(["build"])

    def test_life(self, project):
        assert modes_of_views(responses(project)) == dict.fromkeys(INCREMENTAL_VIEWS, "create")
        run_dbt(["run"])
        assert modes_of_views(responses(project)) == dict.fromkeys(INCREMENTAL_VIEWS, "no_op")
        run_sql(project, *CHANGES)
        run_dbt(["run"])
        assert modes_of_views(responses(project)) == dict.fromkeys(INCREMENTAL_VIEWS, "incremental")
        assert [row[:3] for row in rows(project, "sales")] == [
            (1, 1, Decimal("12.00")),
            (2, 2, Decimal("16.00")),
        ]
        assert rows(project, "counts") == [(2,)]
        assert len(rows(project, "latest")) == 4
        assert len(run_dbt(["test"])) == 2
        run_dbt(["docs", "generate"])
        run_dbt(["run", "--full-refresh", "--select", "sales"])
        assert modes(project) == {"sales": "full"}

    @pytest.mark.nightly
    def test_to_a_table_and_back(self, project):
        before = rows(project, "sales")
        run_dbt(["run", "--select", "sales", "--vars", "{as: table}"])
        assert rows(project, "sales") == before
        run_dbt(["run", "--select", "sales"])
        assert modes(project) == {"sales": "no_op"}, "the state was left as it was"
        assert rows(project, "sales") == before
        run_dbt(["test", "--select", "sales"])


class TestSession(SparkProject):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark):
        return {"type": "spark", "method": "session", "host": "none", "threads": 2}

    @pytest.mark.nightly
    def test_other_models_compile_to_the_same_text(self, project):
        def compiled(*, switched_on):
            with mock.patch.dict(os.environ, {"DBT_SPARKIVM": "" if switched_on else "off"}):
                results = run_dbt(["compile", "--no-partial-parse", "--select", "resource_type:model"])
            models = [r.node for r in results if r.node.resource_type == "model"]
            return {node.name: node.compiled_code for node in models if node.name not in INCREMENTAL_VIEWS}

        tests = Path(project.project_root) / "models" / "tests.yml"
        tests.unlink()  # without the plugin, dbt does not know this test
        texts = compiled(switched_on=False)
        tests.write_text(TESTS)
        assert set(texts) == {"latest", "counts"}
        assert compiled(switched_on=True) == texts

    def test_switched_off_dbt_is_as_without_it(self, project):
        with mock.patch.dict(os.environ, {"DBT_SPARKIVM": "off"}):
            _, log = run_dbt_and_capture(["run", "--select", "sales"], expect_pass=False)
            run_dbt(["run", "--select", "latest"])
        assert "incremental_view" in log
        run_dbt(["run", "--select", "sales"])

    def test_an_error_of_ours_breaks_nobody(self, project):
        with mock.patch("dbt.adapters.incremental_view.extend", side_effect=ZeroDivisionError("ours")):
            _, log = run_dbt_and_capture(["run", "--select", "latest"])
        assert "this adapter works as if dbt-sparkivm was not installed" in log

    @pytest.mark.nightly
    def test_what_hooks_set_is_seen_and_nothing_else_is_left(self, project, root_session):
        hooked = (
            "{{ config(materialized='incremental_view', pre_hook=["
            "\"set my.day={{ var('day') }}\", 'create or replace temporary view mine as select 1 as one']) }} "
            "select region, count(*) as n, lower('${my.day}') as day from {{ source('shop', 'orders') }} group by region"
        )
        write_file(hooked, project.project_root, "models", "hooked.sql")
        before = {row.key: row.value for row in root_session.sql("set").collect()}
        for day, mode in (("mon", "create"), ("mon", "no_op"), ("tue", "incremental")):
            run_dbt(["run", "--select", "hooked", "--vars", f"{{day: {day}}}"])
            assert modes(project) == {"hooked": mode}
            shown = project.run_sql(f"select distinct day from {project.test_schema}.hooked", fetch="all")
            assert [tuple(row) for row in shown] == [(day,)]
        after = {row.key: row.value for row in root_session.sql("set").collect()}
        assert {key: after[key] for key in after if before.get(key) != after[key]} == {"my.day": "tue"}
        os.remove(os.path.join(project.project_root, "models", "hooked.sql"))

    @pytest.mark.nightly
    def test_retry(self, project):
        """It loads the adapter again after dbt created its plugins."""
        config = "{{ config(materialized='incremental_view') }} "
        write_file(
            f"{config} select nothing from {{{{ ref('sales') }}}}",
            project.project_root,
            "models",
            "again.sql",
        )
        run_dbt(["run", "--select", "again"], expect_pass=False)
        write_file(
            f"{config} select region from {{{{ ref('sales') }}}}", project.project_root, "models", "again.sql"
        )
        run_dbt(["retry"])
        assert modes(project) == {"again": "create"}
        os.remove(os.path.join(project.project_root, "models", "again.sql"))

    @pytest.mark.parametrize("with_macros", few_of([True, False], [False]), ids=["of dbt 1", "of dbt 2"])
    def test_the_command_refreshes_the_views_of_a_manifest(self, project, with_macros, tmp_path):
        """A manifest of dbt 2 has its own versions of dbt's macros, and none of ours."""
        run_dbt(["parse"])
        manifest = json.loads((Path(project.project_root) / "target" / "manifest.json").read_text())
        if not with_macros:
            kept = ("macro.pricing.", "macro.test.")
            manifest["macros"] = {k: m for k, m in manifest["macros"].items() if k.startswith(kept)}
        (tmp_path / "manifest.json").write_text(json.dumps(manifest))
        run_sql(project, "insert into {schema}.orders values (9, 2, 1, timestamp'2024-03-01')")
        arguments = [
            "run",
            "--manifest",
            str(tmp_path / "manifest.json"),
            "--project-dir",
            str(project.project_root),
        ]
        assert CliRunner().invoke(main, arguments).exit_code == 0
        assert modes(project) == dict.fromkeys(INCREMENTAL_VIEWS, "incremental")
        assert CliRunner().invoke(main, [*arguments, "--select", "sales", "latest"]).exit_code == 0
        assert modes(project) == {"sales": "no_op"}

    def test_the_command_without_a_manifest(self, project):
        done = CliRunner().invoke(main, ["run", "--manifest", "nowhere.json"])
        assert done.exit_code == 2
        assert "there is no manifest nowhere.json; run `dbt parse`" in done.stderr

    @pytest.mark.nightly
    def test_both_types_in_one_process(self, project, tmp_path):
        """The adapters share plugins, but each invocation has its own."""
        (tmp_path / "models").mkdir()
        (tmp_path / "models" / "one.sql").write_text(
            "{{ config(materialized='incremental_view') }} select 1 as a"
        )
        (tmp_path / "dbt_project.yml").write_text("{name: other, version: 1.0.0, profile: other}")
        (tmp_path / "profiles.yml").write_text(
            "other: {target: dev, outputs: {dev: {type: sparkivm, method: session, schema: other}}}"
        )
        run_dbt(["parse", "--project-dir", str(tmp_path), "--profiles-dir", str(tmp_path)])
        theirs = ["--project-dir", str(project.project_root), "--profiles-dir", str(project.profiles_dir)]
        run_dbt(["run", "--select", "sales", *theirs])
        assert modes(project) == {"sales": "no_op"}
