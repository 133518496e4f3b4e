"""A plan too large for one statement is cut into steps: what is used several times becomes a table first.

Spark inlines a CTE at each use, so nested sharing grows a plan exponentially: the delta of subqueries nested
twice can read its tables ten thousand times. A table in between is one read. A smaller plan is cut where it
would look up few rows in large tables repeatedly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sparkivm.algebra import Changes, Relation, Scan, Slice, Unweigh, Weigh
from sparkivm.algebra.columns_read import columns_read
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import column
from sparkivm.names import RESERVED_PREFIX, in_changes
from sparkivm.plan.distinct_values import distinct_values
from sparkivm.plan.join_order import RowEstimate, Sizes
from sparkivm.plan.shared_reads import WORTH_SLICING
from sparkivm.properties.inlined_size import leaves_when_inlined, reads_when_inlined, uses_when_inlined

STEP = f"{RESERVED_PREFIX}step_"
STEP_WEIGHT = f"{STEP}weight"  # the column of a step that contains its weights

# Statements with at most this many reads are not cut: Spark plans about twenty per second.
INLINED_READS = 60
# Writing a table takes about as long as planning this many reads.
_READS_PER_TABLE = 12
# The same in values read from large tables; and how many values are read while one is written.
_VALUES_PER_TABLE = 20e6
_READ_WHILE_WRITING = 10
_UNKNOWN_SIZES = Sizes()


@dataclass(frozen=True)
class IntermediateTable:
    """`relation` is computed first; later steps read it as the table `name`."""

    name: str
    relation: Relation


@dataclass(frozen=True)
class Steps:
    """The steps in order, and the rest, which is computed from them."""

    tables: tuple[IntermediateTable, ...]
    rest: Relation

    @property
    def statements(self) -> tuple[Relation, ...]:
        """The relations to compute, one statement each."""
        return (*(step.relation for step in self.tables), self.rest)


def step_names() -> Iterator[str]:
    """Names of the steps of one refresh."""
    number = 0
    while True:
        number += 1
        yield f"{STEP}{number}"


def in_steps(
    relation: Relation,
    names: Iterator[str],
    most_reads: int = INLINED_READS,
    kept: Collection[str] = frozenset(),
    sizes: Sizes = _UNKNOWN_SIZES,
) -> Steps:
    """The relation as it is, or in steps: if it has slices, inlined more than `most_reads` reads, or repeats
    expensive reads of large tables.

    kept   tables whose changes are in memory and need no step
    sizes  of the parts of tables that it reads
    """
    relation = _without_small_slices(relation, sizes)
    sliced = any(isinstance(node, Slice) for node in relation.walk())
    large = sliced or reads_when_inlined(relation) > most_reads
    if not large and not _looks_again(relation, sizes):
        return Steps((), relation)
    steps = _Cut(relation, names, most_reads, kept, sizes, large).steps()
    return steps if large or steps.tables else Steps((), relation)


def _without_small_slices(relation: Relation, sizes: Sizes) -> Relation:
    """The relation without slices of parts so small that reading them again costs less than a table."""
    uses = {id(node): number for node, number in uses_when_inlined(relation)}

    def is_small(node: Slice) -> bool:
        values_read_again = _values_of(node.input, sizes) * (uses[id(node)] - 1)
        return node.input.tables <= sizes.rows.keys() and values_read_again < WORTH_SLICING

    # By its table, which no rewrite of its keys replaces; each slice has one of its own.
    small = {id(node.input) for node in relation.walk() if isinstance(node, Slice) and is_small(node)}
    return rewrite(
        relation, lambda node: node.input if isinstance(node, Slice) and id(node.input) in small else node
    )


def _looks_again(relation: Relation, sizes: Sizes) -> bool:
    """Whether it reads so much of its tables that a table may be cheaper than reading again."""
    values = (_values_of(leaf, sizes) * uses for leaf, uses in leaves_when_inlined(relation))
    return sum(values) >= _VALUES_PER_TABLE


def _values_of(node: Relation, sizes: Sizes) -> float:
    """The number of values read from a table."""
    if not isinstance(node, Scan):
        return 0.0
    return sizes.rows.get(node.table, 0.0) * len({field for _, field in node.fields})


@dataclass(frozen=True)
class _Read:
    """What a statement reads for a relation at each use.

    reads   number of tables and changes
    values  read from tables: rows times columns
    """

    reads: int
    values: float


class _Cut:
    def __init__(
        self,
        root: Relation,
        names: Iterator[str],
        most_reads: int,
        kept: Collection[str],
        sizes: Sizes,
        large: bool,
    ) -> None:
        self._root, self._names, self._most_reads, self._in_memory = root, names, most_reads, kept
        self._sizes, self._is_large = sizes, large
        self._rows = RowEstimate(sizes, distinct_values(root, sizes.rows))
        self._uses = Counter(id(child) for node in root.walk() for child in node.children)
        self._tables: list[IntermediateTable] = []
        self._cut: dict[int, Relation] = {}  # by the id of the node of `root` that it replaces
        self._read: dict[int, _Read] = {}

    def steps(self) -> Steps:
        nodes = list(self._root.walk())
        feeds = self._feeds() if self._is_large else {}
        for node in nodes:  # children first
            if isinstance(node, Changes) and node.table in feeds:
                names = {name: in_changes(source) for name, source in node.fields}
                rows = rows_of_step(feeds[node.table], node.columns, names, weighted=True)
                self._keep(node, rows, _Read(1, 0.0))
                continue
            children = tuple(self._cut[id(child)] for child in node.children)
            new = node.with_children(children) if children else node
            read = self._read_by(node)
            if node is not self._root and self._is_worth_a_table(node, read):
                new, read = self._table(new), _Read(1, 0.0)
            self._keep(node, new, read)
        return Steps(tuple(self._tables), self._cut[id(self._root)])

    def _read_by(self, node: Relation) -> _Read:
        below = [self._read[id(child)] for child in node.children]
        values = _values_of(node, self._sizes) + sum(read.values for read in below)
        return _Read(sum(read.reads for read in below) or 1, values)

    def _is_worth_a_table(self, node: Relation, read: _Read) -> bool:
        if not node.children:
            return False
        again = self._uses[id(node)] - 1
        if self._is_large and (again * read.reads >= _READS_PER_TABLE or read.reads > self._most_reads):
            return True
        return isinstance(node, Slice) or self._is_looked_for_again(node, again * read.values)

    def _is_looked_for_again(self, node: Relation, values: float) -> bool:
        """Whether reading these values again takes longer than writing a table with the result."""
        return values - _READ_WHILE_WRITING * self._rows(node) * len(node.columns) >= _VALUES_PER_TABLE

    def _keep(self, node: Relation, cut: Relation, read: _Read) -> None:
        self._cut[id(node)], self._read[id(node)] = cut, read

    def _table(self, relation: Relation) -> Relation:
        """The relation, read from a table of its own."""
        names = {name: name for name in relation.columns}
        return rows_of_step(self._step(relation), relation.columns, names, weighted=relation.weighted)

    def _step(self, relation: Relation) -> str:
        name = next(self._names)
        stored = Unweigh(relation, STEP_WEIGHT) if relation.weighted else relation
        self._tables.append(IntermediateTable(name, stored))
        return name

    def _feeds(self) -> dict[str, str]:
        """Table → the step with its changes; a feed is slow to plan, so it is read once."""
        return {
            table: self._step(Changes(table, tuple((in_changes(name), name) for name in names)))
            for table, names in columns_read(self._root, Changes).items()
            if table not in self._in_memory
        }


def rows_of_step(step: str, columns: Iterable[str], source: Mapping[str, str], *, weighted: bool) -> Relation:
    """The rows of a table that was computed first; its columns by their names in `source`."""
    fields = tuple((name, source[name]) for name in columns)
    if not weighted:
        return Scan(step, fields)
    scan = Scan(step, (*fields, (STEP_WEIGHT, STEP_WEIGHT)))
    return only(Weigh(scan, column(STEP_WEIGHT)), tuple(name for name, _ in fields))
