"""What a star expands to: among a function's arguments, and after a struct."""

from __future__ import annotations

import pytest

from sparkivm.engine import Field
from sparkivm.reasons import Reason
from tests.fuzz.embedded import Catalog
from tests.reading import read, refusal

ALL = "`k`, `a`, `b`, `d`, `f`, `s`"


def only_item(sql):
    ((_, scalar),) = read(sql).root.items
    return scalar.sql("spark")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("hash(*)", f"HASH({ALL})"),
        ("coalesce(r.*, 'x')", f"COALESCE({ALL}, 'x')"),
        ("concat_ws('-', k, * except (d, f))", "CONCAT_WS('-', `k`, `k`, `a`, `b`, `s`)"),
        ("md5(concat(R.*))", f"MD5(CONCAT({ALL}))"),
    ],
)
def test_a_star_is_all_columns(call, text):
    assert only_item(f"select {call} as x from r") == text


@pytest.mark.parametrize(
    ("call", "columns"),
    [
        ("count(* except (b, d, f, s))", "ka"),
        ("count(b, r.* except (d, f, s))", "bkab"),
        ("count(r.*)", "kabdfs"),
        ("count(distinct *)", None),
        ("count(*)", None),
    ],
)
def test_stars_in_count(call, columns):
    """Only COUNT(*) also counts rows without values."""
    (made,) = [
        one for node in read(f"select {call} as n from r").root.walk() for one in getattr(node, "calls", ())
    ]
    if columns is None:
        assert made.function.name == {"count(*)": "count_rows"}.get(call, "other")
        return
    filled = " AND ".join(f"NOT `{name}` IS NULL" for name in columns)
    assert made.argument.sql("spark") == f"CASE WHEN {filled} THEN 1 END"


def test_fields_of_a_struct_have_the_names_of_the_columns():
    text = only_item("select struct(s.* except (d, f, s), r.a as other) as x from r join s on r.k = s.k")
    assert text == "STRUCT(`k_2` AS `k`, `a_2` AS `a`, `b_2` AS `b`, `a` AS other)"


@pytest.mark.parametrize(
    ("made", "stars", "names"),
    [
        ("from_json(s, 'x int, y string')", "j.*", ["x", "y"]),
        ("from_json(s, 'STRUCT<x: int>')", "k, j.*", ["k", "x"]),
        ("from_json(s, 'p struct<a int>, q int')", "j.p.*, j.q", ["a", "q"]),
        ("cast(struct(k, a) as struct<x: int, y: array<int>>)", "j.*", ["x", "y"]),
    ],
)
def test_a_struct_that_says_its_fields(made, stars, names):
    root = read(f"select {stars} from (select k, {made} as j from r)").root
    assert [scalar.tree.name for _, scalar in root.items] == names


def test_a_field_of_a_field_behind_the_alias_of_the_table():
    made = "(select from_json(s, 'p struct<a int>') as j from r) as x"
    assert str(read(f"select x.j.p.a from {made}")) == str(read(f"select j.p.a from {made}"))


def test_elements_of_an_array_that_says_its_fields():
    made = "from_json(s, 'l array<struct<x int, y string>>')"
    root = read(f"select e.* from (select {made} as j from r) lateral view explode(j.l) t as e").root
    assert [scalar.tree.name for _, scalar in root.items] == ["x", "y"]


@pytest.mark.parametrize(
    "made",
    [
        """from_json(s, '{"type": "struct", "fields": []}')""",
        "from_json(s)",
        "from_json(s, 'a int, b void, c int')",
        "from_json(s, '/* a int')",
    ],
)
def test_a_schema_that_cannot_be_read(made):
    sql = f"select j.* from (select {made} as j from r)"
    assert "whose fields are not known" in refusal(sql).detail


