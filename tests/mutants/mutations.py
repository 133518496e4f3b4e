"""Small mistakes in a module's syntax tree: each mutant is the module with one of them."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_NAMES = {
    **{"old": "new", "new": "old", "left": "right", "right": "left", "any": "all", "all": "any"},
    **{
        "min": "max",
        "max": "min",
        "union": "intersection",
        "issuperset": "issubset",
        "issubset": "issuperset",
    },
    **{"old_bag": "new", "deleted": "inserted", "inserted": "deleted"},
}
# Replacements in SQL texts.
_WORDS = (
    *((" and ", " or "), (" or ", " and "), ("<=>", "="), (" <> ", " = "), (" = ", " <> "), (" >= ", " > ")),
    *((" > ", " >= "), (" < ", " <= "), (" <= ", " < "), (" + ", " - "), (" - ", " + "), (" * ", " + ")),
    *((" is not null", " is null"), (" is null", " is not null"), ("not ", ""), ("distinct ", "")),
    *(("coalesce", "nullif"), ("min(", "max("), ("max(", "min("), ("true", "false"), ("false", "true")),
    *((" 0", " 1"), ("union all", "union"), ("left join", "join"), (" not matched", " matched")),
)
_SQL = re.compile(
    r"\b(select|from|where|case|when|then|coalesce|sum|count|null|cast|is|and|or|not|join|union|having|true|false)\b"
    r"|[<>=]|[-+*] |raise_error"
)
_OF_ERRORS = re.compile(r"Error$|^NotIncremental$|^Fallback$|^no_rule$|^refuse|^_refuse|^warn")


_Change = Callable[[Any], None]  # changes the node in a copy of the tree


@dataclass(frozen=True)
class Mutant:
    """A module with one mistake. `name` identifies it and does not depend on line numbers.

    function  qualified name of the outermost function or method around it, empty at module level
    defined   module-level names that the mistake affects, first the assigned one
    line      the mistake's line; `first_line` is the first line of the function
    """

    module: str
    function: str
    defined: tuple[str, ...]
    line: int
    first_line: int
    what: str
    number: int
    _tree: ast.Module
    _node: ast.AST
    _change: _Change

    @property
    def name(self) -> str:
        number = f" #{self.number}" if self.number > 1 else ""
        return f"{self.module} {self.function or self.defined[0]}: {self.what}{number}"

    def tree(self) -> ast.Module:
        """The module with the mistake."""
        memo: dict[int, Any] = {}
        copy = deepcopy(self._tree, memo)
        self._change(memo[id(self._node)])
        return ast.fix_missing_locations(copy)


def mutants_of(module: str, text: str) -> list[Mutant]:
    """All mutants of a module, in text order."""
    tree = ast.parse(text)
    seen: Counter[str] = Counter()
    result = []
    for statement, function in _statements(tree):
        line, first = statement.lineno, _first_line(statement)
        constants = made_of(defined(statement), tree)
        for node in _inside(statement):
            line = getattr(node, "lineno", line)
            changes = [(line, *change) for change in _changes(node)]
            for at, what, change in [*changes, *_forgotten(node)]:
                found = Mutant(module, function, constants, at, first, what, 1, tree, node, change)
                seen[found.name] += 1
                result.append(replace(found, number=seen[found.name]))
    return result


def sample_of(mutants: Sequence[Mutant], module: str, most: int) -> list[Mutant]:
    """Some of a module's mutants, the same in each run."""
    rng = random.Random(module)
    return [mutants[index] for index in sorted(rng.sample(range(len(mutants)), min(most, len(mutants))))]


