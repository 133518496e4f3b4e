"""What `meta.sparkivm` of a source may contain, and how a mistake is reported."""

import pytest

from sparkivm.changes.source_declaration import DeclaredSources, MirrorOptions, read_declaration
from sparkivm.errors import DeclarationError
from sparkivm.names import TableName

ORDERS = TableName("shop", "orders")


def test_nothing_declared():
    declared = DeclaredSources("analytics")
    assert declared.of(ORDERS).mirrored is None
    assert declared.logs == ()
    assert str(declared.mirror_name(ORDERS, "m")) == "analytics.shop__orders__ivm_mirror"
    assert str(declared.mirror_name(TableName("analytics", "o"), "m")) == "analytics.o__ivm_mirror"
    assert str(DeclaredSources().mirror_name(ORDERS, "shop")) == "shop.orders__ivm_mirror"


def test_names_from_other_catalogs():
    name = DeclaredSources("a").mirror_name
    assert name(TableName("s", "t", "lake"), "").identifier == "lake__s__t__ivm_mirror"
    assert name(TableName("s", "t", "spark_catalog"), "").identifier == "s__t__ivm_mirror"
    assert name(TableName("a", "t", "spark_catalog"), "").identifier == "t__ivm_mirror"


def test_mirror_options():
    meta = {"key": "id", "mirror": {"name": "m", "schema": "s", "location": "/x", "retention": "60 days"}}
    declared = DeclaredSources("a", {"shop.orders": meta})
    assert declared.of(ORDERS).key == ("id",)
    assert declared.of(ORDERS).mirror == MirrorOptions("m", "s", "/x", "60 days")
    assert declared.mirror_name(ORDERS, "") == TableName("s", "m")
    assert (
        read_declaration("s", {"mirror": {"retention": "2 weeks 1 day"}}).mirror.retention == "2 weeks 1 day"
    )
    assert [read_declaration("s", {"mirror": one}).mirrored for one in (True, False)] == [True, False]


@pytest.mark.parametrize(
    ("meta", "may_be"),
    [
        ({}, True),
        ({"key": "id"}, True),
        ({"mirror": True}, True),
        ({"mirror": {"name": "m"}}, True),
        ({"mirror": False}, False),
        ({"key": "id", "change_log": "debezium"}, False),
        ({"key": "id", "change_log": "debezium", "mirror": False}, False),
    ],
)
def test_which_source_may_get_a_mirror(meta, may_be):
    assert read_declaration("s", meta).may_be_mirrored is may_be


def test_kept_snapshots():
    texts = ("14 days", "1 day", "2 hours", "90 Minutes")
    assert [read_declaration("s", {"keep_snapshots": one}).kept_minutes for one in texts] == [
        20160, 1440, 120, 90,
    ]  # fmt: skip
    assert not DeclaredSources("a", {"shop.orders": {"key": "id"}, "shop.odd": "yes"}).keeps_snapshots
    for odd in (7, True, ["keep_snapshots"], "keep_snapshots: 1 day"):
        assert not DeclaredSources("a", {"shop.odd": odd}).keeps_snapshots
    assert DeclaredSources("a", {"shop.orders": {"keep_snapshots": "1 day"}}).keeps_snapshots


def test_change_log_formats():
    debezium = read_declaration("s", {"key": ["id"], "change_log": "debezium"}).log
    assert (debezium.after, debezium.before, debezium.order) == ("after", "before", ("ts_ms",))
    log = {"format": "debezium", "order": ["source.lsn"], "before": None}
    debezium = read_declaration("s", {"key": ["id"], "change_log": log}).log
    assert (debezium.before, debezium.order) == ("", ("source.lsn",))
    delta = read_declaration("s", {"key": ["id"], "change_log": {"format": "delta"}}).log
    assert delta.hidden[:2] == ("_change_type", "_commit_version")
    log = {"operation": "gone", "order": "seq", "upserts": False, "deletes": True, "columns": ["id", "x"]}
    flat = read_declaration("s", {"key": ["id"], "change_log": log}).log
    assert (flat.upserts, flat.deletes, flat.columns) == (("false",), ("true",), ("id", "x"))


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        ("yes", "sparkivm is 'yes'"),
        ({"keys": ["id"]}, "has no option keys"),
        ({"key": {"a": 1}}, "key is {'a': 1}"),
        ({"mirror": {"nam": "x"}}, "write name"),
        ({"mirror": {"name": 1}}, "mirror.name is 1"),
        ({"mirror": "off"}, "mirror is 'off'"),
        ({"mirror": "true"}, "write true, false or options: name, "),
        ({"mirror": {"schema": " "}}, "mirror.schema is ' '"),
        ({"mirror": {"retention": "a while"}}, "mirror.retention is 'a while'"),
        ({"mirror": {"retention": "1 month"}}, "mirror.retention is '1 month'"),
        ({"key": ""}, "key is ''"),
        ({"key": ["id", ""]}, "key is ['id', '']"),
        ({"key": [1]}, "key is [1]"),
        ({"key": True}, "key is True"),
        ({"key": "id", "change_log": {"order": [None]}}, "change_log.order is [None]"),
        ({"key": "id", "change_log": {"order": "x", "upserts": [{}]}}, "change_log.upserts is [{}]"),
        ({"refresh_mode": "full"}, "has no option refresh_mode"),
        ({"keep_snapshots": 14}, "keep_snapshots is 14"),
        ({"keep_snapshots": None}, "keep_snapshots is None"),
        ({"keep_snapshots": "0 days"}, "keep_snapshots is '0 days'"),
        ({"keep_snapshots": "2 weeks"}, "write a number of minutes, hours or days"),
        ({"change_log": "debezium"}, "the change log has no key"),
        ({"key": "id", "change_log": "kafka"}, "use one of debezium, delta, columns"),
        ({"key": "id", "change_log": {"format": "columns"}}, "change_log.order is missing"),
        ({"key": "id", "change_log": {"ordr": "x"}}, "write order"),
        (
            {"key": "id", "change_log": {"format": "debezium", "after": None}},
            "before is set, but after is not",
        ),
        ({"key": "id", "change_log": {"format": "debezium", "columns": ["id"]}}, "leave columns out"),
        ({"key": "id", "change_log": {"order": "x", "deletes": ["c"]}}, "'c' is in change_log.upserts and"),
        ({"key": "id", "change_log": {"order": "x", "operation": 3}}, "change_log.operation is 3"),
    ],
)
def test_mistakes(meta, words):
    declared = DeclaredSources("", {"shop.orders": meta})
    with pytest.raises(DeclarationError, match="source shop") as error:
        declared.of(ORDERS)
    assert words in str(error.value)
    assert "\n  do     " in str(error.value)


def test_sources_that_are_named_with_the_current_catalog():
    declared = DeclaredSources("shop", {"lake.s.t": {"mirror": False}, "s.u": {"mirror": True}})
    assert declared.names_catalogs
    here = declared.in_session("LAKE")
    assert here.of(TableName("s", "t")).mirrored is False
    assert here.of(TableName("s", "u")).mirrored is True
    elsewhere = declared.in_session("spark_catalog")
    assert elsewhere.of(TableName("s", "t", "lake")).mirrored is False
    assert elsewhere.of(TableName("s", "t")).mirrored is None
