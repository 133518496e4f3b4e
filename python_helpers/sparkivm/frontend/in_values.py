"""Values of IN (SELECT …) for which Spark's result depends on its optimizer.

By the standard, IN may be neither TRUE nor FALSE. Spark's IN then is FALSE, and so is NOT IN
(docs/decisions/018-in-is-never-null.md). Two kinds of queries are refused:

NOT from elsewhere    `where not r` over a subquery with `x in (…) as r`: Spark may move NOT, and whole
                      filters, to the IN of an inner query. Then it is NOT IN, else it is not.
a constant NULL       Spark's IN is NULL for an operand that the optimizer turns into the constant NULL.

tested  tests/unit/test_over_no_rows.py, tests/spark/test_in_values.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sparkivm.algebra import Filter, FullJoin, LeftJoin, Project, Relation, Scalar, UnionAll
from sparkivm.algebra.function_call import spark_name
from sparkivm.algebra.scalar import column, conjuncts, is_literal
from sparkivm.errors import NotIncremental
from sparkivm.frontend.place import place_of
from sparkivm.reasons import Reason

_IN = "in_subquery"
_CONNECTORS = (exp.And, exp.Or, exp.Paren)
_COMPARISONS = (exp.EQ, exp.NEQ)
# They are NULL only if all of their arguments are.
_OF_SOME_VALUE = frozenset("coalesce concat_ws greatest ifnull least nvl".split())
# Of constants that are not NULL, they are not NULL.
_TOTAL = (
    exp.Add, exp.Concat, exp.Interval, exp.IntervalSpan, exp.Lower, exp.Neg, exp.Paren, exp.Placeholder,
    exp.Sub, exp.Upper, exp.Var,
)  # fmt: skip


def as_in_value(value: Scalar, operands: tuple[str, ...], unknown: bool, node: exp.Expr) -> Scalar:
    """The value of an IN, marked.

    operands  its columns, left of IN
    unknown   the value where IN is neither TRUE nor FALSE
    """
    tree = value.tree.copy()
    tree.meta[_IN] = (operands, unknown, place_of(node))
    return Scalar(tree)


@dataclass(frozen=True)
class Around:
    """The condition around a node, as far as Spark may move NOT from it to the node.

    negated  whether an odd number of NOTs reaches the node
    touched  whether there is a NOT, or a comparison with TRUE or FALSE
    branch   whether the node is part of a value of CASE or IF
    moved    whether there is a NOT or such a comparison around that CASE or IF
    end      what Spark does not look into
    """

    negated: bool
    touched: bool
    branch: bool
    moved: bool
    end: exp.Expr | None


def around(node: exp.Expr) -> Around:
    """What is around a node in its expression."""
    negated = touched = branch = moved = False
    while (parent := node.parent) is not None:
        turns = touches = False
        if isinstance(parent, exp.Not):
            turns = touches = True
        elif isinstance(parent, _COMPARISONS):
            other = parent.expression if parent.this is node else parent.this
            if not isinstance(other, exp.Boolean):
                break
            turns, touches = isinstance(parent, exp.EQ) != other.this, True
        elif isinstance(parent, (exp.If, exp.Case)) and node.arg_key != "this":
            branch = True
        elif not isinstance(parent, _CONNECTORS):
            break
        touched |= touches
        moved |= branch and touches
        negated ^= turns and not branch
        node = parent
    return Around(negated, touched, branch, moved, parent)


def refuse_unclear_in_values(relation: Relation) -> None:
    """Raises: NotIncremental for a value of IN that Spark's optimizer may change."""
    nodes = list(relation.walk())
    if not any(_IN in scalar.tree.meta for node in nodes for scalar in node.scalars):
        return
    for node in nodes:
        for scalar in node.scalars:
            if _IN in scalar.tree.meta:
                operands, _, place = scalar.tree.meta[_IN]
                if len(operands) == 1 and any(
                    _may_be_null(column(operands[0]).tree, child) for child in node.children
                ):
                    what = "IN of a constant that may be NULL"
                    raise NotIncremental(Reason.OPERATOR_NOT_SUPPORTED, what, place)
            elif scalar.as_column is None:
                _refuse_other_negation(scalar, node)


