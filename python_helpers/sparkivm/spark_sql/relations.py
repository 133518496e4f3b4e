"""Algebra → SQL text. One SELECT per operator, nested; what is used twice, and each change feed, is a CTE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from textwrap import indent

from sparkivm.algebra import (
    Aggregate,
    At,
    Call,
    Changes,
    Consolidate,
    Copies,
    Empty,
    Filter,
    FullJoin,
    Generate,
    InnerJoin,
    LeftJoin,
    OneRow,
    Project,
    Relation,
    Repeat,
    Restricted,
    Scalar,
    Scan,
    SemiJoin,
    Slice,
    UnionAll,
    Unweigh,
    Weigh,
    Window,
    WindowCall,
    operator,
)
from sparkivm.algebra.columns_read import columns_read
from sparkivm.algebra.moment import at
from sparkivm.errors import InternalError, no_rule
from sparkivm.names import RESERVED_PREFIX, WEIGHT, in_changes
from sparkivm.spark_sql.dialects import SPARK, SqlDialect
from sparkivm.spark_sql.source_texts import SourceTexts

_FOUND = f"{RESERVED_PREFIX}found"


def select_text(
    relation: Relation, sources: SourceTexts, dialect: SqlDialect = SPARK, weight: str | None = None
) -> str:
    """The relation as one SELECT: its columns in order, then its weight as `weight` if that is given."""
    return _Printer(relation, sources, dialect).statement(weight)


def step_texts(relation: Relation, sources: SourceTexts, name: str) -> list[tuple[str, str]]:
    """The relation as a sequence of SELECTs, each with the name by which later ones read it, at last `name`.

    Spark finds a cached relation again only if its plan has no CTE, so what is used twice is its own step.
    """
    return _Printer(relation, sources, SPARK, prefix=f"{name}_").steps(name)


@dataclass(frozen=True)
class _Block:
    """The parts of one SELECT."""

    items: tuple[str, ...]
    weight: str  # empty for a plain bag
    source: str
    where: tuple[str, ...] = ()
    hint: str = ""

    def text(self, weight_column: str) -> str:
        items = [*self.items, f"{self.weight} as {weight_column}"] if self.weight else self.items
        text = f"select {self.hint}{_list(items)}\nfrom {self.source}"
        if not self.where:
            return text
        return f"{text}\nwhere " + " and ".join(f"({condition})" for condition in self.where)


class _Printer:
    def __init__(self, root: Relation, sources: SourceTexts, dialect: SqlDialect, prefix: str = "") -> None:
        self._root, self._sources, self._dialect, self._prefix = root, sources, dialect, prefix
        self._uses = Counter(id(child) for node in root.walk() for child in node.children)
        self._ctes: dict[str, str] = {}
        self._cte_of: dict[int, str] = {}
        self._aliases = 0
        self._columns = {name.lower() for node in root.walk() for name in node.columns}
        self._changed_fields = columns_read(root, Changes)

    def statement(self, weight: str | None) -> str:
        items = self._names(self._root.columns)
        if weight:
            items.append(f"{self._weight(self._root, 'result')} as {self._name(weight)}")
        body = (
            self._select(self._root)
            if not weight
            else f"select {_list(items)}\nfrom {self._nested(self._root)} as result"
        )
        if not self._ctes:
            return body
        ctes = ",\n".join(f"{name} as (\n{indent(text, '  ')}\n)" for name, text in self._ctes.items())
        return f"with {ctes}\n{body}"

    def steps(self, name: str) -> list[tuple[str, str]]:
        last = self._select(self._root)
        return [*self._ctes.items(), (name, last)]

    # names

    def _name(self, identifier: str) -> str:
        return self._dialect.name(identifier)

    def _names(self, columns: Iterable[str], alias: str = "") -> list[str]:
        prefix = alias + "." if alias else ""
        return [prefix + self._name(column) for column in columns]

    def _scalar(self, scalar: Scalar) -> str:
        return at(scalar, self._sources.moment).sql(self._dialect.scalars)

    def _alias(self) -> str:
        """One that is no column's name: `q1.x` would be a field of it."""
        self._aliases += 1
        alias = f"q{self._aliases}"
        return alias if alias not in self._columns else self._alias()

    def _weight(self, relation: Relation, alias: str) -> str:
        return f"{alias}.{self._name(WEIGHT)}" if relation.weighted else "1"

    # relations

    def _nested(self, relation: Relation) -> str:
        """The relation as a FROM item: a CTE's name, or the SELECT in parentheses."""
        if isinstance(relation, Changes):
            return f"(\n{indent(self._select(relation), '  ')}\n)"
        if self._uses[id(relation)] > 1 and relation.children:
            name = self._cte_of.get(id(relation))
            if name is None:
                text = self._select(relation)
                name = self._cte_of[id(relation)] = f"{self._prefix}shared_{len(self._cte_of) + 1}"
                self._ctes[name] = text
            return name
        return f"(\n{indent(self._select(relation), '  ')}\n)"

    def _from(self, relation: Relation) -> tuple[str, str]:
        alias = self._alias()
        return f"{self._nested(relation)} as {alias}", alias

    def _carried(self, relation: Relation, alias: str) -> list[str]:
        """The weight column as it is handed on, if there is one."""
        return [f"{alias}.{self._name(WEIGHT)}"] if relation.weighted else []

    def _select(self, relation: Relation) -> str:
        """A SELECT of the relation's columns and, if it is weighted, its weight as the last one."""
        relation = operator(relation)
        match relation:
            case Scan():
                item = (
                    self._sources.new(relation.table)
                    if relation.at is At.NEW
                    else self._sources.old(relation.table)
                )
                return f"select {_list(self._fields(relation))}\nfrom {item}"
            case Changes():
                columns = [*self._fields(relation), self._name(WEIGHT)]
                return f"select {_list(columns)}\nfrom {self._changes(relation.table)}"
            case Empty():
                nulls = [f"null as {self._name(name)}" for name in relation.columns]
                return f"select {_list(nulls)} from (select 1) as nothing where false"
            case OneRow():
                return f"select {_list(())}"
            case Filter() | Project() | Weigh() | InnerJoin() | LeftJoin() | FullJoin():
                return self._block(relation).text(self._name(WEIGHT))
            case UnionAll():
                return self._union(relation)
            case Aggregate():
                return self._aggregate(relation)
            case Window():
                return self._window(relation)
            case SemiJoin():
                return self._semi_join(relation)
            case Restricted():
                return self._restricted(relation)
            case Slice():
                return self._slice(relation)
            case Consolidate():
                item, alias = self._from(relation.input)
                names = self._names(relation.columns)
                weight = f"sum({self._weight(relation.input, alias)})"
                group = f"\ngroup by {_list(names)}" if names else ""
                items = _list([*names, f"{weight} as {self._name(WEIGHT)}"])
                return f"select {items}\nfrom {item}{group}\nhaving {weight} <> 0"
            case Copies():
                alias = self._alias()
                copies = self._dialect.copies.format(times=f"{alias}.{self._name(WEIGHT)}")
                columns = self._names(relation.columns, alias)
                return f"select {_list(columns)}\nfrom {self._nested(relation.input)} as {alias} {copies}"
            case Generate():
                return self._generate(relation)
            case Repeat() if relation.weighted:
                weighed = Weigh(relation.input, relation.times)
                return self._block(weighed).text(self._name(WEIGHT))
            case Repeat():
                item, _ = self._from(relation.input)
                copies = self._dialect.copies.format(times=self._scalar(relation.times))
                return f"select {_list(self._names(relation.columns))}\nfrom {item} {copies}"
            case Unweigh():
                item, alias = self._from(relation.input)
                weight = f"{self._weight(relation.input, alias)} as {self._name(relation.name)}"
                return f"select {_list([*self._names(relation.input.columns), weight])}\nfrom {item}"
            case _:
                raise no_rule(relation)

    def _fields(self, leaf: Scan | Changes) -> list[str]:
        found = in_changes if isinstance(leaf, Changes) else str
        return [f"{self._name(found(source))} as {self._name(name)}" for name, source in leaf.fields]

    def _changes(self, table: str) -> str:
        """The CTE of a table's changes: one for the whole statement, as it must not read a feed twice."""
        tables = list(self._changed_fields)
        name = f"{self._prefix}changes_{tables.index(table) + 1}"
        if name not in self._ctes:
            self._ctes[name] = self._sources.changes(table, self._changed_fields[table])
        return name

    def _union(self, relation: UnionAll) -> str:
        branches = []
        for child in relation.inputs:
            shared = self._uses[id(child)] > 1
            if not shared and child.columns == relation.columns and child.weighted == relation.weighted:
                branches.append(self._select(child))
                continue
            item, alias = self._from(child)
            columns = self._names(relation.columns, alias)
            if relation.weighted:
                columns.append(f"{self._weight(child, alias)} as {self._name(WEIGHT)}")
            branches.append(f"select {_list(columns)}\nfrom {item}")
        return "\nunion all\n".join(branches)

    # one SELECT for a join and what is computed from each of its rows

    def _block(self, relation: Filter | Project | Weigh | InnerJoin | LeftJoin | FullJoin) -> _Block:
        match relation:
            case Filter():
                block = self._open_block(relation.input)
                return replace(block, where=(*block.where, self._scalar(relation.predicate)))
            case Project():
                items = tuple(f"{self._scalar(s)} as {self._name(n)}" for n, s in relation.items)
                return replace(self._open_block(relation.input), items=items)
            case Weigh():
                block = self._open_block(relation.input)
                factor = self._scalar(relation.factor)
                return replace(block, weight=f"({block.weight}) * ({factor})" if block.weight else factor)
            case InnerJoin():
                return self._inner_join(relation)
            case LeftJoin():
                return self._left_join(relation)
            case FullJoin():
                return self._full_join(relation)

    def _open_block(self, relation: Relation) -> _Block:
        """A block of the relation's columns, in whose FROM they still have their names."""
        if (
            isinstance(relation, (Filter, Weigh, InnerJoin, LeftJoin, FullJoin))
            and self._uses[id(relation)] == 1
        ):
            return self._block(relation)
        item, alias = self._from(relation)
        weight = self._weight(relation, alias) if relation.weighted else ""
        return _Block(tuple(self._names(relation.columns)), weight, item)

    def _inner_join(self, relation: InnerJoin) -> _Block:
        items = [self._from(child) for child in relation.inputs]
        waiting = list(relation.predicates)
        known: set[str] = set()
        text = ""
        for index, ((item, _), child) in enumerate(zip(items, relation.inputs, strict=True)):
            known |= set(child.columns)
            ready = [p for p in waiting if p.columns <= known] if index else []
            waiting = [p for p in waiting if p not in ready]
            condition = " and ".join(f"({self._scalar(p)})" for p in ready)
            if index:
                text += f"\njoin {item} on {condition}" if condition else f"\ncross join {item}"
            else:
                text = item
        weights = [self._weight(c, a) for c, (_, a) in zip(relation.inputs, items, strict=True) if c.weighted]
        hint = "" if relation.broadcast is None else self._broadcast(items[relation.broadcast][1])
        where = tuple(self._scalar(predicate) for predicate in waiting)
        return _Block(tuple(self._names(relation.columns)), " * ".join(weights), text, where, hint)

    def _left_join(self, relation: LeftJoin) -> _Block:
        left, left_alias = self._from(relation.left)
        right, right_alias = self._from(relation.right)
        condition = " and ".join(f"({self._scalar(p)})" for p in relation.predicates) or "true"
        weight = self._weight(relation.left, left_alias) if relation.left.weighted else ""
        hint = self._broadcast(right_alias) if relation.broadcast_right else ""
        text = f"{left}\nleft join {right} on {condition}"
        return _Block(tuple(self._names(relation.columns)), weight, text, (), hint)

    def _full_join(self, relation: FullJoin) -> _Block:
        left, _ = self._from(relation.left)
        right, _ = self._from(relation.right)
        condition = " and ".join(f"({self._scalar(p)})" for p in relation.predicates) or "true"
        return _Block(tuple(self._names(relation.columns)), "", f"{left}\nfull join {right} on {condition}")

    def _semi_join(self, relation: SemiJoin) -> str:
        left, left_alias = self._from(relation.left)
        right, right_alias = self._from(relation.right)
        condition = " and ".join(f"({self._scalar(p)})" for p in relation.predicates) or "true"
        join = self._dialect.anti_join if relation.anti else self._dialect.semi_join
        columns = [*self._names(relation.columns), *self._carried(relation.left, left_alias)]
        hint = self._broadcast(right_alias) if relation.broadcast_right else ""
        return f"select {hint}{_list(columns)}\nfrom {left}\n{join} {right} on {condition}"

    def _broadcast(self, alias: str) -> str:
        return f"/*+ broadcast({alias}) */ " if self._dialect.hints else ""

    def _restricted(self, relation: Restricted) -> str:
        item, alias = self._from(relation.input)
        keys, key_alias = self._from(relation.keys.source)
        equal = self._dialect.null_safe_equal
        condition = " and ".join(
            f"{alias}.{self._name(mine)} {equal} {key_alias}.{self._name(key)}"
            for mine, key in relation.keys.pairs
        )
        condition = condition or "true"
        join = self._dialect.anti_join if relation.excluded else self._dialect.semi_join
        columns = [*self._names(relation.columns, alias), *self._carried(relation.input, alias)]
        hint = self._broadcast(key_alias) if relation.broadcast else ""
        return f"select {hint}{_list(columns)}\nfrom {item}\n{join} {keys} on {condition}"

    def _slice(self, relation: Slice) -> str:
        """Beside each row whether a lookup has its key; the keys are made distinct, so no row is repeated."""
        item, alias = self._from(relation.input)
        joins, hints = "", ""
        equal = {False: "=", True: self._dialect.null_safe_equal}
        found, conditions = self._name(_FOUND), []
        for lookup in relation.lookups:
            keys, _ = self._from(lookup.keys)
            names = _list(self._names([pair.right for pair in lookup.pairs]))
            distinct = f"select {names}, 1 as {found}\nfrom {keys}\ngroup by {names}"
            other = self._alias()
            same = " and ".join(
                f"{alias}.{self._name(pair.left)} {equal[pair.null_safe]} {other}.{self._name(pair.right)}"
                for pair in lookup.pairs
            )
            joins += f"\nleft join (\n{indent(distinct, '  ')}\n) as {other} on {same}"
            conditions.append(f"{other}.{found} = 1")
            hints += self._broadcast(other)
        columns = [*self._names(relation.columns, alias), *self._carried(relation.input, alias)]
        return f"select {hints}{_list(columns)}\nfrom {item}{joins}\nwhere {' or '.join(conditions)}"

    def _aggregate(self, relation: Aggregate) -> str:
        item, alias = self._from(relation.input)
        names = self._names(relation.keys)
        weight = self._weight(relation.input, alias)
        calls = [
            f"{self._call(call, weight, relation.signed)} as {self._name(call.name)}"
            for call in relation.calls
        ]
        group = f"\ngroup by {_list(names)}" if names else ""
        # Without any column it is still one row.
        return f"select {_list([*names, *calls] or ['count(*) as __ivm_one'])}\nfrom {item}{group}"

    def _generate(self, relation: Generate) -> str:
        item, alias = self._from(relation.input)
        if relation.in_select:
            made = f"{self._scalar(relation.generator)} as {self._name(relation.names[0])}"
            columns = [*self._names(relation.input.columns), made, *self._carried(relation.input, alias)]
            return f"select {_list(columns)}\nfrom {item}"
        template = self._dialect.generate_outer if relation.outer else self._dialect.generate
        call, names = self._scalar(relation.generator), ", ".join(self._names(relation.names))
        columns = [*self._names(relation.columns), *self._carried(relation.input, alias)]
        return f"select {_list(columns)}\nfrom {item} {template.format(call=call, names=names)}"

    def _window(self, relation: Window) -> str:
        item, _ = self._from(relation.input)
        calls = [f"{self._over(relation, call)} as {self._name(call.name)}" for call in relation.calls]
        return f"select {_list([*self._names(relation.input.columns), *calls])}\nfrom {item}"

    def _over(self, relation: Window, call: WindowCall) -> str:
        """The call of a window function with its window."""
        keys = [
            f"{self._scalar(one.key)} {'desc' if one.descending else 'asc'} "
            f"nulls {'first' if one.nulls_first else 'last'}"
            for one in call.order
        ]
        if call.settled:
            known = {one.key.as_column for one in call.order} | set(relation.partition)
            keys += [self._name(name) for name in sorted(relation.input.columns) if name not in known]
        partition = f"partition by {_list(self._names(relation.partition))}" if relation.partition else ""
        order = f"order by {', '.join(keys)}" if keys else ""
        window = " ".join(part for part in (partition, order, call.frame) if part)
        return f"{self._scalar(call.call)} over ({window})"

    def _call(self, call: Call, weight: str, signed: bool) -> str:
        argument = self._scalar(call.argument) if call.argument is not None else ""
        if call.function == "other" and not signed:
            return argument
        if not signed or weight == "1":
            return "count(*)" if call.function == "count_rows" else f"{call.function}({argument})"
        match call.function:
            case "count_rows":
                return f"coalesce(sum({weight}), 0)"
            case "count":
                return f"coalesce(sum(case when ({argument}) is not null then {weight} else 0 end), 0)"
            case "sum":
                return call.weighed(weight, f"({argument})")
            case _:
                raise InternalError(f"{call.function} is not linear")


def _list(items: Iterable[str]) -> str:
    """A SELECT list; one of a relation without columns still needs an item."""
    return ", ".join(items) or "1 as __ivm_one"
