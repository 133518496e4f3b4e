"""Lambdas: `transform(xs, x -> x + y)`. We rename their parameters so that no column has the same name."""

from __future__ import annotations

from sqlglot import exp

from sparkivm.frontend.place import not_understood
from sparkivm.names import RESERVED_PREFIX

_PREFIX = f"{RESERVED_PREFIX}each_"


def with_own_parameters(tree: exp.Expr) -> exp.Expr:
    """A copy in which no parameter can hide a column, whatever columns are called later.

    All parameters are renamed in the same way, so one that hides another still does.

    Raises: NotIncremental for a parameter that the parser took for a column.
    """
    if tree.find(exp.Lambda) is None:
        return tree
    tree = tree.copy()
    for function in list(tree.find_all(exp.Lambda)):
        names = {parameter.name.lower() for parameter in function.expressions}
        for node in list(function.find_all(exp.Column, exp.Identifier)):
            if isinstance(node, exp.Column) and node.parts[0].name.lower() in names:
                raise not_understood(f"{node.sql()} is a lambda parameter written in a different case", node)
            renamed = node.name.startswith(_PREFIX)  # by a lambda inside this one
            if (
                isinstance(node, exp.Identifier)
                and node.name.lower() in names
                and not renamed
                and _is_value(node)
            ):
                node.set("this", _PREFIX + node.name.lower())
    return tree


def parameter_name(node: exp.Identifier) -> str:
    """The query's name of a parameter that was renamed."""
    return node.name.removeprefix(_PREFIX)


def _is_value(node: exp.Identifier) -> bool:
    """Whether a name is a parameter: the parser leaves these bare, and wraps columns, fields and aliases."""
    if isinstance(node.parent, (exp.Column, exp.DataType, exp.ColumnDef)):
        return False
    if isinstance(node.parent, exp.Dot):
        return node.arg_key == "this"
    if isinstance(node.parent, exp.PropertyEQ):  # STRUCT(x AS field)
        return node.arg_key == "expression"
    return node.arg_key != "alias"
