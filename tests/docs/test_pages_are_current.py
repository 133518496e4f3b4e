"""Pages that repeat code match the code, and links between pages work."""

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

from scripts.print_docs import DOCS, PRINTED
from sparkivm.algebra import AnyRelation
from sparkivm.reasons import Reason

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"`((?:[A-Z]+_)+[A-Z]+)`")
NO_REASON = {"STATE_FORMAT", "NO_OP"}
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("benchmarks/*.md")])
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


@pytest.mark.parametrize("name", PRINTED)
def test_printed_page_is_current(name):
    found = (DOCS / name).read_text(encoding="utf-8") if (DOCS / name).is_file() else ""
    assert found == PRINTED[name](), "run: .venv/bin/python scripts/print_docs.py"


@pytest.mark.parametrize("operator", get_args(AnyRelation))
def test_every_operator_has_its_law_on_the_page(operator):
    page = (DOCS / "laws.md").read_text(encoding="utf-8")
    entry = f"### {operator.__name__}\n\n`{operator.__module__.replace('.', '/')}.py`\n"
    assert page.count(entry) == 1
    law = page.partition(entry)[2].partition("```text\n")[2].partition("```")[0]
    assert law.strip() == inspect.getdoc(operator)
    assert "docs/laws.md" not in law
    if "delta  " in law:
        assert re.search(r"^(source    .+ \d{4}|tested    tests/)", law, re.MULTILINE), law
    assert [name for name in re.findall(r"tests/[\w/]+\.py", law) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in targets if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", ["README.md", "docs/known_gaps.md", "docs/architecture.md"])
def test_pages_name_reasons_that_exist(page):
    named = set(CODE.findall((ROOT / page).read_text(encoding="utf-8"))) - NO_REASON
    assert named
    assert named <= {reason.name for reason in Reason}
