"""Which lookups share a slice: all lookups in a large table except those whose keys come from the slice."""

from __future__ import annotations

from collections.abc import Mapping

from sparkivm.algebra import Changes, Derivation, InnerJoin, Project, Relation, Scan, Slice
from sparkivm.algebra.project import only
from sparkivm.algebra.scalar import equal
from sparkivm.plan.join_order import RowEstimate, Sizes, order_joins
from sparkivm.plan.shared_reads import share_reads

ROWS = {"customers": 150e3, "orders": 15e6, "lines": 60e6, "parts": 20e6}
CHANGED = dict.fromkeys(ROWS, 1000.0)

CUSTOMERS = Scan("customers", (("c_key", "key"), ("c_name", "name")))
ORDERS = Scan("orders", (("o_key", "key"), ("o_customer", "customer")))
LINES = Scan("lines", (("l_order", "order"), ("l_part", "part")))
PARTS = Scan("parts", (("p_key", "key"), ("p_brand", "brand")))


def derived(*inputs: Scan, rows: Mapping[str, float] = ROWS) -> Relation:
    """The delta of a chain of joins in which every input changed."""
    equalities = {
        ("c_key", "o_customer"): {CUSTOMERS, ORDERS},
        ("o_key", "l_order"): {ORDERS, LINES},
        ("l_part", "p_key"): {LINES, PARTS},
    }
    on = tuple(equal(*pair) for pair, tables in equalities.items() if tables <= set(inputs))
    join = InnerJoin(inputs, on)
    delta = Derivation({scan.table for scan in inputs}).delta(only(join, join.columns))
    sizes = Sizes(rows, CHANGED)
    return share_reads(order_joins(delta, sizes), RowEstimate(sizes))


def slices(relation: Relation) -> list[Slice]:
    return [node for node in relation.walk() if isinstance(node, Slice)]


def scans(relation: Relation, table: str) -> int:
    return sum(isinstance(node, Scan) and node.table == table for node in relation.walk())


def test_a_table_in_the_middle_is_read_once():
    plan = derived(ORDERS, LINES, PARTS)
    assert scans(plan, "lines") == 1
    (lines,) = (
        found for found in slices(plan) if isinstance(found.input, Scan) and found.input.table == "lines"
    )
    assert {pair.left for lookup in lines.lookups for pair in lookup.pairs} == {"order", "part"}


def test_a_lookup_whose_keys_come_out_of_a_slice_is_not_part_of_it():
    plan = derived(CUSTOMERS, ORDERS, LINES, PARTS)
    # Lines of changed customers need their orders, orders of changed parts their lines: one has to wait.
    assert (scans(plan, "lines"), scans(plan, "orders")) in ((1, 2), (2, 1))
    for found in slices(plan):
        assert found not in {node for lookup in found.lookups for node in lookup.keys.walk()}


def test_small_tables_are_looked_up_as_often_as_they_are_asked():
    assert not slices(derived(ORDERS, LINES, PARTS, rows=dict.fromkeys(ROWS, 1000.0)))


def test_what_else_a_slice_is_asked_for_stays():
    """A slice has the columns that all its readers need."""
    plan = derived(ORDERS, LINES, PARTS)
    (lines,) = (
        found for found in slices(plan) if isinstance(found.input, Scan) and found.input.table == "lines"
    )
    assert set(lines.columns) == {"order", "part"}
    assert any(isinstance(node, Project) and node.input is lines for node in plan.walk())
    assert any(isinstance(node, Changes) and node.table == "lines" for node in plan.walk())
