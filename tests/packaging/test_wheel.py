"""What the wheel installs: every macro, the compiler and none of dbt's own files; dbt finds its way in it."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MACROS = {str(path.relative_to(ROOT)) for path in (ROOT / "macros").rglob("*") if path.is_file()}
DBTS_OWN = {"dbt/__init__.py", "dbt/adapters/__init__.py", "dbt/include/__init__.py"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    directory = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(directory), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return directory


@pytest.fixture(scope="module")
def wheel(built):
    return next(built.glob("*.whl"))


def test_wheel_holds_all_and_nothing_of_dbt(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"dbt/include/sparkivm/{macro}" for macro in MACROS} <= names
    assert {"sparkivm/engine.py", "sparkivm/py.typed", "dbt/adapters/sparkivm/impl.py"} <= names
    assert {"dbt/include/sparkivm/dbt_project.yml", "dbt_sparkivm/__init__.py"} <= names
    assert {
        f"dbt/include/sparkivm_profile/{name}" for name in ("dbt_project.yml", "profile_template.yml")
    } <= names
    assert not names & DBTS_OWN
    assert {name.split("/")[0] for name in names} == {
        "dbt",
        "dbt_sparkivm",
        "sparkivm",
        next(n for n in names if "dist-info" in n).split("/")[0],
    }


def test_wheel_registers_the_dialect(wheel):
    archive = zipfile.ZipFile(wheel)
    entry_points = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
    assert "sparkivm = sqlglot.dialects.spark:Spark" in archive.read(entry_points).decode()


def test_sdist_holds_the_sources(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "python_helpers/sparkivm/engine.py"} <= names
    assert {macro.removeprefix("macros/") for macro in MACROS} <= {
        name.split("macros/", 1)[1] for name in names if "macros/" in name
    }
    assert not names & DBTS_OWN


@pytest.mark.parametrize("type_", ["sparkivm", "spark"])
def test_dbt_parses_a_project_with_the_unpacked_wheel(wheel, tmp_path, type_):
    site, project = tmp_path / "site", tmp_path / "project"
    zipfile.ZipFile(wheel).extractall(site)
    (project / "models").mkdir(parents=True)
    (project / "dbt_project.yml").write_text("name: tiny\nversion: '1.0'\nprofile: tiny\n")
    (project / "profiles.yml").write_text(
        f"tiny:\n  target: dev\n  outputs:\n    dev: {{type: {type_}, method: session, host: none, schema: tiny}}\n"
    )
    (project / "models" / "one.sql").write_text("{{ config(materialized='incremental_view') }} select 1 as a")
    (project / "models" / "schema.yml").write_text(
        "models:\n  - name: one\n    data_tests: [incremental_view_is_consistent]\n"
    )
    # Python reads an editable install's .pth after PYTHONPATH, so it finds the wheel's files first.
    script = (
        "import sparkivm, dbt.include.sparkivm as include\n"
        f"assert sparkivm.__file__.startswith({str(site)!r}), sparkivm.__file__\n"
        f"assert include.__file__.startswith({str(site)!r}), include.__file__\n"
        "from dbt.cli.main import dbtRunner\n"
        "result = dbtRunner().invoke(['parse'])\n"
        "assert result.success, result.exception\n"
        "assert 'macro.dbt_sparkivm.materialization_incremental_view_spark' in result.result.macros\n"
    )
    environment = os.environ | {"PYTHONPATH": str(site), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
