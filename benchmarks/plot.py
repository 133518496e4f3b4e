"""A picture of the demo: seconds of a refresh beside seconds of a rebuild, model by model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no display needed

from matplotlib import pyplot

FULL_COLOR, REFRESH_COLOR = "#b8bec7", "#1f6feb"


@dataclass(frozen=True)
class Bar:
    """One model: seconds to rebuild it and seconds to refresh it."""

    model: str
    full_s: float
    refresh_s: float


def finding(bars: Sequence[Bar]) -> str:
    """What the picture shows, in one sentence."""
    refresh_s = sum(bar.refresh_s for bar in bars)
    full_s = sum(bar.full_s for bar in bars)
    n_faster = sum(bar.refresh_s < bar.full_s for bar in bars)
    return (
        f"{len(bars)} views refreshed in {refresh_s:.0f} s instead of rebuilt in {full_s:.0f} s: "
        f"{n_faster} of {len(bars)} are faster"
    )


def draw(
    bars: Sequence[Bar], subtitle: str, directory: Path, name: str = "refresh_against_rebuild"
) -> list[Path]:
    """Write `name`.svg and `name`.png into `directory`, the first bar on top; returns both paths."""
    # Text stays text in the SVG, and the same data makes the same file.
    with pyplot.rc_context({"svg.fonttype": "none", "svg.hashsalt": "dbt-sparkivm", "font.size": 10}):
        figure, axes = pyplot.subplots(figsize=(9.5, 1.6 + 0.52 * len(bars)), layout="constrained")
        places = range(len(bars))
        height = 0.38
        for offset, values, color, label in (
            (-height / 2, [bar.full_s for bar in bars], FULL_COLOR, "rebuilt as a table"),
            (height / 2, [bar.refresh_s for bar in bars], REFRESH_COLOR, "refreshed as an incremental view"),
        ):
            drawn = axes.barh([place + offset for place in places], values, height, color=color, label=label)
            axes.bar_label(drawn, fmt="%.1f", padding=3, fontsize=8)
        axes.set_yticks(list(places), [bar.model for bar in bars])
        axes.invert_yaxis()
        axes.margins(x=0.08)
        axes.set_xlim(left=0)
        axes.set_xlabel("seconds of one dbt run of the model")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="outside lower right", ncols=2, frameon=False)
        figure.suptitle(finding(bars), x=0.01, ha="left", fontsize=13, fontweight="bold")
        axes.set_title(subtitle, loc="left", fontsize=9, color="#57606a")
        directory.mkdir(parents=True, exist_ok=True)
        paths = [directory / f"{name}.{form}" for form in ("svg", "png")]
        for path in paths:
            figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)
    return paths
