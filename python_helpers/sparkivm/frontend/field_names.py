"""Fields that Spark names after columns. We write the query's names, since a plan renames columns.

    (k, a + 1)        STRUCT(… AS k, … AS col2)
    arrays_zip(k, a)  structs with the fields k and a, made by TRANSFORM and ZIP_WITH

The parser writes out those of STRUCT itself.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sparkivm.algebra import Scalar
from sparkivm.algebra.function_call import spark_name
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend.lambdas import parameter_name
from sparkivm.frontend.place import not_supported
from sparkivm.names import RESERVED_PREFIX, quoted

_COMPARED = (exp.Predicate, exp.Tuple)  # by position: names do not matter
_ZIPPED, _VALUE = f"{RESERVED_PREFIX}zipped", f"{RESERVED_PREFIX}value"

NameOf = Callable[[exp.Column], str | None]


def with_field_names(
    node: exp.Expr, resolved: Callable[[exp.Expr], exp.Expr], name_of: NameOf
) -> exp.Expr | None:
    """A resolved tuple or ARRAYS_ZIP with explicit field names; None for anything else.

    name_of  the name of a column in the query; None for a field of a column
    """
    if isinstance(node, exp.Tuple) and not isinstance(node.parent, _COMPARED):
        names = [_name(part, f"col{number}", name_of) for number, part in enumerate(node.expressions, 1)]
        parts = zip(names, map(resolved, node.expressions), strict=True)
        fields = [
            exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=p) for name, p in parts
        ]
        return exp.Struct(expressions=fields)
    if isinstance(node, exp.Anonymous) and spark_name(node) == "arrays_zip":
        return _zipped(node, resolved, name_of)
    return None


def _zipped(call: exp.Expr, resolved: Callable[[exp.Expr], exp.Expr], name_of: NameOf) -> exp.Expr:
    names = [_name(argument, str(number), name_of) for number, argument in enumerate(call.expressions)]
    if not names or len({name.lower() for name in names}) < len(names):
        raise not_supported("ARRAYS_ZIP whose fields do not have distinct names", call)
    first, *others = (Scalar(resolved(argument)) for argument in call.expressions)
    made = [f"{_VALUE} as {quoted(names[0])}"]
    zipped = expression(f"transform(x, {_VALUE} -> struct({made[0]}))", x=first)
    for position, other in enumerate(others, 1):
        known = [f"{_ZIPPED}.{quoted(name)} as {quoted(name)}" for name in names[:position]]
        fields = ", ".join([*known, f"{_VALUE} as {quoted(names[position])}"])
        text = f"zip_with(x, y, ({_ZIPPED}, {_VALUE}) -> struct({fields}))"
        zipped = expression(text, x=zipped, y=other)
    return zipped.tree


def _name(part: exp.Expr, otherwise: str, name_of: NameOf) -> str:
    """The name that Spark gives to a field.

    Raises: NotIncremental for a field of a struct or a value of a map.
    """
    name: str | None = otherwise
    if isinstance(part, exp.Column):
        name = name_of(part)
    elif isinstance(part, exp.Identifier):
        name = parameter_name(part)
    elif isinstance(part, (exp.Alias, exp.Bracket, exp.Dot)):
        name = None
    if name is None:
        raise not_supported(f"a struct with {part.sql(dialect='spark')}; write named_struct('…', …)", part)
    return name
