"""The command line: which options a suite accepts, and what is refused."""

import pytest

from benchmarks.run import SUITES, main


@pytest.mark.parametrize("scale", ["0", "1,x", "-1"])
def test_a_scale_that_is_no_number_above_zero(scale, capsys):
    with pytest.raises(SystemExit):
        main(["--suite", "tpch", f"--sf={scale}"])
    assert "argument --sf" in capsys.readouterr().err


def test_only_growth_takes_several_scales(capsys):
    for suite in sorted(set(SUITES) - {"growth"}):
        assert main(["--suite", suite, "--sf", "1,5"]) == 1
        assert f"suite {suite} takes one scale factor" in capsys.readouterr().err


def test_the_folder_of_the_results_is_asked_for_first(tmp_path, capsys):
    assert main(["--suite", "tpch", "--json", str(tmp_path / "no" / "t.json")]) == 1
    assert "the folder of" in capsys.readouterr().err


def test_the_demo_has_no_cases(capsys):
    assert main(["--suite", "demo", "--case", "warm"]) == 1
    assert "suite demo runs all models" in capsys.readouterr().err
