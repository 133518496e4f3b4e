"""Sets how large a refresh assumes states to be, which decides the apply form."""

from __future__ import annotations

from typing import Literal

import pytest

from sparkivm.refresh.decide import apply_form

Size = Literal["small", "large", "huge"]
SIZES: tuple[Size, ...] = ("small", "large", "huge")
_SMALL_STATE, _REWRITTEN = apply_form.SMALL_STATE_BYTES, apply_form.REWRITTEN_BYTES
_MOST_REPLACED = apply_form.MOST_ROWS_REPLACED


def take_states_for(size: Size, monkeypatch: pytest.MonkeyPatch) -> None:
    """small: append or rewrite; large: replace a part, or merge if no part can be found; huge: merge."""
    small = size == "small"
    monkeypatch.setattr(apply_form, "SMALL_STATE_BYTES", _SMALL_STATE if small else 0)
    monkeypatch.setattr(apply_form, "REWRITTEN_BYTES", _REWRITTEN if small else 0)
    monkeypatch.setattr(apply_form, "MOST_ROWS_REPLACED", 0 if size == "huge" else _MOST_REPLACED)
