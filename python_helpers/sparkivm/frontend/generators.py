"""Functions that make rows: LATERAL VIEW, EXPLODE in a SELECT list, and table functions in FROM."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sparkivm.algebra import Generate, OneRow, Project, Relation, Scalar
from sparkivm.algebra.function_call import arguments_of, spark_name
from sparkivm.algebra.project import only
from sparkivm.algebra.scalar import integer
from sparkivm.algebra.spark_functions import GENERATORS
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend.accepted_expressions import check_accepted
from sparkivm.frontend.place import not_supported, not_understood
from sparkivm.frontend.scope import NameAllocator, Visible
from sparkivm.spark.data_types import SparkType

# The default names of their columns.
_NAMES = {"explode": ("col",), "posexplode": ("pos", "col")}
_OF_MAPS = {"explode": ("key", "value"), "posexplode": ("pos", "key", "value")}
_MOST_NUMBERS = 10_000_000  # of RANGE, which we write as one array
_MAKES_MAPS = {"map", "map_concat", "map_filter", "map_from_arrays", "map_from_entries", "str_to_map"}


def is_generator(node: exp.Expr) -> bool:
    """Whether a node calls a function that makes rows."""
    return isinstance(node, exp.Func) and spark_name(node).removesuffix("_outer") in GENERATORS


def generated(
    input: Relation, call: exp.Expr, given: Sequence[str], names: NameAllocator, *, outer: bool = False
) -> tuple[Generate, list[Visible]]:
    """The rows that a resolved call makes, and the names under which its columns are visible.

    given  names in the query, if it has any
    """
    word = spark_name(call)
    plain = word.removesuffix("_outer")
    arguments = arguments_of(call)
    if not arguments:
        raise not_understood(f"{word} without arguments", call)
    type_ = _type_of(arguments[0], input, names)
    shown = list(given) or _default_names(plain, arguments, type_)
    if not shown:
        raise not_supported(f"{word} without names for its columns", call)
    for argument in arguments:
        check_accepted(argument)
    copies = [argument.copy() for argument in arguments]
    tree = (
        exp.Explode(this=copies[0]) if plain == "explode" else exp.Anonymous(this=plain, expressions=copies)
    )
    visible = [(name, names.fresh(name)) for name in shown]
    columns = tuple(name for _, name in visible)
    if plain in _NAMES and type_ is not None and type_.word == "array":
        names.computed[columns[-1]] = type_.parts[0]
    return Generate(input, Scalar(tree), columns, outer or plain != word), visible


def made_in_from(
    call: exp.Expr, given: Sequence[str], names: NameAllocator
) -> tuple[Relation, list[Visible]]:
    """The rows of a table function over constants."""
    row = Project(OneRow(), ((names.fresh("one"), integer(1)),))
    if is_generator(call):
        rows, visible = generated(row, call, given, names)
    else:
        rows, visible = generated(row, _numbers(call), given or ("id",), names)
    return only(rows, [name for _, name in visible]), visible


def _numbers(call: exp.Expr) -> exp.Expr:
    """RANGE(end) or RANGE(start, end, step) of integer literals, as EXPLODE."""
    bounds = [argument.this if isinstance(argument, exp.Neg) else argument for argument in call.expressions]
    if not 1 <= len(bounds) <= 3 or not all(isinstance(one, exp.Literal) and one.is_int for one in bounds):
        raise not_supported("RANGE of anything but integer literals", call)
    given = [int(argument.sql()) for argument in call.expressions]
    numbers = range(*given) if len(given) < 3 or given[2] else ()
    if not numbers:
        raise not_supported("RANGE over an empty interval", call)
    if len(numbers) > _MOST_NUMBERS:
        raise not_supported(f"RANGE of more than {_MOST_NUMBERS:,} numbers", call)
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    text = f"sequence({numbers[0]}L, {numbers[-1]}L, {step}L)"
    return exp.Explode(this=expression(text).tree.copy())


def _type_of(argument: exp.Expr, input: Relation, names: NameAllocator) -> SparkType | None:
    """The type of a column or of its field, or of a function that makes maps; None for other expressions."""
    if isinstance(argument, exp.Func) and spark_name(argument) in _MAKES_MAPS:
        return SparkType("map")
    return names.known_type(input, argument)


def _default_names(word: str, arguments: Sequence[exp.Expr], type_: SparkType | None) -> list[str]:
    """The default names of a generator's columns; empty if they are not known.

    type_  of the first argument, if it is known
    """
    if word == "json_tuple":
        return [f"c{number}" for number in range(len(arguments) - 1)]
    if word == "stack" and isinstance(arguments[0], exp.Literal) and arguments[0].is_int:
        rows = int(arguments[0].name)
        return [f"col{number}" for number in range(-(-(len(arguments) - 1) // rows))] if rows else []
    if word == "inline":
        return [name for element in (type_.parts if type_ else ()) for name in element.names] or (
            _written_names(arguments[0])
        )
    is_map = type_ is not None and type_.word == "map"
    return list((_OF_MAPS if is_map else _NAMES).get(word, ()))


def _written_names(argument: exp.Expr) -> list[str]:
    """The names of the fields in an array of structs that is written out; empty if some field has none."""
    if not isinstance(argument, exp.Array) or not argument.expressions:
        return []
    first = argument.expressions[0].unnest()
    if isinstance(first, exp.Struct):
        fields = first.expressions
        return [f.this.name for f in fields] if all(isinstance(f, exp.PropertyEQ) for f in fields) else []
    if isinstance(first, exp.Func) and spark_name(first) == "named_struct":
        names = arguments_of(first)[::2]
        return [one.name for one in names] if all(isinstance(one, exp.Literal) for one in names) else []
    return []
