"""The views and changes of two papers, with the papers' own numbers beside ours.

`lazy`  J. Zhou, P.-Å. Larson, H. G. Elmongui: Lazy Maintenance of Materialized Views, VLDB 2007. Views V1 and
        V2; 1, 10 and 100 customers move to another nation by one UPDATE. Prototype in SQL Server 2005.
`pg`    Y. Nagata, T. Hoshiai, T. Ishii, T. Mishima, Y. Masunaga: incremental maintenance of views in
        PostgreSQL, its implementation and evaluation (in Japanese). Queries 1 and 9 of TPC-H; one row of
        lineitem is updated, and the view with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.bench import Bench, Outcome
from benchmarks.cases import Case, chosen
from benchmarks.result import Result
from benchmarks.statements import Statements
from benchmarks.tpch_data import TABLES

_CUSTOMERS = (1, 10, 100)
_ONE_LINEITEM = Statements(
    "one row of lineitem updated",
    (
        "update {schema}.lineitem set l_quantity = l_quantity % 50 + 1 "
        "where l_orderkey = 32 * {number} and l_linenumber = 1",
    ),
)
# The numbers printed in the papers. Other results of the first are only bars without numbers.
_PAPERS = {
    "v1_100_customers": "lazy, 5.1: the UPDATE alone is 125 times faster than with the maintenance of V1",
    "q01_one_row": "pg, table 2: 36.811 s recomputed, 0.017 s UPDATE and maintenance; query 10.311 s",
    "q09_one_row": "pg, table 2: 6.153 s recomputed, 0.029 s UPDATE and maintenance; query 3.124 s",
}


def cases(scale: float) -> list[Case]:
    """V1 and V2 for each number of customers, then the two queries."""
    (customers,) = (table.rows(scale) for table in TABLES if table.name == "customer")
    found: list[Case] = []
    for count in _CUSTOMERS:
        change = Statements(
            f"{count} customers move to another nation",
            (
                "update {schema}.customer set c_nationkey = (c_nationkey + 1) % 25 "
                f"where c_custkey % {customers // count} = {{number}} % {customers // count}",
            ),
        )
        noun = "customer" if count == 1 else "customers"
        found += [Case(f"{view}_{count}_{noun}", (view,), change) for view in ("v1", "v2")]
    return [*found, *(Case(f"{query}_one_row", (query,), _ONE_LINEITEM) for query in ("q01", "q09"))]


def run(bench: Bench) -> Outcome:
    """Measure all cases at one scale factor; the papers' is 1."""
    (scale,) = bench.options.sf
    sources = bench.tpch(scale)
    measurement = bench.measurement(sources, *bench.arms())
    measured = measurement.measure(chosen(cases(scale), bench.options.case), bench.repeat(5))
    results = [replace(one, beside={"paper": _PAPERS.get(one.case, "")}) for one in measured]
    return Outcome(results, beside_papers(results))


def beside_papers(results: Sequence[Result]) -> list[str]:
    """Our numbers in the papers' terms, then the papers'."""
    lines: list[str] = []
    for one in results:
        assert one.change_s is not None
        lines.append(
            f"{one.case}: {one.full_s:.2f} s recomputed, {one.refresh_s:.2f} s refreshed, "
            f"the UPDATE alone {one.change_s:.2f} s, with the refresh "
            f"{(one.change_s + one.refresh_s) / one.change_s:.1f} times that"
        )
        if one.beside["paper"]:
            lines.append(f"  {one.beside['paper']}")
    return lines
