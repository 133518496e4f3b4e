"""Mixins that make the models of a test class incremental views."""

from __future__ import annotations

import re
from typing import Any

import pytest

_MATERIALIZED = re.compile(
    r"""(materialized['"]?\s*[=:]\s*['"]?)(?:table|view|incremental|materialized_view)\b"""
)


def materialized_as_view(text: str) -> str:
    """A model, its properties or a project: whatever is materialized otherwise becomes an incremental view."""
    return _MATERIALIZED.sub(r"\1incremental_view", text)


class InViews:
    """The models are incremental views."""

    @pytest.fixture(scope="class")
    def view_config(self) -> dict[str, Any]:
        return {"+materialized": "incremental_view"}


class InStrictViews:
    """The models are incremental views, and it is an error if one has no incremental rule."""

    @pytest.fixture(scope="class")
    def view_config(self) -> dict[str, Any]:
        return {"+materialized": "incremental_view", "+refresh_mode": "strict"}
