"""Maps whose entries have another order are different values of a delta."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from sparkivm.algebra import (
    Aggregate,
    Call,
    Consolidate,
    InnerJoin,
    JoinCondition,
    LeftJoin,
    Pair,
    Project,
    Relation,
    Scan,
    UnionAll,
    Unweigh,
    Window,
)
from sparkivm.algebra.aggregates.count import COUNT_ROWS
from sparkivm.algebra.project import only, renamed
from sparkivm.algebra.scalar import column
from sparkivm.algebra.scan import Changes
from sparkivm.algebra.sql_expression import expression
from sparkivm.engine import Field, RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.names import TableName
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.map_columns import keep_map_order, map_types
from sparkivm.plan.origin_types import origin_types
from sparkivm.plan.state import STAGED, STATE, WEIGHT_COLUMN, BagState
from sparkivm.plan.state_change import state_change
from sparkivm.reasons import Reason
from sparkivm.refresh.sources.types_of_rows import check_inner_keys
from sparkivm.spark.data_types import SparkType, spark_type
from sparkivm.spark.equal_values import grouped, in_entry_order
from sparkivm.spark_sql.relations import select_text
from tests.golden.compiled import Empty

MAP, NESTED = "map<string,int>", "array<struct<x:map<int,map<string,int>>,y z:int>>"
TABLES = {"t": [Field("m", MAP), Field("id", "int")], "plain": [Field("a", "int"), Field("s", "string")]}
FACTS = {key: RelationFacts(TableName("s", key), "delta", tuple(TABLES[key])) for key in TABLES}
T, PLAIN = Scan("t", (("m", "m"), ("id", "id"))), Scan("plain", (("a", "a"), ("s", "s")))
ENTRIES = "MAP_ENTRIES(`{}`)"


class Asked:
    """Answers with types by column, and keeps what was asked."""

    def __init__(self, **types: str) -> None:
        self.types, self.names = types, list[str]()

    def __call__(self, relation: Relation) -> tuple[SparkType, ...]:
        parts = relation.inputs if isinstance(relation, InnerJoin) else (relation,)
        assert all(isinstance(part, Project) for part in parts)
        names = [scalar.as_column or "" for part in parts for _, scalar in part.items]
        self.names += names
        return tuple(spark_type(self.types[name]) for name in names)


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("int", "v"),
        ("array<double>", "v"),
        (MAP, "map_entries(v)"),
        (f"array<{MAP}>", "transform(v, __ivm_e0 -> map_entries(__ivm_e0))"),
        (
            f"map<int,{MAP}>",
            "transform(map_entries(v), __ivm_e0 -> struct(__ivm_e0.key, map_entries(__ivm_e0.value)))",
        ),
        (
            f"array<map<int,{MAP}>>",
            "transform(v, __ivm_e0 -> transform(map_entries(__ivm_e0), "
            "__ivm_e1 -> struct(__ivm_e1.key, map_entries(__ivm_e1.value))))",
        ),
        (f"struct<a b:{MAP},c:int>", "if(v is null, null, struct(map_entries(v.`a b`), v.`c`))"),
    ],
)
def test_entries_take_the_place_of_a_map(type_, text):
    assert in_entry_order("v", spark_type(type_)) == text


def test_rows_are_grouped_by_what_tells_their_values_apart():
    types = {"m": spark_type(MAP), "f": spark_type("float"), "b": spark_type("map<int,double>")}
    items, keys = grouped(["id", "m", "f", "b"], types.items())
    assert items == ["`id`", "first(`m`) as `m`", "first(`f`) as `f`", "first(`b`) as `b`"]
    assert keys == [
        "`id`", "map_entries(`m`)", "`f`", "map_entries(`b`)", "cast(`f` as string)", "cast(`b` as string)",
    ]  # fmt: skip


def test_spark_is_asked_only_if_there_may_be_a_map():
    asked = Asked(c=MAP, n="bigint")
    counted = Aggregate(
        Project(PLAIN, (("c", expression("a + 1", a="a")),)), ("c",), (Call("n", COUNT_ROWS),)
    )
    assert map_types(origin_types(counted, TABLES, asked)) == ()
    assert asked.names == []
    made = Project(PLAIN, (("c", expression("str_to_map(s)", s="s")), ("a", column("a"))))
    counted = Aggregate(made, ("c",), (Call("n", COUNT_ROWS),))
    assert dict(map_types(origin_types(counted, TABLES, asked))) == {"c": spark_type(MAP)}
    assert sorted(asked.names) == ["c", "n"]


def test_a_map_of_a_source_needs_no_question():
    asked = Asked()
    assert dict(map_types(origin_types(only(T, ("id", "m")), TABLES, asked))) == {"m": spark_type(MAP)}
    assert asked.names == []


def test_one_name_of_two_types():
    union = UnionAll((T, renamed(Scan("plain", (("m", "a"), ("id", "s"))), (("m", "m"), ("id", "id")))))
    with pytest.raises(NotIncremental, match="m is of type"):
        map_types(origin_types(union, TABLES, Asked()))
    one, other = (renamed(PLAIN, (("x", name),)) for name in ("a", "s"))
    assert map_types(origin_types(UnionAll((one, other)), TABLES, Asked())) == ()
    scans = Scan("plain", (("x", "a"),)), Scan("plain", (("x", "s"),))
    assert map_types(origin_types(UnionAll(scans), TABLES, Asked())) == ()


MAPS = (("m", spark_type(MAP)),)
COUNTED = (Call("n", COUNT_ROWS),)


@pytest.mark.parametrize(
    ("core", "what"),
    [
        (
            Aggregate(Aggregate(T, ("m",), COUNTED), (), COUNTED),
            "a subquery or DISTINCT groups by s.t.m of type map<string,int>, which Spark cannot join by$",
        ),
        (
            Aggregate(Aggregate(renamed(T, (("k", "m"),)), ("k",), COUNTED), (), COUNTED),
            "a subquery or DISTINCT groups by s.t.m of type map",
        ),
        (
            Aggregate(
                Aggregate(Project(PLAIN, (("k", expression("str_to_map(s)", s="s")),)), ("k",), COUNTED),
                (),
                COUNTED,
            ),
            "a subquery or DISTINCT groups by k of type map",
        ),
        (Window(T, ("m",), ()), "a window function is partitioned by s.t.m of type map"),
        (
            LeftJoin(T, PLAIN, JoinCondition((Pair("id", "a"),), (expression("m[s] > 0", m="m", s="s"),))),
            "ON reads s.t.m of type map.*; compute the compared value in a subquery",
        ),
    ],
)
def test_rows_are_found_by_no_map(core, what):
    with pytest.raises(NotIncremental, match=what) as refused:
        check_inner_keys(core, origin_types(core, TABLES, Asked(k=MAP, n="bigint")), FACTS)
    assert refused.value.fallback.reason is Reason.TYPE_NOT_SUPPORTED


def test_maps_that_find_no_rows():
    by_id = JoinCondition((Pair("id", "a"),))
    for core in (Aggregate(T, ("m",), COUNTED), LeftJoin(T, PLAIN, by_id), Aggregate(T, ("id",), COUNTED)):
        check_inner_keys(core, origin_types(core, TABLES, Asked(n="bigint")), FACTS)


NOTHING = Project(PLAIN, (("x", expression("null")), ("a", column("a"))))
SOME = renamed(PLAIN, (("x", "s"), ("a", "a")))


@pytest.mark.parametrize(
    ("rows", "refused"),
    [
        (NOTHING, True),
        (SOME, False),
        (
            Project(PLAIN, (("x", expression("case when a > 1 then null end", a="a")), ("a", column("a")))),
            True,
        ),
        (renamed(NOTHING, (("x", "a"), ("y", "x"))), False),
        (UnionAll((NOTHING, NOTHING)), True),
        (UnionAll((NOTHING, SOME)), False),
        (UnionAll((SOME, NOTHING)), False),
        (UnionAll((SOME, Aggregate(NOTHING, ("x",), (Call("a", COUNT_ROWS),)))), True),
    ],
)
def test_a_null_without_a_type_is_no_key(rows, refused):
    for core in (Aggregate(Aggregate(rows, ("x",), COUNTED), (), COUNTED), Window(rows, ("x",), ())):
        types = origin_types(core, TABLES, Asked(x="void", n="bigint", a="bigint"))
        with pytest.raises(NotIncremental, match="by x of type void") if refused else nullcontext():
            check_inner_keys(core, types, FACTS)


def test_a_variant_is_no_key():
    rows = Project(PLAIN, (("x", expression("to_variant_object(array(s))", s="s")),))
    core = Aggregate(Aggregate(rows, ("x",), COUNTED), (), COUNTED)
    with pytest.raises(NotIncremental, match="by x of type variant"):
        check_inner_keys(core, origin_types(core, TABLES, Asked(x="variant", n="bigint")), FACTS)


def told_apart(delta: Relation) -> list[tuple[str, str]]:
    found = [
        node for node in keep_map_order(delta, MAPS, {"shown": "m"}).walk() if isinstance(node, Consolidate)
    ]
    return [(name, scalar.sql("spark")) for node in found for name, scalar in node.told_apart]


@pytest.mark.parametrize("name", ["m", "x"])
def test_a_map_is_found_through_renaming_and_unions(name):
    some = renamed(T, ((name, "m"), ("id", "id")))
    nothing = Project(PLAIN, ((name, expression("null")), ("id", column("a"))))
    assert told_apart(Consolidate(some)) == [(name, ENTRIES.format(name))]
    assert told_apart(Consolidate(UnionAll((nothing, some)))) == [(name, ENTRIES.format(name))]
    assert told_apart(Consolidate(only(T, ("id",)))) == []


@pytest.mark.parametrize("table", [STATE, STAGED])
def test_a_map_is_found_in_the_state_and_in_staged_changes(table):
    stored = Scan(table, (("__ivm_o_shown", "shown"), ("m", "other")))
    assert told_apart(Consolidate(stored)) == [("__ivm_o_shown", ENTRIES.format("__ivm_o_shown"))]


def test_a_delta_without_maps_stays_as_it_is():
    delta = Consolidate(Changes("t", T.fields))
    assert keep_map_order(delta, (), {}) is delta


@pytest.mark.parametrize("form", ["rewrite", "append", "merge"])
def test_a_change_of_a_bag_groups_by_entries(form):
    state = BagState(only(T, ("id", "m")), (("k", "id"), ("v", "m")), maps=MAPS)
    change = state_change(state, form, frozenset({"t"}), Sizes())
    consolidated = [node for node in change.rows.walk() if isinstance(node, Consolidate)]
    assert consolidated
    assert all([name for name, _ in node.told_apart] == ["v"] for node in consolidated)


def test_the_text_takes_one_map_of_each_group():
    delta = keep_map_order(Unweigh(Consolidate(T), WEIGHT_COLUMN), MAPS, {})
    assert select_text(delta, Empty()) == (
        "select first(q1.`m`) as `m`, q1.`id`, sum(1) as `__ivm_weight`\nfrom t as q1\n"
        "group by MAP_ENTRIES(q1.`m`), q1.`id`\nhaving sum(1) <> 0"
    )
