"""What the pages show exists: operations with these arguments, commands with these options, options of models.

`tests/dbt/test_examples.py` runs them.
"""

from __future__ import annotations

import json
import re

import click
import pytest
import yaml
from dbt.adapters.sparkivm.command import main
from dbt.adapters.sparkivm.option_names import OPTIONS

from tests.docs.examples import EXAMPLES, ROOT, commands

# Of dbt-spark, in an example of what is replaced.
DBTS_OPTIONS = {"materialized", "file_format", "incremental_strategy", "unique_key"}
OTHERS = {"pip": {"install"}, "dbt": {"run", "build", "parse", "deps", "clone", "retry"}}


def of(*languages):
    return [pytest.param(one, id=str(one)) for one in EXAMPLES if one.language in languages]


def test_no_block_is_in_another_language():
    assert {one.language for one in EXAMPLES} <= {"", "sql", "yaml", "mermaid", "text"}


@pytest.mark.parametrize("example", of(""))
def test_commands(example):
    found = commands(example)
    assert found
    for words in found:
        check(words)


def check(words):
    match words:
        case ["make", target, *_]:
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target
        case ["sparkivm", *arguments]:
            check_option_names(main, arguments)
        case ["dbt", "run-operation", operation, *rest]:
            check_operation(operation, rest)
        case [tool, verb, *_]:
            assert verb in OTHERS.get(tool, ()), words


def check_option_names(command, arguments):
    """Raises: click.UsageError."""
    if ">" in arguments:
        arguments = arguments[: arguments.index(">")]
    while isinstance(command, click.Group):
        name, *arguments = arguments
        command = command.commands[name]
    command.make_context(command.name, list(arguments))


def check_operation(operation, rest):
    text = (ROOT / "macros" / "operations" / f"{operation}.sql").read_text()
    (signature,) = re.findall(rf"macro {operation}\((.*?)\)", text)
    known = [one.partition("=")[0].strip() for one in signature.split(",") if one.strip()]
    assert rest[:1] in ([], ["--args"])
    given = yaml.safe_load(rest[1]) if rest else {}
    assert set(given) <= set(known), (given, known)
    needed = {one for one, default in zip(known, signature.split(","), strict=False) if "=" not in default}
    assert needed <= set(given)


@pytest.mark.parametrize("example", of("yaml"))
def test_yaml(example):
    assert isinstance(yaml.safe_load(example.text), dict)


@pytest.mark.parametrize("example", of("sql"))
def test_options_of_models(example):
    configs = re.findall(r"config\((.*?)\)\s*}}", example.text, re.DOTALL)
    for config in configs:
        names = set(re.findall(r"(\w+)\s*=", config))
        assert names <= {*OPTIONS, *DBTS_OPTIONS}, json.dumps(sorted(names))
