"""Columns of a query that are the same literal in every row: the time or the id of a dbt run.

The state leaves out such a column; only the public view has it. If the value changes at the next run, the
view is replaced and no row is computed.

tested  test_run_constants.py in tests/unit, tests/refresh and tests/spark
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime

from sqlglot import exp

from sparkivm import algebra as ra
from sparkivm.algebra import Relation, Scalar
from sparkivm.algebra.project import only
from sparkivm.normalize.drop_projects import drop_projects
from sparkivm.normalize.prune_columns import prune_columns

# Texts that Spark certainly casts. Others may fail, and must fail when the view is refreshed.
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TIME = re.compile(_DATE.pattern + r"[ T](\d\d):(\d\d):(\d\d)(?:\.\d{1,6})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)?")
_OF_TIME = (  # sqlglot reads Spark's TIMESTAMP as TIMESTAMPTZ
    exp.DataType.Type.TIMESTAMPLTZ,
    exp.DataType.Type.TIMESTAMPTZ,
    exp.DataType.Type.TIMESTAMPNTZ,
)


def is_run_constant(scalar: Scalar) -> bool:
    """Whether an expression is a literal, or a literal cast to text, a date or a time.

    It has the form of this query, or that of another view's public view, which is nullable for Spark.
    """
    tree = scalar.tree
    if isinstance(tree, exp.Cast):
        inner = _of_public_view(tree)
        return _is_certain(tree) if inner is None else inner
    return isinstance(tree, (exp.Literal, exp.Boolean))


def _of_public_view(cast: exp.Cast) -> bool | None:
    """Whether `cast(if(true, x, null) as type)` is a constant of text or time; None for anything else.

    `Finalizer._typed` writes constants in this form, and a view over that view reads it.
    """
    choice = cast.this
    if not (
        isinstance(choice, exp.If) and choice.this == exp.true() and choice.args.get("false") == exp.null()
    ):
        return None
    inner = choice.args["true"]
    if isinstance(inner, exp.Cast):
        return inner.to == cast.to and is_run_constant(Scalar(inner))
    return isinstance(inner, exp.Literal) and inner.is_string and cast.to.this is exp.DataType.Type.TEXT


def _is_certain(cast: exp.Cast) -> bool:
    """Whether Spark can certainly cast a text to this type."""
    literal, type_ = cast.this, cast.to
    if not isinstance(literal, exp.Literal) or not literal.is_string or type_.expressions:
        return False
    if type_.this is exp.DataType.Type.TEXT:
        return True
    if type_.this in _OF_TIME:
        return _exists(_TIME.fullmatch(literal.name))
    return type_.this is exp.DataType.Type.DATE and _exists(_DATE.fullmatch(literal.name))


def without_run_constants(root: Relation, kept: Collection[str]) -> tuple[Relation, dict[str, Scalar]]:
    """A relation without its constant columns, and these; unchanged if no other with a type would be left.

    kept  columns that always stay
    """
    found = {name: _literal(root, name) for name in root.columns if name not in kept}
    constants = {name: scalar for name, scalar in found.items() if scalar and is_run_constant(scalar)}
    columns = tuple(name for name in root.columns if name not in constants)
    if not constants or all(found.get(name) for name in columns):
        return root, {}
    core = prune_columns(drop_projects(only(root, columns)), columns)
    return core if core.columns == columns else only(core, columns), constants


def _literal(node: Relation, name: str) -> Scalar | None:
    """The constant, or the NULL without a type, that a column has in every row; None if it has neither."""
    while True:
        match node:
            case ra.Project():
                scalar = dict(node.items)[name]
                if is_run_constant(scalar) or isinstance(scalar.tree, exp.Null):
                    return scalar
                if scalar.as_column is None:
                    return None
                node, name = node.input, scalar.as_column
            case ra.Filter():
                node = node.input
            case ra.InnerJoin():
                (node,) = (child for child in node.inputs if name in child.columns)
            case ra.LeftJoin() | ra.SemiJoin() if name in node.left.columns:
                node = node.left
            case _:
                return None


def _exists(found: re.Match[str] | None) -> bool:
    """Whether a date exists in the calendar, and a time in a day."""
    if found is None:
        return False
    try:
        datetime(*map(int, found.groups()))  # type: ignore[arg-type]  # three numbers, or six
    except ValueError:
        return False
    return True