def _statements(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """The functions, methods and assignments of a module."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            yield statement, statement.name
        elif isinstance(statement, ast.ClassDef):
            for member in statement.body:
                if isinstance(member, ast.FunctionDef):
                    yield member, f"{statement.name}.{member.name}"
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and defined(statement) != ("__all__",):
            yield statement, ""


def defined(statement: ast.stmt) -> tuple[str, ...]:
    """The names that a module-level statement assigns."""
    targets = (
        statement.targets
        if isinstance(statement, ast.Assign)
        else [statement.target]
        if isinstance(statement, ast.AnnAssign)
        else []
    )
    names = (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
    return tuple(names)


def statements_made_of(name: str, tree: ast.Module) -> list[ast.stmt]:
    """Module-level assignments whose values read a name."""
    return [
        statement
        for statement in tree.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        and statement.value is not None
        and any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement.value))
    ]


def made_of(names: Iterable[str], tree: ast.Module) -> tuple[str, ...]:
    """Module-level names, and those computed from them."""
    found = dict.fromkeys(names)
    waiting = list(found)
    for name in waiting:
        for statement in statements_made_of(name, tree):
            new = [one for one in defined(statement) if one not in found]
            found |= dict.fromkeys(new)
            waiting += new
    return tuple(found)


def _first_line(statement: ast.stmt) -> int:
    """The first line as in its code object."""
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that may be changed: not docstrings, annotations, defaults, assertions, error texts, strict zips."""
    if isinstance(node, (ast.Assert, ast.Raise)) or _is_docstring(node) or _is_about_errors(node):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    yield node
    match node:
        case ast.FunctionDef():
            children: Iterable[ast.AST] = node.body
        case ast.Lambda():
            children = [node.body]
        case ast.AnnAssign():
            children = [node.value] if node.value else []
        case ast.Call(func=ast.Name(id="cast")):
            children = node.args[1:]
        case ast.Subscript() if _is_type(node.value):
            children = []
        case _:
            children = ast.iter_child_nodes(node)
    for child in children:
        yield from _inside(child)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_about_errors(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return bool(_OF_ERRORS.search(name))


def _changes(node: ast.AST) -> Iterator[tuple[str, _Change]]:
    """Each possible mistake in a node: its description, and the change that makes it."""
    for listed in _tuples_of_choices(node):
        for index, element in enumerate(listed.elts):
            what = f"{_short(listed)} → without {_short(element)}"
            yield what, partial(_drop_of_tuple, listed=_place_of(node, listed), index=index)
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                other = _COMPARISONS[type(operator)]()
                yield _said(node, partial(_set_item, field="ops", index=index, value=other))
        case ast.BoolOp():
            swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield _said(node, partial(_set, field="op", value=swapped))
            for index, value in enumerate(node.values):
                yield (
                    f"{_short(node)} → without {_short(value)}",
                    partial(_repeat, field="values", index=index),
                )
        case ast.UnaryOp(op=ast.Not()):
            yield f"{_short(node)} → {_short(node.operand)}", _not_not
        case ast.UnaryOp(op=ast.USub()):
            yield _said(node, partial(_set, field="op", value=ast.UAdd()))
        case ast.BinOp() if type(node.op) in _OPERATORS and not _is_text(node):
            yield _said(node, partial(_set, field="op", value=_OPERATORS[type(node.op)]()))
        case ast.Constant(value=bool() as value):
            yield _said(node, partial(_set, field="value", value=not value))
        case ast.Constant(value=int() | float() as value):
            yield _said(node, partial(_set, field="value", value=value + 1))
        case ast.Constant(value="old" | "new" | "min" | "max" as value):
            yield _said(node, partial(_set, field="value", value=_NAMES[value]))
        case ast.Constant(value=str() as value) if _SQL.search(value):
            for word, other_word in _WORDS:
                if word in value:
                    changed = value.replace(word, other_word, 1)
                    yield _said(node, partial(_set, field="value", value=changed))
        case ast.Attribute(attr=name) if name in _NAMES:
            yield _said(node, partial(_set, field="attr", value=_NAMES[name]))
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield _said(node, partial(_set, field="id", value=_NAMES[name]))
        case ast.comprehension():
            for index, condition in enumerate(node.ifs):
                yield f"if {_short(condition)} → no if", partial(_drop, field="ifs", index=index)
        case ast.match_case() if node.guard is not None:
            yield f"case … if {_short(node.guard)} → no if", partial(_set, field="guard", value=None)
        case ast.MatchOr():
            for index, pattern in enumerate(node.patterns):
                what = f"case {_short(node)} → without {_short(pattern)}"
                yield what, partial(_repeat, field="patterns", index=index)
        case ast.List(ctx=ast.Load()) | ast.Set() if len(node.elts) > 1:
            for index, element in enumerate(node.elts):
                yield f"{_short(node)} → without {_short(element)}", partial(_drop, field="elts", index=index)
        case ast.Dict() if len(node.keys) > 1:
            for index, key in enumerate(node.keys):
                yield (
                    f"{_short(node)} → without {_short(key or node.values[index])}",
                    partial(_drop_entry, index=index),
                )
        case ast.Call():
            if not _is_made(node) and len(node.args) > 1 and _alike(*node.args[:2]):
                yield _said(node, _swap_arguments)
            for index, keyword in enumerate(node.keywords):
                if keyword.arg and keyword.arg != "strict" and not _is_of_a_tree(node):
                    yield (
                        f"{_short(node)} → without {keyword.arg}",
                        partial(_drop, field="keywords", index=index),
                    )
    if isinstance(node, (ast.IfExp, ast.If, ast.While)) and not isinstance(
        node.test, (ast.Compare, ast.UnaryOp)
    ):
        yield f"if {_short(node.test)} → if not", _negate


def _forgotten(node: ast.AST) -> Iterator[tuple[int, str, _Change]]:
    """Statements left out, each with the line that has to run for this to make a difference."""
    for field in ("body", "orelse"):
        statements = getattr(node, field, None)
        for index, statement in enumerate(statements if isinstance(statements, list) else ()):
            if _may_be_forgotten(statement):
                is_plain_if = isinstance(statement, ast.If) and not statement.orelse
                line = statement.body[0].lineno if is_plain_if else statement.lineno
                change = partial(_set_item, field=field, index=index, value=ast.Pass())
                yield line, f"{_short(statement)} → pass", change


def _tuples_of_choices(node: ast.AST) -> list[ast.Tuple]:
    """Tuples that hold alternatives, not the parts of one value: after `in`, in isinstance, at module level."""
    match node:
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Tuple(elts=[_, _, *_]) as found]):
            return [found]
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Tuple(elts=[_, _, *_]) as found]):
            return [found]
        case ast.Assign(value=ast.Tuple(elts=[_, _, *_]) as found) if len(found.elts) > 2:
            return [found]
    return []


