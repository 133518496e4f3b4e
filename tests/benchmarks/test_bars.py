"""The picture is a self-contained SVG that shows its numbers as text."""

from xml.etree import ElementTree

import pytest

from benchmarks.bars import Bar, Section, picture

SVG = "{http://www.w3.org/2000/svg}"


def test_each_line_has_two_bars_and_their_numbers():
    text = picture(
        'a < b & "c"',
        "subtitle",
        [Section("first", [Bar("one", 10, 2.5)]), Section("second", [Bar("two", 0.5, 0.25)])],
        "footer",
    )
    root = ElementTree.fromstring(text)
    assert root.get("aria-label") == 'a < b & "c"'
    texts = [one.text for one in root.iter(f"{SVG}text")]
    assert {"one", "two", "10.0 s", "2.5 s", "0.50 s", "0.25 s", "first", "second", "footer"} <= set(texts)
    legend, bars = 2, 4
    assert len(list(root.iter(f"{SVG}rect"))) == 1 + legend + bars
    widths = [float(one.get("width")) for one in list(root.iter(f"{SVG}rect"))[1 + legend :]]
    assert widths == pytest.approx([widths[0], widths[0] / 4, widths[0], widths[0] / 2], abs=0.1)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
