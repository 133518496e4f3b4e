"""The names that are visible in one SELECT."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sparkivm.algebra import Relation, Scalar, Scan
from sparkivm.errors import UnknownName
from sparkivm.frontend.named_types import type_named_in
from sparkivm.frontend.place import not_supported, not_understood, place_of
from sparkivm.names import OF_FEEDS, RESERVED_PREFIX, is_reserved
from sparkivm.reasons import Reason
from sparkivm.spark.data_types import SparkType

Visible = tuple[str, str]  # (name as the user writes it, column of the relation)

# Delta refuses these in a state's columns; a source with column mapping may have them.
_NO_NAME = re.compile(r"[ ,;{}()\n\t=]")
_UNNAMED = "\0expression_"  # no table column has such a name


class NameAllocator:
    """Column names that are unique in a whole query, so that joins need no qualifiers; types of some."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}
        self.types: dict[str, SparkType] = {}  # of table columns; CHAR(n) stays CHAR(n)
        self.computed: dict[str, SparkType] = {}  # of computed columns

    def fresh(self, wanted: str) -> str:
        # A source may be another view's state; here its hidden columns are ordinary columns.
        wanted = wanted.removeprefix("\0")
        while is_reserved(wanted):
            wanted = wanted[len(RESERVED_PREFIX) :]
        wanted = _NO_NAME.sub("_", wanted) or "column"
        if wanted.lower() in OF_FEEDS:
            wanted = wanted[1:]
        key = wanted.lower()
        number = self._used.get(key, 0) + 1
        while number > 1 and f"{key}_{number}" in self._used:
            number += 1
        self._used[key] = number
        if number == 1:
            return wanted
        self._used[f"{key}_{number}"] = 1
        return f"{wanted}_{number}"

    def name_for(self, scalar: Scalar, relation: Relation, wanted: str) -> str:
        """The name of a column that holds an expression over a relation: its own if it is a column there.

        A column of an outer query gets a new name, because it will occur beside that query's column.
        """
        name = scalar.as_column
        if name is not None and name in relation.columns:
            return name
        new = self.fresh(wanted)
        type_ = self.known_type(relation, scalar.tree)
        if type_ is not None:
            self.computed[new] = type_
        return new

    def same_when_equal(self, one: tuple[Relation, Scalar], other: tuple[Relation, Scalar]) -> bool:
        """Whether two expressions, each over its relation, are known to be identical when equal."""
        return self._of_types(SparkType.same_when_equal, one, other)

    def same_to_expressions(self, one: tuple[Relation, Scalar], other: tuple[Relation, Scalar]) -> bool:
        """Whether an expression may read either of the two where they are equal."""
        return self._of_types(SparkType.same_to_expressions, one, other)

    def _of_types(
        self,
        rule: Callable[[SparkType, SparkType], bool],
        one: tuple[Relation, Scalar],
        other: tuple[Relation, Scalar],
    ) -> bool:
        left, right = (self.type_of(relation, scalar) for relation, scalar in (one, other))
        return left is not None and right is not None and rule(left, right)

    def known_type(self, relation: Relation, tree: exp.Expr) -> SparkType | None:
        """The type of a table column, a typed computed column, or a field of either; None if not known."""
        fields: list[str] = []
        while isinstance(tree, exp.Dot):
            fields.insert(0, tree.name)
            tree = tree.this
        if isinstance(tree, exp.Column):
            found = self.type_of(relation, Scalar(tree)) or self.type_of_column(tree.name)
        else:
            found = type_named_in(tree)
        return found and found.field(fields)

    def type_of_column(self, name: str) -> SparkType | None:
        """The type recorded for a column."""
        return self.types.get(name) or self.computed.get(name)

    def type_of(self, relation: Relation, scalar: Scalar) -> SparkType | None:
        """The type of a column that is passed on from a table; None for other expressions."""
        if scalar.as_column is None:
            return None
        owner, source = relation.origin(scalar.as_column)
        return self.types.get(source) if isinstance(owner, Scan) else None


