"""The updated customers, parts and suppliers: deterministic, and within the requested part."""

from benchmarks.dimension_updates import DIMENSION_UPDATES, updated_keys


def test_spread_differs_by_seed_and_table():
    one = updated_keys("part", 20, 1, "spread", "1/1")
    assert len(set(one)) == 20
    assert one == updated_keys("part", 20, 1, "spread", "1/1")
    assert one != updated_keys("part", 20, 1, "spread", "1/2")
    assert one != updated_keys("customer", 20, 1, "spread", "1/1")
    assert 1 <= min(one) <= max(one) <= 200_000


def test_recent_are_the_highest():
    assert updated_keys("supplier", 3, 1, "recent", "1/1") == [9998, 9999, 10_000]


def test_a_small_table_is_updated_whole():
    assert updated_keys("supplier", 20, 0.001, "spread", "1/1") == list(range(1, 11))


def test_statements_name_the_keys():
    texts = [update.statement("tpch", [3, 5]) for update in DIMENSION_UPDATES["attributes"]]
    assert [text.split()[1] for text in texts] == ["tpch.customer", "tpch.part", "tpch.supplier"]
    assert texts[2].endswith(" where s_suppkey in (3, 5)")