def test_a_subquery_has_its_own_star():
    query = read("select k from r where a in (select hash(*) from s)")
    hashes = [
        scalar.sql("spark")
        for node in query.root.walk()
        for _, scalar in getattr(node, "items", ())
        if "HASH" in scalar.sql("spark")
    ]
    assert len(hashes) == 1
    assert "`k_2`" in hashes[0]
    assert "`k`" not in hashes[0]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select count(* except (k, a, b, d, f, s)) as n from r", Reason.SQL_NOT_UNDERSTOOD),
        ("select max(*) as x from r", Reason.EXPRESSION_NOT_SUPPORTED),
        ("select k from r group by k having count(*, a) > 1", Reason.SQL_NOT_UNDERSTOOD),
        ("select upper(*) as x from r", Reason.EXPRESSION_NOT_SUPPORTED),
        ("select * except (s.a) from s", Reason.OPERATOR_NOT_SUPPORTED),
        ("select k from r order by hash(*)", Reason.SQL_NOT_UNDERSTOOD),
        ("select k, count(*) as n from r group by k having hash(*) > 1", Reason.SQL_NOT_UNDERSTOOD),
    ],
)
def test_stars_that_mean_something_else_or_nothing(sql, reason):
    assert refusal(sql).reason is reason


EVENTS = Catalog(
    {
        "events": (
            Field("id", "bigint"),
            Field("payload", "struct<kind:string,inner:struct<a:int,Of:array<int>>>"),
            Field("kind", "string"),
            Field("tags", "map<string,int>"),
            Field("items", "array<struct<sku:string,prices:array<struct<net:decimal(12,2),tax:int>>>>"),
        )
    }
)


@pytest.mark.parametrize(
    ("star", "expressions"),
    [
        ("payload.*", ["`payload`.`kind`", "`payload`.`inner`"]),
        ("e.payload.*", ["`payload`.`kind`", "`payload`.`inner`"]),
        ("PAYLOAD.Inner.*", ["`payload`.`Inner`.`a`", "`payload`.`Inner`.`Of`"]),
        ("e.payload.inner.*", ["`payload`.`inner`.`a`", "`payload`.`inner`.`Of`"]),
    ],
)
def test_fields_of_a_struct(star, expressions):
    query = read(f"select {star} from (select * from events) as e", EVENTS)
    assert [scalar.sql("spark") for _, scalar in query.root.items] == expressions


@pytest.mark.parametrize(
    ("query", "expressions"),
    [
        ("select i.* from events lateral view explode(items) as i", ["`i`.`sku`", "`i`.`prices`"]),
        (
            "select p, price.* from events lateral view outer explode(items) as i "
            "lateral view posexplode(i.prices) as p, price",
            ["`p`", "`price`.`net`", "`price`.`tax`"],
        ),
    ],
)
def test_fields_of_what_an_array_holds(query, expressions):
    root = read(query, EVENTS).root
    assert [scalar.sql("spark") for _, scalar in root.items] == expressions


def test_a_map_under_another_name_is_one():
    """UNPIVOT renames the columns that it keeps."""
    names = read("select explode(tags) from (select * from events unpivot (x for n in (id)))", EVENTS).output
    assert names == ("key", "value")


@pytest.mark.parametrize(
    ("type_", "names"),
    [
        ("struct<x:int,content-type:struct<a b:int>,y:decimal(10,2)>", ["x", "content-type", "y"]),
        ("struct<$ref:string,select:array<int>,x:int>", ["$ref", "select", "x"]),
        ("struct<it's:int,a`b:int,/*:int,a;b:int>", ["it's", "a`b", "/*", "a;b"]),
        ("struct<first name:interval day to second,c:string collate UTF8_LCASE>", ["first name", "c"]),
    ],
)
def test_fields_whose_names_are_no_sql(type_, names):
    catalog = Catalog({"events": (Field("id", "int"), Field("items", f"array<{type_}>"))})
    root = read("select s.* from (select explode(items) as s from events)", catalog).root
    assert [scalar.tree.name for _, scalar in root.items] == names


@pytest.mark.parametrize(
    "type_", ["struct<a:udt,x:int>", "struct<a,b:int,x:int>", "struct<p:struct<c(d:int>,q:struct<a)b:int>>"]
)
def test_fields_with_ambiguous_names(type_):
    catalog = Catalog({"events": (Field("id", "int"), Field("st", type_))})
    assert "whose fields are not known" in refusal("select st.* from events", catalog).detail


@pytest.mark.parametrize("star", ["id.*", "tags.*", "payload.kind.*", "nothing.*", "payload.* except (kind)"])
def test_what_has_no_fields_or_not_all(star):
    assert refusal(f"select {star} from events", EVENTS).reason is Reason.OPERATOR_NOT_SUPPORTED
