"""Each test class of dbt-tests-adapter is used in this folder, or NOT_RUN says why it is not."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import dbt.tests.adapter
import pytest

from tests.dbt.adapter_suite.not_run import NOT_RUN

PACKAGE = dbt.tests.adapter.__name__


def classes_in(module_name: str) -> list[type]:
    module = importlib.import_module(module_name)
    return [
        cls
        for cls in vars(module).values()
        if inspect.isclass(cls) and cls.__module__ == module_name and cases_of(cls)
    ]


def cases_of(cls: type) -> list[str]:
    return [name for name in dir(cls) if name.startswith("test_") and callable(getattr(cls, name))]


def modules_below(directory: Path, package: str) -> Iterator[str]:
    for path in sorted(directory.rglob("*.py")):
        if path.name not in ("__init__.py", "conftest.py"):
            yield ".".join((package, *path.relative_to(directory).with_suffix("").parts))


def only_named(cls: type) -> bool:
    """Whether a class is another one under a name that pytest collects."""
    return cls.__name__.lower().startswith("test") and not {
        name for name in vars(cls) if not name.startswith("__")
    }


OFFERED = [
    cls
    for directory in dbt.tests.adapter.__path__
    for module in modules_below(Path(directory), PACKAGE)
    for cls in classes_in(module)
    if not only_named(cls)
]
OURS = [
    cls
    for module in modules_below(Path(__file__).parent, __name__.rpartition(".")[0])
    if module != __name__
    for cls in classes_in(module)
    if cls.__name__.startswith("Test")
]


def name_of(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}".removeprefix(f"{PACKAGE}.")


def tried(cls: type) -> set[str]:
    """The tests of an offered class that one of ours runs, its own or in its place."""
    return {test for ours in OURS if issubclass(ours, cls) for test in cases_of(ours)}


def reasons(name: str) -> list[str]:
    return [reason for pattern, reason in NOT_RUN.items() if fnmatchcase(name, pattern)]


@pytest.mark.parametrize("offered", OFFERED, ids=name_of)
def test_runs_or_has_a_reason(offered: type) -> None:
    name = name_of(offered)
    without_reason = [
        test
        for test in set(cases_of(offered)) - tried(offered)
        if not reasons(name) and not reasons(f"{name}.{test}")
    ]
    assert not without_reason, (
        "use the class in tests/dbt/adapter_suite, or say in NOT_RUN why Spark cannot run it"
    )


@pytest.mark.parametrize("pattern", NOT_RUN)
def test_a_reason_is_of_something_that_is_not_run(pattern: str) -> None:
    named = {name_of(cls): cls for cls in OFFERED}
    classes = [cls for name, cls in named.items() if fnmatchcase(name, pattern)]
    tests = [
        (cls, test)
        for name, cls in named.items()
        for test in cases_of(cls)
        if fnmatchcase(f"{name}.{test}", pattern)
    ]
    assert classes or tests
    assert not [name_of(cls) for cls in classes if tried(cls)]
    assert not [test for cls, test in tests if test in tried(cls)]


def test_there_are_many() -> None:
    assert len(OFFERED) > 200
    assert len(OURS) > 150
