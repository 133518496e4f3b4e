"""Algebra → SQL text, in as few SELECTs as possible; what is used twice, and each change feed, is a CTE.

Every column has the alias of its FROM item, so Spark cannot take it for another column, a field, or an alias
of the SELECT list.

tested  tests/laws (rows, on DuckDB), tests/golden/test_plans.py (text), tests/spark/test_aliases.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from textwrap import indent

from sqlglot import exp

from sparkivm import algebra as ra
from sparkivm.algebra import At, Call, Relation, Scalar, WindowCall, operator
from sparkivm.algebra.aggregates.recomputed import evaluated
from sparkivm.algebra.aggregates.stored_aggregate import Additive
from sparkivm.algebra.columns_read import columns_read
from sparkivm.algebra.join_condition import Pair
from sparkivm.algebra.moment import at
from sparkivm.algebra.scalar import column, null
from sparkivm.errors import InternalError, no_rule
from sparkivm.names import RESERVED_PREFIX, WEIGHT, in_changes
from sparkivm.spark_sql.dialects import SPARK, SqlDialect
from sparkivm.spark_sql.source_texts import SourceTexts

_FOUND = f"{RESERVED_PREFIX}found"


def select_text(relation: Relation, sources: SourceTexts, dialect: SqlDialect = SPARK) -> str:
    """The relation as one SELECT of its columns in order."""
    return _Printer(relation, sources, dialect).statement()


def step_texts(relation: Relation, sources: SourceTexts, name: str) -> list[tuple[str, str]]:
    """The relation as a sequence of SELECTs, each with a name by which later ones read it, at last `name`.

    Spark recognizes a cached relation only if its plan has no CTE, so what is used twice becomes a step.
    """
    return _Printer(relation, sources, SPARK, prefix=f"{name}_").steps(name)


@dataclass(frozen=True)
class _Block:
    """The parts of one SELECT, to which the operators above may add theirs.

    columns   each column as an expression over the aliases in FROM
    weight    a factor; empty for a plain bag
    source    the text behind FROM; `alias` is that of its only item, or of the first one
    tail      GROUP BY and HAVING
    is_join   whether FROM has several items
    has_view  whether FROM ends with a LATERAL VIEW, which no join may follow
    closed    rows are grouped or have window functions: columns can only be chosen and renamed
    sealed    columns cannot even be chosen or renamed
    nothing   the SELECT list of a relation without columns
    """

    columns: Mapping[str, Scalar]
    weight: str
    source: str
    alias: str = ""
    where: tuple[str, ...] = ()
    tail: str = ""
    hints: tuple[str, ...] = ()
    is_join: bool = False
    has_view: bool = False
    closed: bool = False
    sealed: bool = False
    nothing: str = "1 as __ivm_one"

    def computed(self) -> frozenset[str]:
        """Columns that are not just a column of FROM."""
        return frozenset(name for name, scalar in self.columns.items() if scalar.as_column is None)


class _Printer:
    def __init__(self, root: Relation, sources: SourceTexts, dialect: SqlDialect, prefix: str = "") -> None:
        self._root, self._sources, self._dialect, self._prefix = root, sources, dialect, prefix
        self._uses = Counter(id(child) for node in root.walk() for child in node.children)
        self._ctes: dict[str, str] = {}
        self._cte_of: dict[int, str] = {}
        self._aliases = 0
        self._columns = {name.lower() for node in root.walk() for name in node.columns}
        self._changed_fields = columns_read(root, ra.Changes)

    def statement(self) -> str:
        body = self._text(self._root)
        if not self._ctes:
            return body
        ctes = ",\n".join(f"{name} as (\n{indent(text, '  ')}\n)" for name, text in self._ctes.items())
        return f"with {ctes}\n{body}"

    def steps(self, name: str) -> list[tuple[str, str]]:
        last = self._text(self._root)
        return [*self._ctes.items(), (name, last)]

    # names

    def _name(self, identifier: str) -> str:
        return self._dialect.name(identifier)

    def _scalar(self, scalar: Scalar) -> str:
        return at(scalar, self._sources.moment).sql(self._dialect.scalars)

    def _alias(self) -> str:
        """An alias that is not a column name: otherwise `q1.x` would be a field of that column."""
        self._aliases += 1
        alias = f"q{self._aliases}"
        return alias if alias not in self._columns else self._alias()

    # SELECTs

    def _text(self, relation: Relation) -> str:
        """A SELECT of the relation's columns and, if it is weighted, its weight last."""
        if isinstance(relation, ra.UnionAll):
            return self._union(relation)
        return self._select(self._block(relation))

    def _select(self, block: _Block) -> str:
        items = [self._item(name, scalar) for name, scalar in block.columns.items()]
        if block.weight:
            items.append(f"{block.weight} as {self._name(WEIGHT)}")
        hints = f"/*+ {', '.join(block.hints)} */ " if block.hints else ""
        text = f"select {hints}{', '.join(items) or block.nothing}"
        if block.source:
            text += f"\nfrom {block.source}"
        if block.where:
            text += "\nwhere " + " and ".join(f"({condition})" for condition in block.where)
        return text + block.tail

    def _item(self, name: str, scalar: Scalar) -> str:
        text = self._scalar(scalar)
        return text if scalar.as_column == name else f"{text} as {self._name(name)}"

    def _union(self, relation: ra.UnionAll) -> str:
        branches = []
        for child in relation.inputs:
            block = self._chosen(child)
            columns = {name: block.columns[name] for name in relation.columns}
            weight = (block.weight or "1") if relation.weighted else ""
            branches.append(self._select(replace(block, columns=columns, weight=weight)))
        return "\nunion all\n".join(branches)

    # blocks

    def _chosen(self, relation: Relation) -> _Block:
        """A block whose columns may be chosen and renamed."""
        if self._is_cte(relation):
            return self._from(self._cte(relation), relation)
        block = self._block(relation)
        return self._wrapped(block, relation) if block.sealed else block

    def _open(
        self,
        relation: Relation,
        reads: Iterable[Scalar] = (),
        plain: Iterable[str] = (),
        *,
        closed: bool = False,
    ) -> _Block:
        """A block to which WHERE and expressions may be added.

        reads   what will be computed from its columns, so that no expression is written twice
        plain   columns that must be plain columns of FROM
        closed  whether the block may be closed
        """
        block = self._chosen(relation)
        computed = block.computed()
        uses = Counter(name for scalar in reads for name in _columns_in(scalar) if name in computed)
        fits = (closed or not block.closed) and computed.isdisjoint(plain) and set(uses.values()) <= {1}
        return block if fits else self._wrapped(block, relation)

    def _in_from(self, relation: Relation, *, first: bool = False, filtered: bool = True) -> _Block:
        """A block whose FROM can be a side of a JOIN.

        first     whether it is on the left, where a join is allowed
        filtered  whether its WHERE may become that of the whole
        """
        block = self._open(relation, plain=relation.columns)
        fits = not block.has_view and (first or not block.is_join) and (filtered or not block.where)
        return block if fits else self._wrapped(block, relation)

    def _before_view(self, relation: Relation, reads: Iterable[Scalar] = ()) -> _Block:
        """A block whose FROM can be followed by a LATERAL VIEW, which is computed before WHERE."""
        block = self._open(relation, reads)
        return self._wrapped(block, relation) if block.where or block.has_view else block

    def _wrapped(self, block: _Block, relation: Relation) -> _Block:
        return self._from(f"(\n{indent(self._select(block), '  ')}\n)", relation)

    def _from(self, item: str, relation: Relation) -> _Block:
        """A block over a FROM item with the relation's columns, and its weight under the usual name."""
        alias = self._alias()
        columns = {name: column(name, alias) for name in relation.columns}
        weight = self._weight_of(alias) if relation.weighted else ""
        return _Block(columns, weight, f"{item} as {alias}", alias)

    def _weight_of(self, alias: str) -> str:
        return f"{alias}.{self._name(WEIGHT)}"

    def _is_cte(self, relation: Relation) -> bool:
        return self._uses[id(relation)] > 1 and bool(relation.children)

    def _cte(self, relation: Relation) -> str:
        """The name of the CTE for a relation that is used several times."""
        name = self._cte_of.get(id(relation))
        if name is None:
            text = self._text(relation)
            name = self._cte_of[id(relation)] = f"{self._prefix}shared_{len(self._cte_of) + 1}"
            self._ctes[name] = text
        return name

    def _block(self, relation: Relation) -> _Block:
        relation = operator(relation)
        match relation:
            case ra.Scan():
                texts = self._sources
                item = texts.new(relation.table) if relation.at is At.NEW else texts.old(relation.table)
                alias = self._alias()
                columns = {name: column(source, alias) for name, source in relation.fields}
                return _Block(columns, "", f"{item} as {alias}", alias)
            case ra.Changes():
                alias = self._alias()
                columns = {name: column(in_changes(source), alias) for name, source in relation.fields}
                item = f"{self._changes(relation.table)} as {alias}"
                return _Block(columns, self._weight_of(alias), item, alias)
            case ra.Empty():
                nulls = dict.fromkeys(relation.columns, null())
                alias = self._alias()
                return _Block(nulls, "", f"(select 1) as {alias}", alias, ("false",))
            case ra.OneRow():
                return _Block({}, "", "", sealed=True)
            case ra.UnionAll():
                return self._from(f"(\n{indent(self._union(relation), '  ')}\n)", relation)
            case ra.Filter():
                return self._filter(relation)
            case ra.Project():
                return self._project(relation)
            case ra.Weigh():
                return self._weigh(relation, relation.factor)
            case ra.Unweigh():
                block = self._chosen(relation.input)
                weight = f"({block.weight})" if " " in block.weight else block.weight or "1"
                return replace(block, columns={**block.columns, relation.name: _raw(weight)}, weight="")
            case ra.InnerJoin():
                return self._inner_join(relation)
            case ra.LeftJoin():
                return self._left_join(relation)
            case ra.FullJoin():
                return self._full_join(relation)
            case ra.SemiJoin():
                return self._semi_join(relation)
            case ra.Restricted():
                return self._restricted(relation)
            case ra.Slice():
                return self._slice(relation)
            case ra.Aggregate():
                return self._aggregate(relation)
            case ra.Consolidate():
                return self._consolidate(relation)
            case ra.Window():
                return self._window(relation)
            case ra.Generate():
                return self._generate(relation)
            case ra.Repeat() if relation.weighted:
                return self._weigh(relation, relation.times)
            case ra.Repeat():
                block = self._before_view(relation.input, (relation.times,))
                return self._repeated(block, self._over(block, relation.times))
            case ra.Copies():
                block = self._before_view(relation.input)
                return replace(self._repeated(block, block.weight or "1"), weight="")
            case _:
                raise no_rule(relation)

    def _over(self, block: _Block, scalar: Scalar) -> str:
        """An expression over a block's columns."""
        return self._scalar(scalar.substitute(block.columns))

    def _changes(self, table: str) -> str:
        """The CTE of a table's changes: one per statement, which must not read a feed twice."""
        tables = list(self._changed_fields)
        name = f"{self._prefix}changes_{tables.index(table) + 1}"
        if name not in self._ctes:
            self._ctes[name] = self._sources.changes(table, self._changed_fields[table])
        return name

    # row by row

    def _filter(self, relation: ra.Filter) -> _Block:
        block = self._open(relation.input, plain=relation.predicate.columns)
        return replace(block, where=(*block.where, self._over(block, relation.predicate)))

    def _project(self, relation: ra.Project) -> _Block:
        scalars = [scalar for _, scalar in relation.items]
        chooses = all(scalar.as_column is not None for scalar in scalars)
        block = self._open(relation.input, scalars, closed=chooses)
        columns = {name: scalar.substitute(block.columns) for name, scalar in relation.items}
        return replace(block, columns=columns)

    def _weigh(self, relation: ra.Weigh | ra.Repeat, by: Scalar) -> _Block:
        block = self._open(relation.input, plain=by.columns)
        factor = self._over(block, by)
        if not factor.isdecimal():
            factor = f"({factor})"
        return replace(block, weight=f"{block.weight} * {factor}" if block.weight else factor)

    def _generate(self, relation: ra.Generate) -> _Block:
        if relation.in_select:
            block = self._open(relation.input, (relation.generator,))
            made = _raw(self._over(block, relation.generator))
            return replace(block, columns={**block.columns, relation.names[0]: made}, sealed=True)
        block = self._before_view(relation.input, (relation.generator,))
        template = self._dialect.generate_outer if relation.outer else self._dialect.generate
        alias = self._alias()
        names = ", ".join(map(self._name, relation.names))
        view = template.format(call=self._over(block, relation.generator), alias=alias, names=names)
        columns = {**block.columns, **{name: column(name, alias) for name in relation.names}}
        return replace(block, columns=columns, source=f"{block.source} {view}", has_view=True)

    def _repeated(self, block: _Block, times: str) -> _Block:
        view = self._dialect.copies.format(times=times)
        return replace(block, source=f"{block.source} {view}", has_view=True)

    # joins

    def _inner_join(self, relation: ra.InnerJoin) -> _Block:
        blocks = [
            self._in_from(child, first=not index and relation.broadcast != 0)
            for index, child in enumerate(relation.inputs)
        ]
        waiting = list(relation.predicates)
        columns: dict[str, Scalar] = {}
        text = ""
        for index, block in enumerate(blocks):
            columns |= block.columns
            ready = [p for p in waiting if p.columns <= columns.keys()] if index else []
            waiting = [p for p in waiting if p not in ready]
            if not index:
                text = block.source
            elif ready:
                text += f"\njoin {block.source} on {self._condition(ready, columns)}"
            else:
                text += f"\ncross join {block.source}"
        return _Block(
            columns,
            " * ".join(block.weight for block in blocks if block.weight),
            text,
            blocks[0].alias,
            (
                *(condition for block in blocks for condition in block.where),
                *(self._scalar(predicate.substitute(columns)) for predicate in waiting),
            ),
            hints=(
                *blocks[0].hints,
                *(self._broadcast(blocks[relation.broadcast]) if relation.broadcast is not None else ()),
            ),
            is_join=True,
        )

    def _left_join(self, relation: ra.LeftJoin) -> _Block:
        left = self._in_from(relation.left, first=True)
        right = self._in_from(relation.right, filtered=False)
        columns = {**left.columns, **right.columns}
        on = self._condition(relation.predicates, columns)
        joined = self._joined(left, "left join", right, on, broadcast=relation.broadcast_right)
        return replace(joined, columns=columns)

    def _full_join(self, relation: ra.FullJoin) -> _Block:
        left = self._in_from(relation.left, first=True, filtered=False)
        right = self._in_from(relation.right, filtered=False)
        columns = {**left.columns, **right.columns}
        joined = self._joined(left, "full join", right, self._condition(relation.predicates, columns))
        return replace(joined, columns=columns)

    def _semi_join(self, relation: ra.SemiJoin) -> _Block:
        left = self._in_from(relation.left, first=True)
        right = self._in_from(relation.right, filtered=False)
        on = self._condition(relation.predicates, {**left.columns, **right.columns})
        join = self._dialect.anti_join if relation.anti else self._dialect.semi_join
        return self._joined(left, join, right, on, broadcast=relation.broadcast_right)

    def _restricted(self, relation: ra.Restricted) -> _Block:
        block = self._in_from(relation.input, first=True)
        keys = self._in_from(relation.keys.source, filtered=False)
        on = self._equal(block, keys, relation.keys.comparisons)
        join = self._dialect.anti_join if relation.excluded else self._dialect.semi_join
        return self._joined(block, join, keys, on, broadcast=relation.broadcast)

    def _slice(self, relation: ra.Slice) -> _Block:
        """Adds to each row whether a lookup has its key; keys are made distinct, so no row is repeated."""
        block = self._in_from(relation.input, first=True)
        conditions = []
        for lookup in relation.lookups:
            names = tuple(dict.fromkeys(pair.right for pair in lookup.pairs))
            found = ra.Aggregate(
                lookup.keys, names, (Call(_FOUND, evaluated(), Scalar(exp.Literal.number(1))),)
            )
            keys = self._wrapped(self._block(found), found)
            on = self._equal(block, keys, lookup.pairs)
            block = self._joined(block, "left join", keys, on, broadcast=True)
            conditions.append(f"{self._scalar(keys.columns[_FOUND])} = 1")
        return replace(block, where=(*block.where, " or ".join(conditions)))

    def _joined(self, left: _Block, join: str, right: _Block, on: str, *, broadcast: bool = False) -> _Block:
        """The left block's columns and weight, with one more FROM item."""
        hints = (*left.hints, *(self._broadcast(right) if broadcast else ()))
        return replace(
            left, source=f"{left.source}\n{join} {right.source} on {on}", hints=hints, is_join=True
        )

    def _condition(self, predicates: Iterable[Scalar], columns: Mapping[str, Scalar]) -> str:
        texts = (self._scalar(predicate.substitute(columns)) for predicate in predicates)
        return " and ".join(f"({text})" for text in texts) or "true"

    def _equal(self, left: _Block, right: _Block, pairs: Iterable[Pair]) -> str:
        """The pairs of columns as a condition; both sides may have columns of the same name."""
        equal = {False: "=", True: self._dialect.null_safe_equal}
        texts = (
            f"{self._scalar(left.columns[pair.left])} {equal[pair.null_safe]} "
            f"{self._scalar(right.columns[pair.right])}"
            for pair in pairs
        )
        return " and ".join(texts) or "true"

    def _broadcast(self, block: _Block) -> tuple[str, ...]:
        """The hint for a block with one FROM item."""
        return (f"broadcast({block.alias})",) if self._dialect.hints else ()

    # groups and windows

    def _aggregate(self, relation: ra.Aggregate) -> _Block:
        arguments = [call.argument for call in relation.calls if call.argument is not None]
        block = self._open(relation.input, arguments, relation.keys)
        weight = block.weight or "1"
        columns = {name: block.columns[name] for name in relation.keys} | {
            call.name: _raw(self._call(call, block, weight, relation.signed)) for call in relation.calls
        }
        # Without columns it is still one row.
        grouped = replace(block, columns=columns, weight="", nothing="count(*) as __ivm_one", closed=True)
        if not relation.keys:
            return replace(grouped, sealed=True)
        return replace(grouped, tail=self._group_by(block.columns, relation.keys))

    def _consolidate(self, relation: ra.Consolidate) -> _Block:
        block = self._open(relation.input, plain=relation.columns)
        weight = f"sum({block.weight or '1'})"
        columns, keys = dict(block.columns), dict(block.columns)
        for name, key in relation.told_apart:
            columns[name] = _raw(f"first({self._scalar(block.columns[name])})")
            keys[name] = key.substitute(block.columns)
        tail = f"{self._group_by(keys, relation.columns)}\nhaving {weight} <> 0"
        return replace(block, columns=columns, weight=weight, tail=tail, closed=True)

    def _group_by(self, columns: Mapping[str, Scalar], names: Iterable[str]) -> str:
        keys = ", ".join(self._scalar(columns[name]) for name in names)
        return f"\ngroup by {keys}" if keys else ""

    def _call(self, call: Call, block: _Block, weight: str, signed: bool) -> str:
        argument = self._over(block, call.argument) if call.argument is not None else ""
        if not signed or weight == "1":
            return call.function.text(argument)
        if not isinstance(call.function, Additive):
            raise InternalError(f"{call.function.name} is not linear")
        return call.function.of_zset(f"({argument})", weight)

    def _window(self, relation: ra.Window) -> _Block:
        block = self._open(relation.input, plain=relation.input.columns)
        calls = {call.name: _raw(self._window_call(relation, call, block)) for call in relation.calls}
        return replace(block, columns={**block.columns, **calls}, closed=True)

    def _window_call(self, relation: ra.Window, call: WindowCall, block: _Block) -> str:
        """The call of a window function with its OVER clause."""
        keys = [
            f"{self._over(block, one.key)} {'desc' if one.descending else 'asc'} "
            f"nulls {'first' if one.nulls_first else 'last'}"
            for one in call.order
        ]
        if call.settled:
            known = call.sorted_by.union(relation.partition)
            keys += [
                self._scalar(block.columns[name])
                for name in sorted(relation.input.columns)
                if name not in known
            ]
        names = ", ".join(self._scalar(block.columns[name]) for name in relation.partition)
        partition = f"partition by {names}" if names else ""
        order = f"order by {', '.join(keys)}" if keys else ""
        window = " ".join(part for part in (partition, order, call.frame) if part)
        return f"{self._over(block, call.call)} over ({window})"


def _raw(text: str) -> Scalar:
    """Text that can be used as an operand anywhere."""
    return Scalar(exp.Var(this=text))


def _columns_in(scalar: Scalar) -> Iterable[str]:
    """Names of the columns in an expression, once per occurrence."""
    return (node.name for node in scalar.tree.find_all(exp.Column))
