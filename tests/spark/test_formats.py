"""Sources and states in each combination of formats with Iceberg. All other tests have both in Delta.

`make nightly` repeats tests that compare rows with each combination: SPARKIVM_SOURCES and SPARKIVM_STATES.
"""

from __future__ import annotations

import pytest

from tests.spark.lab import Lab, View, side_by_side
from tests.spark.shop import change, open_shop
from tests.spark.state_sizes import take_states_for

pytestmark = [pytest.mark.spark, pytest.mark.slow]

QUERIES = {
    "sums": "select customer, note, count(*) as n, sum(amount) as s from orders group by customer, note",
    "extrema": "select customer, max(amount) as most, avg(qty) as q from orders group by customer",
    "joined": "select o.id, c.name, i.product from orders o left join customers c on o.customer = c.id "
    "join items i on i.order_id = o.id",
    "unbought": "select id from customers where id not in (select customer from orders where customer is not null)",
}


@pytest.mark.parametrize(
    ("sources", "states"), [("delta", "iceberg"), ("iceberg", "delta"), ("iceberg", "iceberg")]
)
def test_each_combination(spark, monkeypatch, sources, states):
    lab = Lab(spark, f"formats_{sources}_{states}", sources, states)
    open_shop(lab)
    views = [lab.view(name, sql) for name, sql in QUERIES.items()]
    side_by_side(lab, views, View.build)
    for view in views:
        facts = lab.engine.describe(view.request.state)
        assert facts is not None
        assert facts.kind == states
    for batch, size in enumerate(("small", "huge", "small", "huge")):
        take_states_for(size, monkeypatch)
        change(lab, batch)
        side_by_side(lab, views, lambda view: view.must_be("incremental"))
    assert not any(view.state_differences() for view in views)
    assert {view.must_be("no_op").mode for view in views} == {"no_op"}