@dataclass
class Scope:
    """FROM's columns: `star` lists those of `*`, `entries` those of each alias."""

    star: list[Visible] = field(default_factory=list)
    # By the parts of the alias, or else of the table's name. Several entries may share a name.
    entries: list[tuple[tuple[str, ...], list[Visible]]] = field(default_factory=list)
    hidden: list[Visible] = field(default_factory=list)  # seen only by alias: USING shows the other side's
    outer: Scope | None = None  # of the outer query
    made: list[Visible] = field(default_factory=list)  # visible in SELECT beside FROM's, but not part of `*`
    # In HAVING: the column for an outer aggregate in WHERE and ON of its subqueries.
    aggregate: Callable[[exp.Expr], exp.Expr] | None = None
    filters: bool = True  # whether the expression is a WHERE or ON

    def joined(self, other: Scope, using: Iterable[str] = (), keep_right: bool = False) -> Scope:
        """Both scopes side by side; a column of USING appears once, from the side that the join preserves."""
        pairs = [(self.named(name), other.named(name)) for name in using]
        shown = [pair[keep_right] for pair in pairs]
        hidden = [pair[not keep_right] for pair in pairs]
        rest = [one for one in (*self.star, *other.star) if one not in (*shown, *hidden)]
        entries = [*self.entries, *other.entries]
        return Scope([*shown, *rest], entries, [*hidden, *self.hidden, *other.hidden])

    def led_by(self, using: Iterable[str]) -> Scope:
        """The scope with the columns of USING first, as after a join that shows only one side."""
        keys = [self.named(name) for name in using]
        return replace(self, star=[*keys, *(one for one in self.star if one not in keys)])

    def named(self, name: str) -> Visible:
        """The column that a name of USING refers to."""
        return next(visible for visible in self.star if visible[0].lower() == name.lower())

    def find(self, node: exp.Column) -> tuple[str, list[str]] | None:
        """The column that a reference names, and the struct fields that are taken from it."""
        parts = [part.name for part in node.parts]
        for length in range(len(parts) - 1, 0, -1):
            entry = self._entry(parts[:length])
            if entry is not None:
                found = self._only(entry, parts[length], node)
                if found is not None:
                    return found, parts[length + 1 :]
        found = self._only([*self.star, *self.made], parts[0], node)
        return None if found is None else (found, parts[1:])

    def find_outside(self, node: exp.Column) -> tuple[str, list[str]] | None:
        """The same in the outer queries."""
        if self.outer is None:
            return None
        return self.outer.find(node) or self.outer.find_outside(node)

    @property
    def outside(self) -> frozenset[str]:
        """Columns of the outer queries."""
        if self.outer is None:
            return frozenset()
        return self.outer.columns | self.outer.outside

    @property
    def columns(self) -> frozenset[str]:
        """All columns that are visible by some name."""
        entries = (self.star, self.made, *(visible for _, visible in self.entries))
        return frozenset(column for entry in entries for _, column in entry)

    def expand(self, qualifier: list[str], node: exp.Expr) -> list[Visible]:
        """What `alias.*` stands for, or `*` without a qualifier.

        As in Spark, `alias.*` lists the columns that a join hides before those that it shows.
        """
        if not qualifier:
            return self.star
        entry = self._entry(qualifier)
        if entry is None:
            raise not_supported("the expansion of a struct whose fields are not known", node)
        return [one for one in (*self.hidden, *self.star) if one in entry]

    def is_alias(self, parts: list[str]) -> bool:
        """Whether these parts name something in FROM."""
        return self._entry(parts) is not None

    def _entry(self, parts: list[str]) -> list[Visible] | None:
        lowered = tuple(part.lower() for part in parts)
        found = [visible for name, visible in self.entries if name[-len(lowered) :] == lowered]
        return [one for visible in found for one in visible] if found else None

    @staticmethod
    def _only(entry: list[Visible], name: str, node: exp.Expr) -> str | None:
        found = {column for visible, column in entry if visible.lower() == name.lower()}
        if len(found) > 1:
            raise not_understood(f"the name {name} is ambiguous", node)
        return next(iter(found), None)


def unnamed(position: int) -> str:
    """A placeholder name for an item without an alias; only Spark knows the name it derives from the text."""
    return f"{_UNNAMED}{position}"


def has_name(visible: Visible) -> bool:
    """Whether a column's name is known."""
    return not visible[0].startswith(_UNNAMED)


def with_fields(tree: exp.Expr, fields: Iterable[str]) -> exp.Expr:
    """A nested field of a struct."""
    for name in fields:
        tree = exp.Dot(
            this=tree if isinstance(tree, (exp.Column, exp.Dot)) else exp.Paren(this=tree.copy()),
            expression=exp.to_identifier(name, quoted=True),
        )
    return tree


def under_names(visible: Sequence[Visible], names: Sequence[str], node: exp.Expr) -> list[Visible]:
    """The same columns, visible under other names.

    Raises: NotIncremental if the numbers differ, for example because the parser drops a column called ALL.
    """
    if len(names) != len(visible):
        raise not_understood(f"{len(names)} names for {len(visible)} columns", node)
    return [(name, column) for name, (_, column) in zip(names, visible, strict=True)]


def unresolved(node: exp.Expr) -> UnknownName:
    detail = f"no column {node.sql(dialect='spark')} is visible here"
    return UnknownName(Reason.SQL_NOT_UNDERSTOOD, detail, place_of(node))


def refuse_two_names(columns: Iterable[Visible], read: Iterable[str], what: str, tree: exp.Expr) -> None:
    """Refuse to read a column that has two names: to Spark they are two columns."""
    names = {(shown.lower(), name) for shown, name in columns}
    for name in sorted(read):
        same = sorted(shown for shown, column in names if column == name)
        if len(same) > 1:
            raise not_supported(f"{what} where {' and '.join(same)} are the same underlying column", tree)
