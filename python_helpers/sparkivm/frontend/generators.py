"""Functions that make rows: LATERAL VIEW, and EXPLODE in a SELECT list."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sparkivm.algebra import Generate, Relation, Scalar
from sparkivm.frontend.accepted_expressions import check_accepted
from sparkivm.frontend.place import not_incremental
from sparkivm.frontend.scope import NameAllocator, Visible
from sparkivm.reasons import Reason

# The names of what they make, where the query gives none.
_NAMES = {"explode": ("col",), "posexplode": ("pos", "col")}
_GENERATORS = frozenset({"explode", "posexplode", "inline", "stack"})


def is_generator(node: exp.Expr) -> bool:
    """Whether a node is the call of a function that makes rows."""
    return isinstance(node, exp.Func) and _word(node).removesuffix("_outer") in _GENERATORS


def generated(
    input: Relation, call: exp.Expr, given: Sequence[str], names: NameAllocator, *, outer: bool = False
) -> tuple[Generate, list[Visible]]:
    """The rows that a resolved call makes, and what their columns are visible as.

    given  the names of the query, if it has any
    """
    word = _word(call)
    plain = word.removesuffix("_outer")
    shown = list(given) or list(_NAMES.get(plain, ()))
    if not shown:
        raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, f"{word} without names for its columns", call)
    arguments = [part for part in (call.this, *call.expressions) if isinstance(part, exp.Expr)]
    for argument in arguments:
        check_accepted(argument)
    copies = [argument.copy() for argument in arguments]
    tree = (
        exp.Explode(this=copies[0]) if plain == "explode" else exp.Anonymous(this=plain, expressions=copies)
    )
    visible = [(name, names.fresh(name)) for name in shown]
    columns = tuple(name for _, name in visible)
    return Generate(input, Scalar(tree), columns, outer or plain != word), visible


def _word(call: exp.Expr) -> str:
    """The function's name as Spark knows it."""
    return call.sql(dialect="spark").partition("(")[0].lower()
