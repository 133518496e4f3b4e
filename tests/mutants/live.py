"""Puts a mutant into the running process: new code in the functions that there are, new values for constants."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from tests.mutants.mutations import Mutant


class NotApplied(Exception):
    """The mistake is in something that was made for good when the module was imported."""


def apply(mutant: Mutant, file: Path) -> None:
    """Make the mistake in this process, which is of no other use then."""
    code = compile(mutant.tree(), str(file), "exec")
    if mutant.function:
        _replace_function(mutant, code, file)
    else:
        _replace_values(mutant, code, file)


def _replace_function(mutant: Mutant, code: CodeType, file: Path) -> None:
    place = (mutant.function.rpartition(".")[2], mutant.first_line)

    def is_it(one: CodeType) -> bool:
        return (one.co_name, one.co_firstlineno) == place

    new = [one for one in _codes(code) if is_it(one)]
    functions = [
        one
        for one in gc.get_objects()
        if isinstance(one, FunctionType) and one.__code__.co_filename == str(file) and is_it(one.__code__)
    ]
    if len(new) != 1 or not functions:
        raise NotApplied(mutant.name)
    for function in functions:
        function.__code__ = new[0]


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _replace_values(mutant: Mutant, code: CodeType, file: Path) -> None:
    """In the module, and in all that have taken the value from it under the same name."""
    module = next(m for m in sys.modules.values() if getattr(m, "__file__", None) == str(file))
    copy = ModuleType(module.__name__)
    copy.__dict__.update({"__file__": str(file), "__package__": module.__package__})
    exec(code, copy.__dict__)
    for name in mutant.defined:
        old = getattr(module, name)
        for one in list(sys.modules.values()):
            if getattr(one, "__dict__", {}).get(name) is old:
                setattr(one, name, getattr(copy, name))
