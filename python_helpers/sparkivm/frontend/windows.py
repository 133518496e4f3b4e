"""Window functions of one SELECT: each becomes a column; one operator computes all of a partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sparkivm.algebra import Ordering, Project, Relation, Scalar, Window, WindowCall
from sparkivm.algebra.aggregates.functions import FUNCTIONS
from sparkivm.algebra.function_call import arguments_of, call_within
from sparkivm.algebra.scalar import column, replace_nodes
from sparkivm.errors import NotIncremental
from sparkivm.frontend.accepted_expressions import check_accepted, function_name
from sparkivm.frontend.expressions import direction, outside_of_subqueries
from sparkivm.frontend.place import not_supported, not_understood
from sparkivm.frontend.scope import NameAllocator
from sparkivm.properties.key_columns import key_columns

# They number or pick rows of a partition, so the order of ties is visible.
_OF_ONE_ROW = frozenset({"row_number", "ntile", "lag", "lead"})
# Tied rows share a value.
_OF_PEERS = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})
# They take one row of a frame. A frame not in ROWS holds all or none of the tied rows: any may be the last.
_OF_THE_FRAME = frozenset({"last_value", "last", "nth_value"})
_FIRST = frozenset({"first_value", "first", "any_value"})


def with_named_windows(tree: exp.Expr, definitions: Sequence[exp.Expr]) -> exp.Expr:
    """The expression with the definitions of WINDOW in place of their names.

    A name that is not defined there is refused: it may belong to an outer query.
    """
    if not any(map(_window_name, outside_of_subqueries(tree))):
        return tree
    known = _by_name(definitions)
    tree = tree.copy()
    for node in list(outside_of_subqueries(tree)):
        name = _window_name(node)
        if not name:
            continue
        if name not in known:
            raise _undefined(name, node)
        for part in ("partition_by", "order", "spec"):
            value = known[name].args.get(part)
            if value:
                node.set(part, [one.copy() for one in value] if isinstance(value, list) else value.copy())
        node.set("alias", None)
    return tree


def _by_name(definitions: Sequence[exp.Expr]) -> dict[str, exp.Expr]:
    """The window of each name; in Spark case matters, and one name may refer to another's window."""
    written = {str(one.name): one for one in definitions}
    if len({name.lower() for name in written}) < len(definitions):
        raise not_understood("two windows have the same name", definitions[0])
    known = dict(written)
    for name, one in written.items():
        other = _window_name(one)
        if other:
            if other not in written or _window_name(written[other]):
                raise _undefined(other, one)
            known[name] = written[other]
    return known


def _window_name(node: exp.Expr) -> str:
    """The name by which a window refers to another one; "" if it has its own parts."""
    name = node.args.get("alias") if isinstance(node, exp.Window) else None
    return name.name if name is not None else ""


def _undefined(name: str, node: exp.Expr) -> NotIncremental:
    return not_understood(f"no window {name} is defined", node)


