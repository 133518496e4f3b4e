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
