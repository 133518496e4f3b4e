"""Which seeds keep their tables, and what of a seed's file and options decides it."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import pytest
from dbt.adapters.sparkivm.impl import SparkIvmAdapter
from dbt.adapters.sparkivm.seeds import SeedMixin, seed_file
from dbt_common.clients.agate_helper import table_from_rows

TYPES = {"id": "bigint", "name": "string"}
ROWS = SimpleNamespace(rows=[(Decimal(1), "a"), (Decimal(2), None)])


def seed(description="", **config):
    return {"config": config, "description": description}


FILE = seed_file(seed(file_format="delta"), TYPES, ROWS)


def test_the_same_seed_is_the_same_file():
    assert seed_file(seed("Regions.", file_format="delta", tags=["x"]), dict(TYPES), ROWS) == FILE
    assert FILE.columns == ("id", "name")


@pytest.mark.parametrize("rows", [[(Decimal(1), "a")], [(Decimal(1), "a"), (Decimal(2), "None")], []])
def test_other_values_are_other_rows(rows):
    other = seed_file(seed(file_format="delta"), TYPES, SimpleNamespace(rows=rows))
    assert (other.rows != FILE.rows, other.layout) == (True, FILE.layout)


@pytest.mark.parametrize(
    ("model", "types"),
    [
        (seed(file_format="iceberg"), TYPES),
        (seed(file_format="delta", partition_by="id"), TYPES),
        (seed(file_format="delta", location_root="/data"), TYPES),
        (seed("Regions.", file_format="delta", persist_docs={"relation": True}), TYPES),
        (seed(file_format="delta"), {**TYPES, "id": "int"}),
        (seed(file_format="delta"), {"name": "string", "id": "bigint"}),
        (seed(file_format="delta"), {"id": "bigint", "title": "string"}),
    ],
)
def test_another_table_is_another_layout(model, types):
    other = seed_file(model, types, ROWS)
    assert (other.layout != FILE.layout, other.rows) == (True, FILE.rows)


def project(macros):
    """As an adapter sees it; `macros` are names and packages."""
    found = {name: SimpleNamespace(name=name, package_name=package) for name, package in macros.items()}
    return SimpleNamespace(get_macro_resolver=lambda: SimpleNamespace(macros=found))


DBTS = {"default__load_csv_rows": "dbt", "spark__load_csv_rows": "dbt_spark", "price": "shop"}


@pytest.mark.parametrize(
    ("file_format", "macros", "may_keep"),
    [
        ("delta", {}, True),
        ("Iceberg", {}, True),
        (None, {}, False),
        ("parquet", {}, False),
        ("delta", {"databricks__load_csv_rows": "dbt_databricks"}, False),
        ("delta", {"spark__create_csv_table": "shop"}, False),
        ("delta", {"materialization_seed_default": "shop"}, False),
    ],
)
def test_which_seeds_may_keep_their_tables(file_format, macros, may_keep):
    model = seed(file_format=file_format)
    assert SeedMixin._may_keep(project(DBTS | macros), model) is may_keep


def test_types_are_found_once_per_column(monkeypatch):
    """dbt-spark asks once per value, and an answer for numbers reads the whole column."""
    rows = table_from_rows([(number, number / 4, "x") for number in range(50)], ["a", "b", "c"])
    read = []
    aggregate = type(rows).aggregate
    monkeypatch.setattr(type(rows), "aggregate", lambda *given: read.append(1) or aggregate(*given))
    for _ in rows.rows:
        found = [SparkIvmAdapter.convert_type(rows, column) for column in range(3)]
        assert found == ["bigint", "double", "string"]
    assert len(read) <= 3
    assert SparkIvmAdapter.convert_type(table_from_rows([("x",)], ["a"]), 0) == "string"