def _place_of(node: Any, listed: ast.Tuple) -> tuple[str, int]:
    """A tuple's place in a node: field and index; -1 if it is the field's only value."""
    for field in ("comparators", "args"):
        for index, value in enumerate(getattr(node, field, ())):
            if value is listed:
                return field, index
    return "value", -1


def _drop_of_tuple(node: Any, listed: tuple[str, int], index: int) -> None:
    field, position = listed
    found = getattr(node, field)
    del (found if position < 0 else found[position]).elts[index]


def _said(node: ast.AST, change: _Change) -> tuple[str, _Change]:
    after = deepcopy(node)
    change(after)
    return f"{_short(node)} → {_short(after)}", change


def _may_be_forgotten(statement: ast.stmt) -> bool:
    """Whether the statement can be removed without undefining a name."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            return not _is_about_errors(call)
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Continue():
            return True
        case ast.If(orelse=[]):
            return True
    return False


def _set(node: Any, field: str, value: object) -> None:
    setattr(node, field, value)


def _set_item(node: Any, field: str, index: int, value: object) -> None:
    getattr(node, field)[index] = value


def _drop(node: Any, field: str, index: int) -> None:
    del getattr(node, field)[index]


def _repeat(node: Any, field: str, index: int) -> None:
    """Replace an item by its neighbor, where at least two items are required."""
    items = getattr(node, field)
    items[index] = items[index - 1]


def _drop_entry(node: Any, index: int) -> None:
    del node.keys[index], node.values[index]


def _swap_arguments(node: Any) -> None:
    node.args[0], node.args[1] = node.args[1], node.args[0]


def _negate(node: Any) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _not_not(node: Any) -> None:
    node.operand = ast.UnaryOp(ast.Not(), node.operand)


def _is_type(node: ast.AST) -> bool:
    """Whether its brackets contain types."""
    return isinstance(node, ast.Name) and (
        node.id[0].isupper() or node.id in ("dict", "list", "set", "tuple", "type")
    )


def _is_made(call: ast.Call) -> bool:
    """Whether its arguments have different types and cannot be confused."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in ("isinstance", "map", "filter", "zip", "sorted") or name[:1].isupper()


def _is_of_a_tree(call: ast.Call) -> bool:
    """Whether it makes a sqlglot node, which needs all its parts."""
    return isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "exp"


def _alike(one: ast.AST, other: ast.AST) -> bool:
    """Whether two arguments could be confused."""
    plain = (ast.Name, ast.Attribute)
    return isinstance(one, plain) and isinstance(other, plain) and ast.dump(one) != ast.dump(other)


def _is_text(node: ast.BinOp) -> bool:
    """Whether texts or lists are concatenated."""
    return any(
        isinstance(one, (ast.JoinedStr, ast.List, ast.Tuple))
        or (isinstance(one, ast.Constant) and isinstance(one.value, str))
        for one in (node.left, node.right)
    )


def _short(node: ast.AST | str) -> str:
    if isinstance(node, ast.If):
        node = f"if {ast.unparse(node.test)}: {ast.unparse(node.body[0])}"
    text = " ".join((node if isinstance(node, str) else ast.unparse(node)).split())
    return text if len(text) <= 160 else f"{text[:100]} … {text[-50:]}"
