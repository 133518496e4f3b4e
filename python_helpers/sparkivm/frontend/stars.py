"""`*`, `alias.*` and `* EXCEPT (…)`: the columns that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from sparkivm.algebra.scalar import column
from sparkivm.frontend.place import not_incremental
from sparkivm.frontend.scope import Scope, Visible, with_fields
from sparkivm.frontend.spark_types import type_of_field
from sparkivm.reasons import Reason

# Their arguments are one in `this` and a list in `expressions`; any number of them will do.
_ONE_AND_OTHERS = (exp.Coalesce, exp.Greatest, exp.Least)


def is_star(node: object) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def columns_of_star(node: exp.Expr, scope: Scope) -> list[Visible]:
    """What a star stands for in a SELECT list, or among the arguments of a function."""
    star = node.this if isinstance(node, exp.Column) else node
    left_out = star.args.get("except_") or ()
    for part in left_out:
        if isinstance(part, exp.Column) and part.table:
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "EXCEPT of a qualified name", part)
    names = {part.name.lower() for part in left_out}
    return [visible for visible in scope.expand(_qualifier(node), node) if visible[0].lower() not in names]


def fields_of_star(node: exp.Expr, scope: Scope, types: Mapping[str, str]) -> list[tuple[str, exp.Expr]]:
    """The names and expressions of a SELECT list that a star stands for, also `struct.*`.

    types  of the columns of tables
    """
    qualifier = _qualifier(node)
    if not qualifier or scope.is_alias(qualifier) or node.this.args.get("except_"):
        return [(shown, column(name).tree) for shown, name in columns_of_star(node, scope)]
    *tables, name = qualifier
    found = scope.find(exp.column(name, *reversed(tables), quoted=True))
    type_ = type_of_field(types.get(found[0]), found[1]) if found else None
    if found is None or type_ is None or not type_.is_type(exp.DataType.Type.STRUCT):
        return [(shown, column(name).tree) for shown, name in columns_of_star(node, scope)]
    struct = with_fields(column(found[0]).tree, found[1])
    return [(field.name, with_fields(struct, [field.name])) for field in type_.expressions]


def _qualifier(node: exp.Expr) -> list[str]:
    return [part.name for part in node.parts[:-1]] if isinstance(node, exp.Column) else []


def with_columns(call: exp.Expr, scope: Scope, resolved: Callable[[exp.Expr], exp.Expr]) -> exp.Expr | None:
    """A call with resolved arguments if stars are among them, which STRUCT takes for fields; None if not.

    COUNT(*) counts rows. What Spark gives no meaning to stays as it is.
    """
    if not isinstance(call, (exp.Func, exp.Distinct)) or isinstance(call, exp.Count):
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
                value = exp.PropertyEQ(this=exp.to_identifier(shown, quoted=True), expression=value)
            whole.append(value)
    new = call.copy()
    if first:
        new.set("this", whole.pop(0))
    new.set("expressions", whole)
    return new
