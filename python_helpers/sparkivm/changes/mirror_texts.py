"""How a mirror follows its source: finding the rows that differ, and applying them.

There is one difference per key, or per value if no key is known. D means the staged differences. Their
columns are named by `in_changes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparkivm.engine import Field
from sparkivm.names import RESERVED_PREFIX, WEIGHT, TableName, as_in_changes, in_changes, quoted
from sparkivm.spark.equal_values import as_text, grouped

_NEW = f"{RESERVED_PREFIX}new"  # number of copies in the source; with a key, the source's row
_OLD = f"{RESERVED_PREFIX}old"  # number of copies in the mirror; with a key, the mirror's row
_N_NEW = f"{RESERVED_PREFIX}n_new"
_N_OLD = f"{RESERVED_PREFIX}n_old"
_ROW = f"{RESERVED_PREFIX}row"
_GONE = f"{RESERVED_PREFIX}gone"


@dataclass(frozen=True)
class MirrorTexts:
    """The texts for one mirror.

    key        empty if whole rows are compared
    conflated  columns in which equal values may differ: FLOAT and DOUBLE; a mirror has no MAP
    """

    source: TableName
    mirror: TableName
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()
    conflated: tuple[Field, ...] = ()

    @property
    def content(self) -> str:
        """All rows of the source."""
        return f"select {_listed(self.columns)}\nfrom {self.source.sql}"

    @property
    def _in_changes(self) -> tuple[str, ...]:
        return tuple(map(in_changes, self.columns))

    def differences(self, mirror: str) -> str:
        """D: the differences between the source now and a version of the mirror, given as a FROM item."""
        shown = ", ".join(map(as_in_changes, self.columns))
        both = (
            f"  select {shown}, 1 as {WEIGHT} from {self.source.sql}\n"
            f"  union all\n"
            f"  select {shown}, -1 as {WEIGHT} from {mirror}"
        )
        return self._keys_that_differ(both) if self.key else self._values_that_differ(both)

    def _values_that_differ(self, both: str) -> str:
        types = ((in_changes(field.name), field.spark_type) for field in self.conflated)
        shown, keys = grouped(self._in_changes, types)
        items = [*shown, f"count_if({WEIGHT} > 0) as {_NEW}", f"count_if({WEIGHT} < 0) as {_OLD}"]
        return (
            f"select {', '.join(items)}\nfrom (\n{both}\n) as both_sides\n"
            f"group by {', '.join(keys)}\nhaving sum({WEIGHT}) <> 0"
        )

    def _keys_that_differ(self, both: str) -> str:
        row = f"struct({_listed(self._in_changes)})"
        items = ",\n  ".join(
            [
                f"any_value({row}) filter (where {WEIGHT} > 0) as {_NEW}",
                f"any_value({row}) filter (where {WEIGHT} < 0) as {_OLD}",
                f"count_if({WEIGHT} > 0) as {_N_NEW}",
                f"count_if({WEIGHT} < 0) as {_N_OLD}",
            ]
        )
        keys = _listed([*map(in_changes, self.key)])
        by_key = f"select\n  {items}\nfrom (\n{both}\n) as both_sides\ngroup by {keys}"
        floats = (quoted(in_changes(field.name)) for field in self.conflated)
        texts = (f"{as_text(f'{_NEW}.{f}')} <=> {as_text(f'{_OLD}.{f}')}" for f in floats)
        alike = " and ".join([f"{_NEW} <=> {_OLD}", *texts])
        changed = f"not ({alike}) or {_N_NEW} > 1 or {_N_OLD} > 1"
        return f"select * from (\n{by_key}\n) as by_key\nwhere {changed}"

    def counts(self, differences: str) -> str:
        """One row: how many rows or keys `came` or are `gone`, and how many keys have `several` rows."""
        if self.key:
            return (
                f"select count_if({_NEW} is not null) as came, count_if({_OLD} is not null) as gone, "
                f"count_if({_N_NEW} > 1 or {_N_OLD} > 1) as several from {differences}"
            )
        return (
            f"select coalesce(sum(greatest({_NEW} - {_OLD}, 0)), 0) as came, "
            f"coalesce(sum(greatest({_OLD} - {_NEW}, 0)), 0) as gone, 0 as several from {differences}"
        )

    def inserted(self, differences: str) -> str:
        """The rows to insert, if no row is gone."""
        if self.key:
            return f"select {_fields(_NEW, self._in_changes)}\nfrom {differences}"
        return self._copies(differences, f"{_NEW} - {_OLD}")

    def merged(self, differences: str) -> str:
        """The source of the MERGE.

        With a key: the new row, or the old one marked as gone. Without: each value that lost copies, marked
        as gone, which deletes all of its copies; and the copies that remain or are new.
        """
        if self.key:
            row = f"coalesce({_NEW}, {_OLD})"
            return (
                f"select {_fields(_ROW, self._in_changes)}, {_GONE}\n"
                f"from (select {row} as {_ROW}, {_NEW} is null as {_GONE} from {differences}) as changed"
            )
        copies = self._copies(differences, f"if({_NEW} > {_OLD}, {_NEW} - {_OLD}, {_NEW})", "false")
        return (
            f"select {_listed(self._in_changes)}, true as {_GONE}\nfrom {differences} where {_NEW} < {_OLD}\n"
            f"union all\n{copies}"
        )

    @property
    def on(self) -> str:
        same = [f"t.{quoted(name)} <=> s.{quoted(in_changes(name))}" for name in self.key or self.columns]
        if self.key:
            return " and ".join(same)
        floats = ((f"t.{quoted(f.name)}", f"s.{quoted(in_changes(f.name))}") for f in self.conflated)
        same_text = (f"{as_text(t)} <=> {as_text(s)}" for t, s in floats)
        return " and ".join([f"s.{_GONE}", *same, *same_text])

    @property
    def clauses(self) -> Sequence[str]:
        names = [quoted(name) for name in self.columns]
        new = [f"s.{quoted(name)}" for name in self._in_changes]
        insert = (
            f"when not matched and not s.{_GONE} then insert ({', '.join(names)}) values ({', '.join(new)})"
        )
        if not self.key:
            return ["when matched then delete", insert]
        update = ", ".join(f"t.{name} = {value}" for name, value in zip(names, new, strict=True))
        return [f"when matched and s.{_GONE} then delete", f"when matched then update set {update}", insert]

    def _copies(self, differences: str, number: str, gone: str = "") -> str:
        mark = f", {gone} as {_GONE}" if gone else ""
        return (
            f"select {_listed(self._in_changes)}{mark}\nfrom {differences}\n"
            f"lateral view explode(array_repeat(0, cast({number} as int))) as {RESERVED_PREFIX}copy"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))


def _fields(struct: str, names: Sequence[str]) -> str:
    return ", ".join(f"{struct}.{quoted(name)} as {quoted(name)}" for name in names)