def _refuse_other_negation(scalar: Scalar, node: Relation) -> None:
    for read in scalar.tree.find_all(exp.Column):
        here = around(read)
        for child in node.children:
            for value, below, branch in _in_values(read.name, child):
                _, unknown, place = value.tree.meta[_IN]
                negated = here.negated ^ below
                carried = negated and isinstance(here.end, _COMPARISONS)
                if negated != unknown or carried or here.moved or (branch and here.touched):
                    what = "NOT of the result of IN (SELECT …), which may be unknown; write EXISTS"
                    raise NotIncremental(Reason.OPERATOR_NOT_SUPPORTED, what, place)


def _in_values(name: str, relation: Relation) -> Iterator[tuple[Scalar, bool, bool]]:
    """The values of IN that a column is computed from; whether below NOT, and in a branch of CASE or IF."""
    if name not in relation.columns:
        return
    owner, source = relation.origin(name)
    if isinstance(owner, UnionAll):
        for child in owner.children:
            yield from _in_values(source, child)
    elif isinstance(owner, Project):
        definition = dict(owner.items)[source]
        if _IN in definition.tree.meta:
            yield definition, False, False
            return
        for read in definition.tree.find_all(exp.Column):
            here = around(read)
            if here.end is None:
                for value, below, branch in _in_values(read.name, owner.input):
                    yield value, here.negated ^ below, here.branch or branch


def _may_be_null(tree: exp.Expr, relation: Relation) -> bool:
    """Whether Spark may find that an expression is NULL without reading a row."""
    if isinstance(tree, exp.Column):
        owner, source = relation.origin(tree.name)
        if _is_padding(tree.name, relation):
            return True
        if isinstance(owner, UnionAll):
            return any(_may_be_null(column(source).tree, child) for child in owner.children)
        return isinstance(owner, Project) and _may_be_null(dict(owner.items)[source].tree, owner.input)
    if isinstance(tree, exp.Null):
        return True
    if is_literal(tree) or isinstance(tree, (exp.DataType, exp.Identifier, exp.Subquery)):
        return False
    if isinstance(tree, (exp.Case, exp.If)):
        branches = tree.args["ifs"] if isinstance(tree, exp.Case) else [tree]
        values = [
            *(branch.args.get("true") for branch in branches),
            tree.args.get("default") or tree.args.get("false"),
        ]
        constant = any(not branch.this.find(exp.Column) for branch in branches)
        null = [value is None or _may_be_null(value, relation) for value in values]
        return any(null) if constant else all(null)
    arguments = list(tree.iter_expressions())
    if isinstance(tree, exp.Nullif):
        return _may_be_null(tree.this, relation) or not tree.find(exp.Column)
    if isinstance(tree, exp.Func) and spark_name(tree) in _OF_SOME_VALUE:
        return all(_may_be_null(argument, relation) for argument in arguments)
    if any(_may_be_null(argument, relation) for argument in arguments):
        return True
    return not (tree.find(exp.Column) or isinstance(tree, _TOTAL) or _is_typed_literal(tree))


def _is_typed_literal(tree: exp.Expr) -> bool:
    """DATE '2024-01-01', or a cast that always has a value."""
    if type(tree) is exp.Cast:
        return True  # the parser reads CAST and TRY_CAST as TryCast
    if not isinstance(tree, exp.TryCast) or not is_literal(tree.this):
        return False
    return tree.is_type("string") or (not tree.this.is_string and tree.is_type("int", "bigint", "double"))


def _is_padding(name: str, relation: Relation) -> bool:
    """Whether a column comes from the side of an outer join that Spark may know to have no matches."""
    found: tuple[Relation, str] | None = (relation, name)
    while found is not None:
        join, name = found
        if isinstance(join, (LeftJoin, FullJoin)):
            padded = join.right if isinstance(join, LeftJoin) or name in join.right.columns else join.left
            tests = [*join.on.predicates, *(part for node in padded.walk() for part in _filters(node))]
            if name in padded.columns and not all(test.columns for test in tests):
                return True
        found = join.source_of(name)
    return False


def _filters(node: Relation) -> tuple[Scalar, ...]:
    return conjuncts(node.predicate) if isinstance(node, Filter) else ()
