"""`*`, `alias.*`, `* EXCEPT (…)` and `struct.*`: the columns and fields they expand to."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sparkivm.algebra.scalar import column
from sparkivm.frontend.place import not_supported, not_understood
from sparkivm.frontend.scope import NameAllocator, Scope, Visible, has_name, with_fields

# Functions of any number of arguments: the first is in `this`, the others in `expressions`.
_ONE_AND_OTHERS = (exp.Coalesce, exp.Count, exp.Greatest, exp.Least)


def is_star(node: object) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def is_of_columns(node: exp.Expr) -> bool:
    """Whether a node is a star that stands for columns: any star but that of COUNT(*)."""
    return is_star(node) and not counts_rows(node.parent)


def counts_rows(call: exp.Expr | None) -> bool:
    """Whether a call is COUNT(*). Beside other arguments the star means all columns, counted if non-NULL."""
    if not isinstance(call, exp.Count) or call.expressions:
        return False
    return isinstance(call.this, exp.Star) and not _left_out(call.this)


def has_star(tree: exp.Expr) -> bool:
    """Whether a query's columns depend on those of what it reads."""
    return any(map(is_of_columns, tree.walk()))


def columns_of_star(node: exp.Expr, scope: Scope) -> list[Visible]:
    """The columns of a star in a SELECT list or among a function's arguments."""
    left_out = _left_out(node)
    for part in left_out:
        if isinstance(part, exp.Column) and part.table:
            raise not_supported("EXCEPT of a qualified name", part)
    names = {part.name.lower() for part in left_out}
    return [visible for visible in scope.expand(_qualifier(node), node) if visible[0].lower() not in names]


def items_of_star(node: exp.Expr, scope: Scope, names: NameAllocator) -> list[tuple[str, exp.Expr]]:
    """The items (name, expression) that a star in a SELECT list expands to; for a struct, its fields."""
    fields = _fields_of_struct(node, scope, names)
    if fields is not None:
        return fields
    return [(shown, column(name).tree) for shown, name in columns_of_star(node, scope)]


def with_columns(call: exp.Expr, scope: Scope, resolved: Callable[[exp.Expr], exp.Expr]) -> exp.Expr | None:
    """A call with its arguments resolved and stars among them expanded; None if there are no stars.

    STRUCT takes them for its fields. A star to which Spark gives no meaning stays.
    """
    if not isinstance(call, (exp.Func, exp.Distinct)) or counts_rows(call):
        return None
    first = [call.this] if isinstance(call, _ONE_AND_OTHERS) else []
    arguments = [*first, *call.expressions]
    if not any(map(is_star, arguments)):
        return None
    whole: list[exp.Expr] = []
    for argument in arguments:
        if not is_star(argument):
            whole.append(resolved(argument))
            continue
        for shown, name in columns_of_star(argument, scope):
            value = column(name).tree.copy()
            if isinstance(call, exp.Struct):
                if not has_name((shown, name)):
                    raise not_understood("a STRUCT(*) over a column without a name", argument)
                value = exp.PropertyEQ(this=exp.to_identifier(shown, quoted=True), expression=value)
            whole.append(value)
    if not whole:
        raise not_understood("* that expands to no columns", call)
    new = call.copy()
    if first:
        new.set("this", whole.pop(0))
    new.set("expressions", whole)
    return new


def _fields_of_struct(
    node: exp.Expr, scope: Scope, names: NameAllocator
) -> list[tuple[str, exp.Expr]] | None:
    """The same for `struct.*`; None for other stars, and if the struct's fields are not known."""
    qualifier = _qualifier(node)
    if not qualifier or scope.is_alias(qualifier) or _left_out(node):
        return None
    *tables, struct = qualifier
    found = scope.find(exp.column(struct, *reversed(tables), quoted=True))
    if found is None:
        return None
    name, path = found
    whole = names.type_of_column(name)
    type_ = whole and whole.field(path)
    if type_ is None or type_.word != "struct":
        return None
    return [(field, with_fields(column(name).tree, [*path, field])) for field in type_.names]


def _left_out(node: exp.Expr) -> list[exp.Expr]:
    """The columns that a star's EXCEPT names."""
    star = node.this if isinstance(node, exp.Column) else node
    return star.args.get("except_") or []


def _qualifier(node: exp.Expr) -> list[str]:
    return [part.name for part in node.parts[:-1]] if isinstance(node, exp.Column) else []
