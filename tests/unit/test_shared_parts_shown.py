"""A shared part of a plan is written and drawn once."""

from __future__ import annotations

from sparkivm.explain.pictures import dot, mermaid
from sparkivm.explain.plan_tree import PlanNode, tree_lines

TABLE = PlanNode("Scan t", "", ())
GROUPS = PlanNode("Aggregate by k", "affected keys", (TABLE,))
ROOT = PlanNode("InnerJoin", "linear", (GROUPS, PlanNode("Filter", "linear", (GROUPS,)), TABLE))


def test_a_part_is_written_once():
    assert tree_lines(ROOT) == [
        "InnerJoin    [linear]",
        "  Aggregate by k    [affected keys]    part 1",
        "    Scan t",
        "  Filter    [linear]",
        "    part 1, as above",
        "  Scan t",
    ]


def test_a_part_is_drawn_once_with_all_that_read_it():
    assert dot("v", ROOT).splitlines()[4:-1] == [
        '  n1 [label="InnerJoin\\nlinear"];',
        "  n1 -> view;",
        '  n2 [label="Aggregate by k\\naffected keys"];',
        "  n2 -> n1;",
        "  n2 -> n3;",
        '  n3 [label="Filter\\nlinear"];',
        "  n3 -> n1;",
        '  n4 [label="Scan t", shape=cylinder];',
        "  n4 -> n1;",
        "  n4 -> n2;",
    ]
    assert mermaid("v", ROOT).count("Aggregate by k") == 1
