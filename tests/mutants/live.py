"""Applies a mutant to the running process: new code for existing functions, new values for constants."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from tests.mutants.mutations import Mutant, defined, statements_made_of


class NotApplied(Exception):
    """The mistake is in code that ran only once, at import."""


def apply(mutant: Mutant, file: Path) -> None:
    """Apply the mistake to this process, which is useless afterwards."""
    tree = mutant.tree()
    if mutant.function:
        _replace_function(mutant, compile(tree, str(file), "exec"), file)
    else:
        _replace_values(tree, mutant, file)


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


def _replace_values(tree: ast.Module, mutant: Mutant, file: Path) -> None:
    """Replace values in the module, in modules that imported them by name, and in values computed from them."""
    module = next(m for m in sys.modules.values() if getattr(m, "__file__", None) == str(file))
    product = file.parents[mutant.module.count("/")]
    (statement,) = (one for one in tree.body if one.lineno == mutant.first_line)
    replaced = _execute(statement, module, product)
    functions = (one.__code__ for one in gc.get_objects() if isinstance(one, FunctionType))
    if not any(replaced & set(code.co_names) for one in functions for code in (one, *_codes(one))):
        raise NotApplied(mutant.name)


def _execute(statement: ast.stmt, module: ModuleType, product: Path) -> set[str]:
    """Execute a module's assignment again, and the assignments in all modules that read its names.

    Returns: the names that have new values.
    """
    replaced = set(defined(statement))
    values = dict(vars(module))
    exec(compile(ast.Module([statement], []), str(module.__file__), "exec"), values)
    for name in defined(statement):
        old = getattr(module, name)
        for one in list(sys.modules.values()):
            if getattr(one, "__dict__", {}).get(name) is not old:
                continue
            setattr(one, name, values[name])
            if product in Path(getattr(one, "__file__", None) or "").parents:
                for made in statements_made_of(name, ast.parse(Path(str(one.__file__)).read_text())):
                    replaced |= _execute(made, one, product)
    return replaced
