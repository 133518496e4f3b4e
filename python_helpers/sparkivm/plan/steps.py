"""A plan too large for one statement, cut into steps: what is used several times becomes a table first.

Spark writes out a CTE at each use, so nested sharing grows a plan exponentially: a delta of subqueries that
are nested twice can read its tables ten thousand times. A table in between is one read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from sparkivm.algebra import Changes, Relation, Scan, Slice, Unweigh, Weigh
from sparkivm.algebra.columns_read import columns_read
from sparkivm.algebra.project import only
from sparkivm.algebra.scalar import column
from sparkivm.names import RESERVED_PREFIX
from sparkivm.properties.inlined_size import reads_when_inlined

STEP = f"{RESERVED_PREFIX}step_"
_WEIGHT = f"{STEP}weight"  # the column of a step that holds its weights

# Up to this many reads a statement is planned as it is: Spark plans about twenty in a second.
INLINED_READS = 60
# A table is written in about the time that so many reads are planned.
_READS_PER_TABLE = 12


@dataclass(frozen=True)
class Step:
    """`relation` is computed before what follows, which reads it as the table `name`."""

    name: str
    relation: Relation


@dataclass(frozen=True)
class Steps:
    """The steps in their order, and what is left to compute from them."""

    tables: tuple[Step, ...]
    rest: Relation

    @property
    def statements(self) -> tuple[Relation, ...]:
        """What is computed, a statement each."""
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
) -> Steps:
    """The relation as it is, or in steps: if it has slices, or inlined more reads than `most_reads`.

    kept  tables whose changes are in memory, and need no step
    """
    sliced = any(isinstance(node, Slice) for node in relation.walk())
    if reads_when_inlined(relation) <= most_reads and not sliced:
        return Steps((), relation)
    return _Cut(relation, names, most_reads, kept).steps()


class _Cut:
    def __init__(self, root: Relation, names: Iterator[str], most_reads: int, kept: Collection[str]) -> None:
        self._root, self._names, self._most_reads, self._in_memory = root, names, most_reads, kept
        self._uses = Counter(id(child) for node in root.walk() for child in node.children)
        self._tables: list[Step] = []
        self._cut: dict[int, Relation] = {}  # by the id of the node of `root` that it stands for
        self._reads: dict[int, int] = {}

    def steps(self) -> Steps:
        nodes = list(self._root.walk())
        feeds = self._feeds()
        for node in nodes:  # children first
            if isinstance(node, Changes) and node.table in feeds:
                self._keep(node, _rows_of(feeds[node.table], node.columns, dict(node.fields), True), 1)
                continue
            children = tuple(self._cut[id(child)] for child in node.children)
            reads = sum(self._reads[id(child)] for child in node.children) or 1
            new = node.with_children(children) if children else node
            if node is not self._root and self._is_worth_a_table(node, reads):
                new, reads = self._table(new), 1
            self._keep(node, new, reads)
        return Steps(tuple(self._tables), self._cut[id(self._root)])

    def _is_worth_a_table(self, node: Relation, reads: int) -> bool:
        saved = (self._uses[id(node)] - 1) * reads
        large = saved >= _READS_PER_TABLE or reads > self._most_reads
        return bool(node.children) and (large or isinstance(node, Slice))

    def _keep(self, node: Relation, cut: Relation, reads: int) -> None:
        self._cut[id(node)], self._reads[id(node)] = cut, reads

    def _table(self, relation: Relation) -> Relation:
        """The relation, read from a table of its own."""
        name = self._step(relation)
        return _rows_of(name, relation.columns, {n: n for n in relation.columns}, relation.weighted)

    def _step(self, relation: Relation) -> str:
        name = next(self._names)
        stored = Unweigh(relation, _WEIGHT) if relation.weighted else relation
        self._tables.append(Step(name, stored))
        return name

    def _feeds(self) -> dict[str, str]:
        """Table → the step that holds its changes; a feed is slow to plan, and is read once."""
        return {
            table: self._step(Changes(table, tuple((name, name) for name in names)))
            for table, names in columns_read(self._root, Changes).items()
            if table not in self._in_memory
        }


def _rows_of(step: str, columns: Iterable[str], source: dict[str, str], weighted: bool) -> Relation:
    fields = tuple((name, source[name]) for name in columns)
    if not weighted:
        return Scan(step, fields)
    scan = Scan(step, (*fields, (_WEIGHT, _WEIGHT)))
    return only(Weigh(scan, column(_WEIGHT)), tuple(name for name, _ in fields))
