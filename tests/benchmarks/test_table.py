"""Text tables: aligned columns, readable numbers."""

from benchmarks.table import text_table


def test_numbers_are_right_aligned_and_texts_left():
    table = text_table(("case", "seconds", "rows"), [("a", 0.5, 1234567), ("longer", 12.34, None)])
    assert table.splitlines() == [
        "case    seconds       rows",
        "------  -------  ---------",
        "a         0.500  1,234,567",
        "longer     12.3          -",
    ]


def test_a_table_without_rows_is_its_header():
    assert text_table(("a", "b"), []).splitlines() == ["a  b", "-  -"]