class Windows:
    """Window functions, read where they occur and computed together."""

    def __init__(self, names: NameAllocator) -> None:
        self._names = names
        self._known: dict[Scalar, str] = {}
        self._calls: dict[tuple[Scalar, ...], list[WindowCall]] = {}  # by partition

    def lifted(self, tree: exp.Expr) -> exp.Expr:
        """A resolved expression with columns in place of window functions."""

        def replacement(node: exp.Expr) -> exp.Expr | None:
            return column(self._column(node)).tree if isinstance(node, exp.Window) else None

        return replace_nodes(tree, replacement) if tree.find(exp.Window) else tree

    def applied(self, relation: Relation) -> Relation:
        """The relation with the columns of the window functions."""
        base = relation.columns
        for partition, calls in self._calls.items():
            keys = {scalar: self._names.name_for(scalar, relation, "partition") for scalar in partition}
            computed = [(name, scalar) for scalar, name in keys.items() if name not in relation.columns]
            if computed:
                passed = [(name, column(name)) for name in relation.columns]
                relation = Project(relation, (*passed, *computed))
            for together in _one_order_each(calls):
                by_key = tuple(with_key_in_order(call, relation) for call in together)
                relation = Window(relation, tuple(dict.fromkeys(keys.values())), by_key)
        if relation.columns == base:
            return relation
        kept = [name for name in relation.columns if name in base or name in self._known.values()]
        return Project(relation, tuple((name, column(name)) for name in kept))

    def _column(self, node: exp.Window) -> str:
        scalar = Scalar(node)
        name = self._known.get(scalar)
        if name is None:
            name = self._known[scalar] = self._names.fresh("window")
            partition = tuple(map(Scalar, node.args.get("partition_by") or ()))
            for key in partition:
                check_accepted(key.tree)
            self._calls.setdefault(partition, []).append(self._read(name, node))
        return name

    @staticmethod
    def _read(name: str, node: exp.Window) -> WindowCall:
        call = node.this
        inner = call_within(call)
        function = function_name(inner)
        known = _OF_ONE_ROW | _OF_PEERS | _OF_THE_FRAME | _FIRST | FUNCTIONS.keys()
        if function not in known:
            raise not_supported(f"the window function {function} has no rule", node)
        order_node = node.args.get("order")
        order = tuple(_ordering(one) for one in (order_node.expressions if order_node else ()))
        parts = arguments_of(inner)
        parts += [part for part in (inner.args.get("offset"), inner.args.get("default")) if part is not None]
        if isinstance(call, exp.Filter):
            parts.append(call.expression.this)
        parts += [
            ordered.this
            for within in call.find_all(exp.WithinGroup)
            for ordered in within.expression.expressions
        ]
        for part in (*parts, *(one.key.tree for one in order)):
            if not isinstance(part, (exp.Star, exp.Distinct)):
                check_accepted(part)
        spec = node.args.get("spec")
        frame = spec.sql(dialect="spark") if spec is not None else ""
        if spec is not None and spec.find(exp.Column):
            raise not_supported("a window frame that is not constant", node)
        by_rows = frame.upper().startswith("ROWS")
        sorted_by = (*(one.key for one in order), *map(Scalar, node.args.get("partition_by") or ()))
        first = function in _FIRST and _has_the_first_row(spec) and not _passes_over_nulls(call, inner)
        chosen = function in _OF_THE_FRAME | _FIRST and not (by_rows or first)
        if chosen and not _are_determined_by(sorted_by, parts):
            what = f"{function.upper()} may take any of the tied rows; write ROWS BETWEEN … after ORDER BY"
            raise not_supported(what, node)
        # Further ORDER BY keys leave a frame unchanged only if it counts rows, or its end does not matter.
        settled = function in _OF_ONE_ROW or first or (by_rows and function not in _OF_PEERS)
        if first and not by_rows:
            frame = ""  # Spark allows a distance only with a single ORDER BY key
        return WindowCall(name, Scalar(call), order, frame, settled)


def _has_the_first_row(spec: exp.Expr | None) -> bool:
    """Whether every frame begins at the partition's first row, and so is never empty; the default does."""
    if spec is None:
        return True
    start, start_side, end_side = (spec.text(part).upper() for part in ("start", "start_side", "end_side"))
    if (start, start_side) != ("UNBOUNDED", "PRECEDING"):
        return False
    match spec.args.get("end"):
        case None | "CURRENT ROW":
            return True
        case "UNBOUNDED" | exp.Literal():  # any other distance may be negative
            return end_side == "FOLLOWING"
        case _:
            return False


def _passes_over_nulls(call: exp.Expr, function: exp.Expr) -> bool:
    """Whether there is IGNORE NULLS, or a second argument that may mean it."""
    return call.find(exp.IgnoreNulls) is not None or len(arguments_of(function)) > 1


def _are_determined_by(keys: Sequence[Scalar], parts: Sequence[exp.Expr]) -> bool:
    """Whether expressions are functions of some keys."""
    columns = {name for key in keys if (name := key.as_column)}
    return all(Scalar(part) in keys or Scalar(part).columns <= columns for part in parts)


def _one_order_each(calls: list[WindowCall]) -> list[tuple[WindowCall, ...]]:
    """Calls that may be computed together: at most one of them breaks ties.

    Such a call gives equal rows different numbers. A second one would break ties in its own order, so the
    engine could combine their numbers arbitrarily. Computed later, it takes the first one's into account.
    """
    settled = [call for call in calls if call.settled]
    first = tuple(call for call in calls if call not in settled[1:])
    return [first, *((call,) for call in settled[1:])]


def with_key_in_order(call: WindowCall, input: Relation) -> WindowCall:
    """A call that breaks ties by the key of its input first, so that other columns never have to.

    The values of other columns may depend on the order in which rows are read (plan/order_dependent.py).
    """
    key = (key_columns(input) if call.settled else None) or frozenset()
    rest = (Ordering(column(name), False, True) for name in sorted(key - call.sorted_by))
    return replace(call, order=(*call.order, *rest))


def _ordering(node: exp.Expr) -> Ordering:
    if not isinstance(node, exp.Ordered):
        return Ordering(Scalar(node), descending=False, nulls_first=True)
    return Ordering(Scalar(node.this), *direction(node))
