"""The examples of the pages for users: code blocks, and the commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/from_incremental.md",
    "docs/iceberg.md",
    "docs/check.md",
    "docs/operations.md",
    "docs/dbt_commands.md",
)
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """One code block.

    language  "" for commands and what they print
    """

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def examples(page: str) -> Iterator[Example]:
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        yield Example(page, text.count("\n", 0, block.start()) + 1, block[1], block[2])


EXAMPLES = [example for page in PAGES for example in examples(page)]


def example(page: str, beginning: str) -> str:
    """The text of the only block of a page that begins like this."""
    (found,) = (one.text for one in EXAMPLES if one.page == page and one.text.startswith(beginning))
    return found


def commands(example: Example) -> list[list[str]]:
    """The words of each command in a block: of lines after `$ ` if there are any, else of all lines."""
    lines = example.text.splitlines()
    prompted = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [words for line in prompted or lines if (words := shlex.split(line, comments=True))]
