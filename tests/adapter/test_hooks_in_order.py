"""The order of hooks, and that dbt sees no reason to execute COMMIT between them."""

from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin

HOOKS = [
    {"sql": "a", "transaction": True, "index": 0},
    {"sql": "b", "transaction": False, "index": 1},
    {"sql": "c", "transaction": True, "index": 2},
    {"sql": "d", "transaction": False, "index": 3},
]


def test_before_a_model():
    hooks = IncrementalViewMixin.hooks_in_order(None, HOOKS, outside_first=True)
    assert [hook["sql"] for hook in hooks] == ["b", "d", "a", "c"]
    assert all(hook["transaction"] for hook in hooks)


def test_after_a_model():
    hooks = IncrementalViewMixin.hooks_in_order(None, HOOKS, outside_first=False)
    assert [hook["sql"] for hook in hooks] == ["a", "c", "b", "d"]
    assert all(hook["transaction"] for hook in hooks)
