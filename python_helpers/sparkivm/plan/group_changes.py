"""How the delta of a core changes a group state: entries to add, or new rows of the changed groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
from sparkivm.algebra.aggregates.extremum import CAME, WENT, StoredExtremum
from sparkivm.algebra.project import only, renamed
from sparkivm.algebra.scalar import column, conjunction, disjunction, null
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.state import WEIGHT_COLUMN, GroupState, groups_of, guarded, stored

_REDO = f"{RESERVED_PREFIX}redo"


@dataclass(frozen=True)
class GroupRows:
    """The new rows of the groups that may have changed: `rows` replace the state's rows for `keys`.

    `keys` has the key columns, and a key may occur several times. A group whose count of rows is 0 or NULL is
    gone.
    """

    rows: Relation
    keys: Relation


def entries(state: GroupState, d: Derivation) -> Relation:
    """dS = γ±(d core input): for a linear state, the entries that the refresh adds."""
    grouped = Aggregate(d.delta(state.core.input), state.keys, state.columns, signed=True)
    effects = {f"c{i}": entry.name for i, entry in enumerate(state.columns)}
    effect = " or ".join(f"coalesce({c}, 0) <> 0" for c in effects)
    changed = Filter(grouped, expression(effect, **effects))
    return guarded(state, changed)


def folded(state: GroupState, *more: Relation, part: Keys | None = None) -> Relation:
    """The state and `more` entries, one row per group: S₁(g) = Σ entries(g), if it has rows.

    With `part`, which contains the keys of `more`, only the groups with these keys.
    """
    calls = tuple(Call(entry.name, entry.additive.adder, column(entry.name)) for entry in state.columns)
    # Without keys there is always one row.
    total = Aggregate(plus(stored(state, part), *more), state.keys, calls)
    alive = expression("n > 0", n=state.columns[0].name)
    return guarded(state, Filter(total, alive) if state.keys else total)


def touched_groups(state: GroupState, d: Derivation) -> Relation:
    """K ⊇ the keys of dR, for a state whose changed groups are read again: dR itself is not needed."""
    touched = d.touched(state.core.input, state.keys)
    return Aggregate(touched, state.keys, (), signed=touched.weighted)


def arguments(state: GroupState, d: Derivation) -> Relation:
    """dR in the columns that keys and aggregates read, since other changes cancel; weights in a column."""
    read = dict.fromkeys(state.keys)
    for entry in state.columns:
        read.update(dict.fromkeys(sorted(entry.argument.columns)) if entry.argument is not None else {})
    delta = d.delta(state.core.input)
    return Unweigh(Consolidate(only(delta, read or delta.columns[:1])), WEIGHT_COLUMN)


def changed_groups(state: GroupState, changed: Relation) -> GroupRows:
    """The new rows of every group in `touched_groups`, or in the changed `arguments`; absolute values."""
    change = _reread(state, changed) if state.recomputed else _merged(state, changed)
    return _with_stamps(state, change) if state.stamps else change


def replaced(state: GroupState, change: GroupRows, part: Keys | None = None) -> Relation:
    """The whole state after the change. With `part`, which holds the changed keys, only that part."""
    if not state.keys:
        return change.rows
    keys = Keys.of(change.keys, ((key, key) for key in state.keys))
    alive = only(Filter(change.rows, expression("n > 0", n=state.columns[0].name)), state.names)
    if part == keys:  # the part has no other groups
        return alive
    return UnionAll((Restricted(stored(state, part), keys, excluded=True), alive))


def _reread(state: GroupState, changed: Relation) -> GroupRows:
    """S₁|K = γ(R₁|K): correct for every aggregate."""
    if not state.keys:
        return GroupRows(groups_of(state, state.core.input), changed)
    narrowed = state.core.input.restrict(Keys.of(changed, ((key, key) for key in state.keys)))
    found = groups_of(state, narrowed)
    rows = _beside(changed, _prefixed(found, state.keys), state.keys, _NEW)
    return GroupRows(only(rows, state.values), changed)


def _merged(state: GroupState, changed: Relation) -> GroupRows:
    """Columns that add up: S₀ + dS. MIN and MAX: taken from the delta, kept, or read again.

    The result has a row for each key in `changed`, so `changed` itself serves as the keys.
    """
    keys = state.keys
    extrema = [(e, e.function) for e in state.columns if isinstance(e.function, StoredExtremum)]
    grouped = Aggregate(changed, keys, tuple(_delta_calls(state)))
    joined = _beside(grouped, stored(state, prefix=_OLD), keys, _OLD)
    items: list[tuple[str, Scalar]] = [(key, column(key)) for key in keys]
    for entry in state.columns:
        if entry.linear:
            change = entry.additive.change.format(total="d")
            added = entry.additive.plus.format(one="coalesce(o, 0)", other=f"coalesce({change}, 0)")
            items.append((entry.name, expression(added, o=_OLD + entry.name, d=_D + entry.name)))
    inputs = [prefix + entry.name for entry, _ in extrema for prefix in (_OLD, _CAME, _WENT)]
    merged = Project(joined, (*items, *((name, column(name)) for name in inputs)))
    values: list[tuple[str, Scalar]] = [(name, column(name)) for name, _ in items]
    redo: list[str] = []
    for index, (entry, extremum) in enumerate(extrema):
        old, came, went = _OLD + entry.name, _CAME + entry.name, _WENT + entry.name
        redo.append(f"{_REDO}{index}")
        values.append((entry.name, extremum.kept(old, came)))
        values.append((redo[-1], extremum.is_lost(old, came, went)))
    decided = Project(merged, tuple(values))
    if not redo:
        return GroupRows(guarded(state, decided), changed)
    lost_some = Filter(decided, disjunction([column(name) for name in redo]))
    again = Keys.of(only(lost_some, (*keys, redo[0])), ((key, key) for key in keys))
    narrowed = state.core.input.restrict(again) if keys else Restricted(state.core.input, again)
    reread = Aggregate(narrowed, keys, tuple(replace(e, name=_NEW + e.name) for e, _ in extrema))
    both = _beside(decided, _prefixed(reread, keys), keys, _NEW)
    final = [(name, column(name)) for name, _ in items]
    for flag, (entry, _) in zip(redo, extrema, strict=True):
        found = expression("case when r then x else k end", r=flag, x=_NEW + entry.name, k=entry.name)
        final.append((entry.name, found))
    rows = only(Project(both, tuple(final)), state.values)
    return GroupRows(guarded(state, rows), changed)


def _with_stamps(state: GroupState, change: GroupRows) -> GroupRows:
    """The rows with the stamps that they had, or with those of this refresh if a public column changed."""
    joined = _beside(change.rows, stored(state, prefix=_WAS), state.keys, _WAS)
    was = {name: column(_WAS + name) for name in state.values}
    there = expression("n is not null", n=_WAS + state.columns[0].name)
    equal = (expression("a <=> b", a=scalar, b=scalar.substitute(was)) for scalar in state.shown)
    same = conjunction((there, *equal)) or there
    items = [(name, column(name)) for name in state.values]
    for stamp in state.stamps:
        kept = expression("case when s then o else n end", s=same, o=_WAS + stamp.name, n=stamp.value)
        items.append((stamp.name, kept))
    return GroupRows(Project(joined, tuple(items)), change.keys)


_OLD, _D, _CAME, _WENT, _NEW, _WAS = (f"{RESERVED_PREFIX}{p}_" for p in ("o", "d", "i", "g", "r", "w"))


def _delta_calls(state: GroupState) -> Iterator[Call]:
    for entry in state.columns:
        of = {"x": entry.argument or null(), "w": column(WEIGHT_COLUMN)}
        if isinstance(entry.function, StoredExtremum):
            for prefix, text in ((_CAME, CAME), (_WENT, WENT)):
                yield Call(prefix + entry.name, entry.function, expression(text, **of))
        else:
            text = entry.additive.contributed.format(x="x", weight="w")
            yield Call(_D + entry.name, entry.additive.adder, expression(text, **of))


def _prefixed(relation: Relation, keys: tuple[str, ...]) -> Relation:
    """The relation with a prefix before its key columns."""
    return renamed(relation, ((_NEW + name if name in keys else name, name) for name in relation.columns))


def _beside(left: Relation, right: Relation, keys: tuple[str, ...], prefix: str) -> Relation:
    """Rows of `left`, each with the row of `right`, if any, whose prefixed keys are equal."""
    pairs = tuple(Pair(key, prefix + key, null_safe=True) for key in keys)
    return LeftJoin(left, right, JoinCondition(pairs))
