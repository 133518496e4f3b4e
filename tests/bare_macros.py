"""The statement macros without dbt: this project's macros as they are when nobody overrides them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

STATEMENTS = Path(__file__).parents[1] / "macros" / "statements"


class BareMacros:
    """Renders a macro by name; `adapter.dispatch` finds the macro's `default__` form."""

    def __init__(self) -> None:
        environment = Environment(undefined=StrictUndefined, extensions=["jinja2.ext.do"])
        environment.globals |= {"adapter": self, "return": lambda value: value}
        text = "\n".join(path.read_text() for path in sorted(STATEMENTS.glob("*.sql")))
        self._macros: Any = environment.from_string(text).module

    def dispatch(self, name: str, namespace: str) -> Any:
        return getattr(self._macros, f"default__{name}")

    def render(self, macro: str, **arguments: Any) -> str:
        return str(getattr(self._macros, macro)(**arguments)).strip()
