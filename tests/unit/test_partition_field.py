"""Entries of partition_by, as dbt-spark's users write them."""

from __future__ import annotations

import pytest

from sparkivm.formats.partition_field import PartitionField


@pytest.mark.parametrize(
    ("text", "field", "sql"),
    [
        ("day", PartitionField("day"), "`day`"),
        (" `my day` ", PartitionField("my day"), "`my day`"),
        ("days(at)", PartitionField("at", "days"), "days(`at`)"),
        ("Month ( `sold at` )", PartitionField("sold at", "month"), "month(`sold at`)"),
        ("bucket(16, id)", PartitionField("id", "bucket", "16"), "bucket(16, `id`)"),
        ("truncate(name, 2)", PartitionField("name", "truncate", "2"), "truncate(2, `name`)"),
        ("upper(name)", PartitionField("upper(name)"), "`upper(name)`"),
        ("a`b", PartitionField("a`b"), "`a``b`"),
    ],
)
def test_entries(text, field, sql):
    assert PartitionField.of(text) == field
    assert field.sql == sql
    assert PartitionField.of(sql) == field
