"""The picture says its finding, and is written in both forms."""

from benchmarks.plot import Bar, draw, finding

BARS = [Bar("one", 10.0, 2.0), Bar("two", 3.0, 4.0)]


def test_finding_counts_the_faster_ones():
    assert finding(BARS) == "2 views refreshed in 6 s instead of rebuilt in 13 s: 1 of 2 are faster"


def test_draws_both_forms(tmp_path):
    svg, png = draw(BARS, "subtitle", tmp_path)
    assert "one" in svg.read_text(encoding="utf-8")
    assert png.read_bytes().startswith(b"\x89PNG")
