"""`*`, `alias.*` and `* EXCEPT (…)`: the columns that they stand for."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sparkivm.algebra.scalar import column
from sparkivm.frontend.place import not_incremental
from sparkivm.frontend.scope import Scope, Visible
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
    qualifier = [part.name for part in node.parts[:-1]] if isinstance(node, exp.Column) else []
    return [visible for visible in scope.expand(qualifier, node) if visible[0].lower() not in names]


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
