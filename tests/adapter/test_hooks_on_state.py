"""Hooks that maintain a view's table are about its state; all others stay as they are."""

import pytest
from dbt.adapters.sparkivm.hooks_on_state import on_state

from sparkivm.names import TableName, state_table

VIEW = TableName("shop", "Sales")
STATE = "`shop`.`Sales__ivm`"


@pytest.mark.parametrize(
    ("hook", "statement"),
    [
        ("optimize shop.Sales", f"optimize {STATE}"),
        ("OPTIMIZE `shop`.`sales` WHERE day > '2026-01-01' ZORDER BY (id)", f"OPTIMIZE {STATE} WHERE day > '2026-01-01' ZORDER BY (id)"),
        ("\n  -- weekly\n  /* with\n a hint */ optimize  spark_catalog.shop.sales", f"\n  -- weekly\n  /* with\n a hint */ optimize  {STATE}"),
        ("vacuum shop.sales retain 168 hours", f"vacuum {STATE} retain 168 hours"),
        ("analyze table shop.sales compute statistics for all columns", f"analyze table {STATE} compute statistics for all columns"),
        ("call spark_catalog.system.rewrite_data_files(table => 'shop.sales', strategy => 'sort')", f"call spark_catalog.system.rewrite_data_files(table => '{STATE}', strategy => 'sort')"),
        ("call system.rewrite_manifests(table => 'shop.sales')", f"call system.rewrite_manifests(table => '{STATE}')"),
        ("call system.rewrite_manifests('shop.sales', true)", f"call system.rewrite_manifests('{STATE}', true)"),
        ('call system.rewrite_data_files(strategy => "sort", table => "spark_catalog.shop.sales")', f'call system.rewrite_data_files(strategy => "sort", table => \'{STATE}\')'),
    ],
)  # fmt: skip
def test_about_the_state(hook, statement):
    assert on_state(hook, VIEW, state_table(VIEW)) == statement


@pytest.mark.parametrize(
    "hook",
    [
        "optimize shop.sales_archive",
        "optimize sales",
        "optimize shop.sales__ivm",
        "optimize other.sales",
        "optimize lake.shop.sales",
        "vacuum lake.eu.shop.sales",
        "analyze table lake.shop.sales compute statistics",
        "call lake.system.rewrite_data_files(table => 'shop.sales')",
        "call system.rewrite_data_files(table => 'lake.shop.sales')",
        "call system.rewrite_data_files('shop.orders', options => map('x', 'shop.sales'))",
        "insert into shop.log select count(*) from shop.sales",
        "select 'optimize shop.sales'",
        "grant select on shop.sales to analysts",
        "call system.expire_snapshots(table => 'shop.sales')",
        "call system.rewrite_data_files(table => 'shop.orders')",
        "analyze tables in shop compute statistics",
        "",
    ],
)
def test_about_something_else(hook):
    assert on_state(hook, VIEW, state_table(VIEW)) == hook


@pytest.mark.parametrize(
    ("table", "is_about_it"),
    [("shop.sales", True), ("spark_catalog.shop.sales", True), ("lake.shop.sales", False)],
)
def test_a_procedure_of_the_catalog_that_has_the_state(table, is_about_it):
    state = state_table(VIEW, "lake")
    hook = f"call lake.system.rewrite_manifests(table => '{table}')"
    expected = f"call lake.system.rewrite_manifests(table => '{state.sql}')" if is_about_it else hook
    assert on_state(hook, VIEW, state) == expected
