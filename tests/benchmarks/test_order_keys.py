"""The choice of changed orders: deterministic, disjoint, and within the requested part."""

import pytest

from benchmarks.order_keys import OrderChooser, gap_key, order_key

N = 10_000


def test_keys_are_those_of_the_generator():
    assert [order_key(n) for n in range(1, 17)] == [*range(1, 8), *range(32, 40), 64]


def test_gap_keys_are_unused_and_unique():
    gaps = {gap_key(n) for n in range(1, N + 1)}
    assert len(gaps) == N
    assert gaps.isdisjoint(order_key(n) for n in range(1, N + 1))


def test_equal_seeds_choose_equally():
    one, other = OrderChooser(N, seed=7), OrderChooser(N, seed=7)
    assert [one.next_batch(5, 5) for _ in range(3)] == [other.next_batch(5, 5) for _ in range(3)]
    assert OrderChooser(N, seed=8).next_batch(5, 5) != OrderChooser(N, seed=7).next_batch(5, 5)


@pytest.mark.parametrize("placement", ["spread", "recent"])
def test_no_order_is_chosen_twice(placement):
    chooser = OrderChooser(N, placement)
    batches = [chooser.next_batch(100, 50, 30) for _ in range(10)]
    touched = [
        key
        for batch in batches
        for key in (*batch.deleted, *batch.updated, *(template for template, _ in batch.copies))
    ]
    added = [copy for batch in batches for _, copy in batch.copies]
    existing = {order_key(n) for n in range(1, N + 1)}
    assert len(set(touched)) == len(touched) == 1800
    assert len(set(added)) == len(added) == 1000
    assert existing.issuperset(touched)
    assert existing.isdisjoint(added)


def test_spread_covers_the_domain_and_recent_its_end():
    spread = [copy for _, copy in OrderChooser(N).next_batch(200, 0).copies]
    recent = OrderChooser(N, "recent").next_batch(200, 200)
    last = order_key(N)
    assert min(spread) < 0.1 * last
    assert max(spread) > 0.9 * last
    assert min(copy for _, copy in recent.copies) > last
    assert min(recent.deleted) > 0.95 * last


def test_templates_are_in_order():
    templates = [template for template, _ in OrderChooser(N).next_batch(50, 0).copies]
    assert templates == sorted(templates)


def test_too_few_orders_are_refused():
    chooser = OrderChooser(10)
    chooser.next_batch(4, 4)
    with pytest.raises(ValueError, match="only 2 of 10 orders are left"):
        chooser.next_batch(2, 1)
