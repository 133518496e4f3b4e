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
    new = [one for one in _codes(code) if _place(one) == place]
    of_module = [
        one
        for one in gc.get_objects()
        if isinstance(one, FunctionType) and one.__code__.co_filename == str(file)
    ]
    functions = [one for one in of_module if _place(one.__code__) == place]
    if len(new) != 1 or not functions:
        raise NotApplied(mutant.name)
    # A decorator ran at import: what it has made gets the new code too.
    inner = {(_place(one), one.co_freevars): one for one in _codes(new[0])}
    made = {one for function in functions for one in _codes(function.__code__)}
    for one in of_module:
        if one.__code__ in made:
            one.__code__ = inner.get((_place(one.__code__), one.__code__.co_freevars), one.__code__)
    for function in functions:
        function.__code__ = new[0]


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


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
