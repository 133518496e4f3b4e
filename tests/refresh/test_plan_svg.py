"""The drawing of a plan: each node once, no two boxes on each other, everything within the picture."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from tests.refresh.conftest import BY_K

SVG = "{http://www.w3.org/2000/svg}"
PLANS = {
    "one table": (BY_K, 3),
    "a join": ("select a.k, b.x from t as a left join t as b on a.id = b.k", 5),
    "a shared part": (
        "with s as (select k, sum(x) as x from t group by k) "
        "select a.k, b.x from s as a join (select max(x) as x from s) as b on a.x = b.x",
        8,
    ),
    "a long condition": (
        f"select * from t where {' or '.join(f'(id = {n} and x > {n})' for n in range(60))}",
        3,
    ),
    "no plan": ("select k, rand() as r from t", 2),
}


@pytest.mark.parametrize("name", PLANS)
def test_boxes(lab, name):
    sql, most = PLANS[name]
    root = ElementTree.fromstring(lab.view("m", sql).explain("svg"))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    boxes = [
        tuple(float(box.attrib[a]) for a in ("x", "y", "width", "height")) for box in root.iter(f"{SVG}rect")
    ]
    assert 2 <= len(boxes) <= most
    assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in boxes)
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(boxes, 2):
        assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert titles[0] == "shop.m"
    for path in root.iter(f"{SVG}path"):
        start, end = (float(y) for y in (re.findall(r"[\d.]+", path.attrib["d"])[n] for n in (1, -1)))
        assert start < end, "readers are above what they read"


def test_text_is_escaped(lab):
    text = lab.view("m", "select k from t where x < 3 and '<a&b>' <> cast(k as string)").explain("svg")
    assert "&lt;a&amp;b&gt;" in text
    ElementTree.fromstring(text)
