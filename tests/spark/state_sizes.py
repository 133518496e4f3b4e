"""How large a refresh takes its state for, which decides the form of the applying statement."""

from __future__ import annotations

from typing import Literal

import pytest

from sparkivm.refresh import decide, refresh_view

Size = Literal["small", "large", "huge"]
SIZES: tuple[Size, ...] = ("small", "large", "huge")


def take_states_for(size: Size, monkeypatch: pytest.MonkeyPatch) -> None:
    """small: append or rewrite; large: replace a part, or merge where no part can be told; huge: merge."""
    small = size == "small"
    for module in (decide, refresh_view):
        monkeypatch.setattr(module, "SMALL_STATE_BYTES", 8 << 20 if small else 0)
    monkeypatch.setattr(decide, "REWRITTEN_BYTES", 1 << 20 if small else 0)
    monkeypatch.setattr(decide, "MOST_ROWS_REPLACED", 0 if size == "huge" else 200_000)
