"""An aggregate is one call with the clauses around it."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Aggregate
from tests.reading import read

CALLS = {
    "sum(a) filter (where a > 1)": "sum(CASE WHEN `a` > 1 THEN `a` END)",
    "mode() within group (order by a)": "MODE() WITHIN GROUP (ORDER BY `a`)",
    "listagg(s, ',') within group (order by s)": "LISTAGG(`s`, ',') WITHIN GROUP (ORDER BY `s`)",
    "max_by(s, a) filter (where a > 1)": "MAX_BY(`s`, `a`) FILTER(WHERE `a` > 1)",
    "percentile_cont(0.5) within group (order by a) filter (where a > 1)": (
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY `a`) FILTER(WHERE `a` > 1)"
    ),
    # Any row may be taken: the least one, or the greatest.
    "first(a) ignore nulls": "min(`a`)",
    "any_value(a) ignore nulls": "min(`a`)",
    "last(a) respect nulls": "max(`a`)",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_with_its_clauses(call):
    root = read(f"select k, coalesce({call}, null) as x from r group by k").root
    (aggregate,) = (node for node in root.walk() if isinstance(node, Aggregate))
    assert [one.shown for one in aggregate.calls] == [CALLS[call]]
