"""How the delta of a core changes a group state: entries to add, or new rows of the changed groups."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra import (
    Aggregate,
    Call,
    Consolidate,
    Derivation,
    Filter,
    JoinCondition,
    Keys,
    LeftJoin,
    Pair,
    Project,
    Relation,
    Restricted,
    Scalar,
    UnionAll,
    Unweigh,
)
from sparkivm.algebra.project import only, renamed
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.state import WEIGHT_COLUMN, GroupState, StateColumn, guarded, stored

_REDO = f"{RESERVED_PREFIX}redo"


@dataclass(frozen=True)
class GroupRows:
    """The new rows of the groups that may have changed: `rows` replaces what the state holds for `keys`.

    A group whose count of rows is 0 or NULL is gone.
    """

    rows: Relation
    keys: Relation


def entries(state: GroupState, d: Derivation) -> Relation:
    """dS = γ±(d core input): for a linear state, the entries whose addition is the refresh."""
    calls = tuple(entry.call for entry in state.columns)
    grouped = Aggregate(d.delta(state.core.input), state.keys, calls, signed=True)
    effect = " or ".join(f"coalesce(c{i}, 0) <> 0" for i in range(len(calls)))
    changed = Filter(grouped, expression(effect, **{f"c{i}": call.name for i, call in enumerate(calls)}))
    return guarded(state, changed)


def folded(state: GroupState, *more: Relation, part: Keys | None = None) -> Relation:
    """The state and `more` entries, one row per group: S₁(g) = Σ entries(g), groups without rows gone.

    With `part`, which holds the keys of `more`, only the groups with these keys.
    """
    calls = tuple(Call(entry.name, "sum", column(entry.name)) for entry in state.columns)
    # Without keys there is one row whatever the table holds.
    total = Aggregate(plus(stored(state, part), *more), state.keys, calls)
    alive = expression("n > 0", n=state.columns[0].name)
    return guarded(state, Filter(total, alive) if state.keys else total)


def touched_groups(state: GroupState, d: Derivation) -> Relation:
    """K ⊇ the keys of dR, for a state whose changed groups are read again: dR itself is not needed."""
    touched = d.touched(state.core.input, state.keys)
    return Aggregate(touched, state.keys, (), signed=touched.weighted)


def arguments(state: GroupState, d: Derivation) -> Relation:
    """dR in the columns that keys and aggregates read, as changes of others cancel; weights in a column."""
    read = dict.fromkeys(state.keys)
    for entry in state.columns:
        read.update(
            dict.fromkeys(sorted(entry.call.argument.columns)) if entry.call.argument is not None else {}
        )
    delta = d.delta(state.core.input)
    return Unweigh(Consolidate(only(delta, read or delta.columns[:1])), WEIGHT_COLUMN)


def changed_groups(state: GroupState, changed: Relation) -> GroupRows:
    """The new rows of every group in `touched_groups`, or in the changed `arguments`; absolute values."""
    return _reread(state, changed) if state.recomputed else _merged(state, changed)


def replaced(state: GroupState, change: GroupRows, part: Keys | None = None) -> Relation:
    """The whole state after the change. With `part`, which holds the changed keys, only that part."""
    if not state.keys:
        return change.rows
    keys = Keys.of(change.keys, ((key, key) for key in state.keys))
    alive = Filter(change.rows, expression("n > 0", n=state.columns[0].name))
    rest = Restricted(stored(state, part), keys, excluded=True)
    return UnionAll((rest, only(alive, state.names)))


def _reread(state: GroupState, changed: Relation) -> GroupRows:
    """S₁|K = γ(R₁|K): right for every aggregate."""
    calls = tuple(entry.call for entry in state.columns)
    if not state.keys:
        return GroupRows(guarded(state, Aggregate(state.core.input, (), calls)), changed)
    narrowed = state.core.input.restrict(Keys.of(changed, ((key, key) for key in state.keys)))
    found = guarded(state, Aggregate(narrowed, state.keys, calls))
    rows = _beside(changed, _prefixed(found, state.keys), state.keys, _NEW)
    return GroupRows(only(rows, state.names), changed)


def _merged(state: GroupState, changed: Relation) -> GroupRows:
    """Counts and sums: S₀ + dS. MIN and MAX: taken from the delta, kept, or read again.

    Read again is a group that lost a value which may have been its extremum.

    law  with I, D the values that came and went (net), c the stored minimum, and n₁ > 0 non-NULL values left:
         no c, or min I ≤ c → min I;   else min D ≤ c → read the group again;   else c
    """
    keys, extrema = state.keys, [entry for entry in state.columns if not entry.linear]
    grouped = Aggregate(changed, keys, tuple(_delta_calls(state)))
    joined = _beside(grouped, stored(state, prefix=_OLD), keys, _OLD)
    items: list[tuple[str, Scalar]] = [(key, column(key)) for key in keys]
    for entry in state.columns:
        if entry.linear:
            change = f"cast(d as {entry.call.sum_type})" if entry.call.sum_type else "d"
            added = f"coalesce(o, 0) + coalesce({change}, 0)"
            items.append((entry.name, expression(added, o=_OLD + entry.name, d=_D + entry.name)))
    merged = Project(joined, (*items, *((c, column(c)) for c in _extrema_inputs(extrema))))
    values: list[tuple[str, Scalar]] = [(name, column(name)) for name, _ in items]
    redo: list[str] = []
    for index, entry in enumerate(extrema):
        names = {
            "n": entry.counted_by,
            "c": _OLD + entry.name,
            "i": _CAME + entry.name,
            "g": _WENT + entry.name,
        }
        at_least = "<=" if entry.kind == "min" else ">="
        kept = f"case when n = 0 then null when c is null then i when i {at_least} c then i else c end"
        values.append((entry.name, expression(kept, **names)))
        beats = f"coalesce(i {at_least} c, false)"
        lost = f"(n > 0 and c is not null and not {beats} and coalesce(g {at_least} c, false))"
        values.append((f"{_REDO}{index}", expression(lost, **names)))
        redo.append(f"{_REDO}{index}")
    decided = Project(merged, tuple(values))
    if not redo:
        return GroupRows(guarded(state, decided), only(decided, keys))
    lost_some = Filter(
        decided,
        expression(
            " or ".join(f"r{i}" for i in range(len(redo))), **{f"r{i}": r for i, r in enumerate(redo)}
        ),
    )
    again = Keys.of(only(lost_some, (*keys, redo[0])), ((key, key) for key in keys))
    narrowed = state.core.input.restrict(again) if keys else Restricted(state.core.input, again)
    calls = tuple(Call(_NEW + entry.name, entry.call.function, entry.call.argument) for entry in extrema)
    reread = Aggregate(narrowed, keys, calls)
    both = _beside(decided, _prefixed(reread, keys), keys, _NEW)
    final = [(name, column(name)) for name, _ in items]
    for flag, entry in zip(redo, extrema, strict=True):
        final.append(
            (
                entry.name,
                expression("case when r then x else k end", r=flag, x=_NEW + entry.name, k=entry.name),
            )
        )
    rows = only(Project(both, tuple(final)), state.names)
    return GroupRows(guarded(state, rows), only(decided, keys or (redo[0],)))


_OLD, _D, _CAME, _WENT, _NEW = (f"{RESERVED_PREFIX}{p}_" for p in ("o", "d", "i", "g", "r"))


def _delta_calls(state: GroupState) -> list[Call]:
    calls = []
    for entry in state.columns:
        x = entry.call.argument
        match entry.kind:
            case "count" if x is None:
                calls.append(Call(_D + entry.name, "sum", column(WEIGHT_COLUMN)))
            case "count":
                calls.append(
                    Call(
                        _D + entry.name,
                        "sum",
                        expression("case when x is not null then w else 0 end", x=_of(x), w=WEIGHT_COLUMN),
                    )
                )
            case "sum":
                weighted = entry.call.factor.format(weight="w") + " * x"
                calls.append(Call(_D + entry.name, "sum", expression(weighted, x=_of(x), w=WEIGHT_COLUMN)))
            case _:
                calls.append(
                    Call(
                        _CAME + entry.name,
                        entry.call.function,
                        expression("case when w > 0 then x end", x=_of(x), w=WEIGHT_COLUMN),
                    )
                )
                calls.append(
                    Call(
                        _WENT + entry.name,
                        entry.call.function,
                        expression("case when w < 0 then x end", x=_of(x), w=WEIGHT_COLUMN),
                    )
                )
    return calls


def _of(argument: Scalar | None) -> Scalar:
    assert argument is not None, "only COUNT(*) has no argument"
    return argument


def _extrema_inputs(extrema: list[StateColumn]) -> list[str]:
    return [prefix + entry.name for entry in extrema for prefix in (_OLD, _CAME, _WENT)]


def _prefixed(relation: Relation, keys: tuple[str, ...]) -> Relation:
    """The relation with its key columns under a prefix."""
    return renamed(relation, ((_NEW + name if name in keys else name, name) for name in relation.columns))


def _beside(left: Relation, right: Relation, keys: tuple[str, ...], prefix: str) -> Relation:
    """Rows of `left`, each with the row of `right`, if there is one, whose prefixed keys are the same."""
    pairs = tuple(Pair(key, prefix + key, null_safe=True) for key in keys)
    return LeftJoin(left, right, JoinCondition(pairs))
