"""Random SELECTs over the tables of `random_data`: all that the compiler supports incrementally, nested."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.fuzz.random_data import COLUMNS, NAMED_LIKE_OURS, TABLES

INT, DEC, DBL, STR, BOOL = "int", "dec", "dbl", "str", "bool"
_KINDS = {"int": INT, "bigint": INT, "decimal(12,2)": DEC, "double": DBL, "string": STR, "boolean": BOOL}
_LITERALS = {INT: "1", DEC: "0.01", DBL: "1.5", STR: "'a'", BOOL: "true"}

_JOINS = (
    *("join", "join", "join", "left join", "left join", "left join", "right join", "cross join"),
    *("full join", "full join", "left semi join", "left anti join"),
)

_SET_OPERATIONS = (
    *(" union all ", " union all ", " union all ", " union ", " union "),
    *(" intersect ", " except ", " intersect all ", " except all "),
)

_WIDER = (INT, DEC, DBL, STR)  # each can be widened to those after it

_COMPUTED = {INT: "{} + 1", DEC: "abs({})", STR: "upper({})"}

_MOMENT = "day(current_date())"

Column = tuple[str, str]  # name and kind


@dataclass(frozen=True)
class Rel:
    """FROM, or one of its items: its text, and its columns as expressions name them."""

    text: str
    columns: list[Column]
    usable: frozenset[str] = frozenset()  # plain column names that USING may list


@dataclass
class QueryMaker:
    """Writes one query. Every alias is new, so that the compiler must resolve scopes, not luck."""

    rng: random.Random
    max_depth: int = 2
    float_aggregates: bool = True
    moments: bool = True  # whether it may read the refresh date
    chosen_rows: bool = False  # whether it may ask for any row of a group; engines choose different rows
    names_like_ours: bool = False  # whether the tables also have these columns, which `*` must not show
    mixed_unions: bool = False  # whether branches may differ in type, which Spark handles in its own way
    tables: Sequence[str] = TABLES
    _count: int = 0
    _nesting: int = 0  # nesting depth of subqueries in expressions
    _table: str | None = None  # the table that all FROM items read, for queries with only self-joins
    ctes: list[str] = field(default_factory=list)
    cte_columns: dict[str, list[Column]] = field(default_factory=dict)

    def query(self) -> str:
        """A whole model."""
        rng = self.rng
        if rng.random() < 0.12:
            self._table = rng.choice(self.tables)
        body, columns = self.select(rng.randint(0, self.max_depth), top=True)
        text = (f"with {', '.join(self.ctes)} " if self.ctes else "") + body
        roll = rng.random()
        if roll < 0.08:
            text += f" order by {', '.join(self._sort_key(name) for name, _ in columns)}"
            if not body.startswith("select *") and ".* from" not in body:  # a star shows more columns
                text += rng.choice((" limit 3", " limit 1", " limit 2 offset 1", ""))
        elif roll < 0.14:
            text += f" order by {self._sort_key(rng.choice(columns)[0])}"
        return text

    def fresh(self, prefix: str = "q") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _sort_key(self, name: str) -> str:
        return name + self.rng.choice(("", " desc", " nulls last", " desc nulls first"))

    # FROM

    def item(self, depth: int) -> Rel:
        rng = self.rng
        alias = self.fresh()
        if depth > 0 and rng.random() < 0.5:
            body, columns = self.select(depth - 1)
            if rng.random() < 0.3:
                name, listed = self.fresh("cte"), ""
                if rng.random() < 0.3:
                    listed, columns = self._listed(columns)
                self.ctes.append(f"{name}{listed} as ({body})")
                self.cte_columns[name] = columns
                return self._aliased(name, alias, columns)
            rel = self._aliased(f"({body})", alias, columns)
            if rng.random() < 0.1:
                listed, columns = self._listed(columns)
                rel = replace(self._aliased(f"({body})", alias, columns), text=rel.text + listed)
            return rel
        if self.cte_columns and rng.random() < 0.3:
            name = rng.choice(list(self.cte_columns))
            return self._aliased(name, alias, self.cte_columns[name])
        if rng.random() < 0.04:
            names = [self.fresh("c"), self.fresh("c")]
            return self._aliased(
                f"(select 1 as {names[0]}, 'a' as {names[1]})", alias, [(names[0], INT), (names[1], STR)]
            )
        if rng.random() < 0.03:
            names = [self.fresh("c"), self.fresh("c")]
            rows = rng.choice(("(1, 'a')", "(1, 'a'), (null, 'b'), (2, null)"))
            text = f"(select * from values {rows} as {self.fresh()}({', '.join(names)}))"
            return self._aliased(text, alias, [(names[0], INT), (names[1], STR)])
        return self.table(alias)

    def table(self, alias: str | None = None) -> Rel:
        """A table as it is."""
        table = self._table or self.rng.choice(self.tables)
        columns = [(name, _KINDS[type_]) for name, type_ in COLUMNS]
        if self.names_like_ours and self.rng.random() < 0.15:
            kinds = dict(columns)
            columns += [(name, kinds[of]) for name, of in NAMED_LIKE_OURS.items()]
        return self._aliased(table, alias or self.fresh(), columns)

    def _listed(self, columns: list[Column]) -> tuple[str, list[Column]]:
        """A list of new column names, and the columns under these names."""
        renamed = [(self.fresh("c"), kind) for _, kind in columns]
        return f"({', '.join(name for name, _ in renamed)})", renamed

    @staticmethod
    def _aliased(text: str, alias: str, columns: list[Column]) -> Rel:
        usable = frozenset(name for name, kind in columns if kind != DBL)
        return Rel(f"{text} as {alias}", [(f"{alias}.{name}", kind) for name, kind in columns], usable)

    def from_clause(self, depth: int) -> Rel:
        rng = self.rng
        rel = self.item(depth)
        more = rng.choice((0, 0, 1, 1, 2))
        if self._table and depth == 0:
            more = rng.choice((1, 2))
        if more and rng.random() < 0.1:
            return self._join_using(rel, self.item(depth))
        if more and rng.random() < 0.08:
            for _ in range(more):
                other = self.item(depth)
                rel = Rel(f"{rel.text}, {other.text}", rel.columns + other.columns)
            return rel
        for _ in range(more):
            other = self.item(depth)
            both = rel.columns + other.columns
            kind = rng.choice(_JOINS)
            on = "" if kind == "cross join" else f" on {self.join_predicate(rel, other)}"
            visible = rel.columns if kind in ("left semi join", "left anti join") else both
            rel = Rel(f"{rel.text} {kind} {other.text}{on}", visible)
        return rel

    def _lateral(self, rel: Rel) -> Rel:
        """Rows made from each row: from an array, or from a subquery that uses the row."""
        rng = self.rng
        numbers = of_kind(rel.columns, INT) or ["1"]
        alias, name = self.fresh(), self.fresh("c")
        if rng.random() < 0.5:
            view = rng.choice(("lateral view", "lateral view", "lateral view outer"))
            array = f"array({rng.choice(numbers)}, {rng.choice(numbers)} + 1)"
            return Rel(f"{rel.text} {view} explode({array}) {alias} as {name}", [*rel.columns, (name, INT)])
        inner, where = self._correlated(rel.columns)
        values, outer = of_kind(inner.columns, INT), rng.choice(numbers)
        item = (
            rng.choice((rng.choice(values), f"max({rng.choice(values)})", "count(*)", outer))
            if values
            else "count(*)"
        )
        if "(" in item and outer != "1" and rng.random() < 0.3:
            where += f" group by {outer}"
        join, on = rng.choice(((", lateral", ""), (" left join lateral", " on true"), (" join lateral", "")))
        if join != ", lateral" and rng.random() < 0.4:
            on = f" on {alias}.{name} {rng.choice(('=', '<'))} {rng.choice(numbers)}"
        text = f"{rel.text}{join} (select {item} as {name} from {inner.text}{where}) as {alias}{on}"
        return Rel(text, [*rel.columns, (f"{alias}.{name}", INT)])

    def _join_using(self, left: Rel, right: Rel) -> Rel:
        rng = self.rng
        kind = rng.choice(("join", "left join", "right join", "full join", "left semi join"))
        shared = sorted(left.usable & right.usable)
        if not shared:
            return Rel(f"{left.text} cross join {right.text}", left.columns + right.columns)
        names = rng.sample(shared, min(len(shared), rng.choice((1, 1, 2))))
        kinds = {name.split(".")[-1]: kind for name, kind in left.columns}
        merged = [(name, kinds[name]) for name in names]
        text = f"{left.text} {kind} {right.text} using ({', '.join(names)})"
        if kind == "left semi join":
            return Rel(text, left.columns)
        if rng.random() < 0.4:
            third = self.table()
            if third.usable >= set(names):
                text += f" {rng.choice(('join', 'left join'))} {third.text} using ({', '.join(names)})"
                right = Rel("", right.columns + third.columns)
        return Rel(text, [*merged, *left.columns, *right.columns])

    def join_predicate(self, left: Rel, right: Rel) -> str:
        rng = self.rng
        parts: list[str] = []
        for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 2))):
            kind = rng.choice((INT, INT, INT, STR, DEC))
            mine, other = of_kind(left.columns, kind), of_kind(right.columns, kind)
            if mine and other:
                operator = rng.choice(("=", "=", "=", "=", "=", "<=>", "<", "<>"))
                one, two = rng.choice(mine), rng.choice(other)
                if rng.random() < 0.12:
                    one = _COMPUTED[kind].format(one)
                if rng.random() < 0.08:
                    two = _COMPUTED[kind].format(two)
                parts.append(f"{one} {operator} {two}")
        roll = rng.random()
        if roll < 0.1:
            parts.append(self.predicate(left.columns))
        elif roll < 0.2:
            parts.append(self.predicate(right.columns))
        elif roll < 0.26:
            parts.append(self.predicate(left.columns + right.columns))
        elif roll < 0.32 and len(parts) > 1:
            return f"({parts[0]} or {parts[1]})"
        return " and ".join(parts) or rng.choice(
            ("true", "1 = 1", self.predicate(left.columns + right.columns))
        )

    # scalars

    def predicate(self, columns: Sequence[Column]) -> str:
        rng = self.rng
        name, kind = rng.choice(columns)
        literal = _LITERALS[kind]
        other = rng.choice(of_kind(columns, kind))
        if kind == INT and self.moments and rng.random() < 0.05:
            return f"{name} {rng.choice(('=', '<', '>=', '<=>'))} {_MOMENT}"
        return rng.choice(
            (
                f"{name} is null",
                f"{name} is not null",
                f"{name} {rng.choice(('=', '<>', '>', '<=', '<=>'))} {literal}",
                f"{name} {rng.choice(('=', '>', '<=>'))} {other}",
                f"coalesce({name}, {literal}) <> {other}",
                f"{name} in ({literal}, {other})",
                f"{name} not in ({literal}, {literal})",
                f"not ({name} = {literal})",
                f"({name} = {literal} or {other} is null)",
                f"{name} between {literal} and {other}",
                f"case when {name} > {literal} then true when {other} is null then false end",
            )
        )

    def scalar(self, columns: Sequence[Column]) -> Column:
        rng = self.rng
        name, kind = rng.choice(columns)
        if rng.random() < 0.6:
            return name, kind
        other = rng.choice(of_kind(columns, kind))
        if rng.random() < 0.08:
            return f"({self.predicate(columns)})", BOOL
        if kind == INT and self.moments and rng.random() < 0.04:
            return rng.choice((f"{name} - {_MOMENT}", f"case when {name} < {_MOMENT} then {other} end")), INT
        texts = {
            INT: (
                f"{name} + 1",
                f"{name} * 2 - {other}",
                f"coalesce({name}, 0)",
                f"coalesce({name}, {other})",
                f"case when {name} > 0 then {other} end",
                f"case {name} when 1 then 2 else {other} end",
                "1",
                f"-{name}",
                f"({name} + {other}) * 2",
                f"if({name} is null, 1, 0)",
            ),
            DEC: (f"{name} * 2", f"coalesce({name}, 1.50)", f"abs({name})", f"-{name}"),
            DBL: (f"{name} * 2", f"coalesce({name}, 1.5)"),
            BOOL: (f"not {name}", f"coalesce({name}, false)", f"({name} or {other})"),
            STR: (
                f"upper({name})",
                f"coalesce({name}, 'x')",
                f"concat({name}, 'z')",
                f"concat({name}, {other})",
            ),
        }
        return rng.choice(texts[kind]), kind

    # subqueries

    def test(self, columns: Sequence[Column]) -> str:
        """A predicate with a subquery."""
        rng = self.rng
        rel, where = self._correlated(columns)
        kind = rng.choice((INT, INT, STR, DEC))
        mine, theirs = of_kind(columns, kind), of_kind(rel.columns, kind)
        roll = rng.random()
        if roll < 0.45 or not mine or not theirs:
            text = f"exists (select 1 from {rel.text}{where})"
        elif roll < 0.85:
            x = rng.choice((rng.choice(mine), f"coalesce({rng.choice(mine)}, {_LITERALS[kind]})"))
            text = f"{x} {rng.choice(('in', 'in', 'not in'))} (select {rng.choice(theirs)} from {rel.text}{where})"
        else:
            inner = self._single(rng.choice(("max", "min")), theirs, rel, where, _LITERALS[kind])
            text = f"{rng.choice(mine)} {rng.choice(('=', '<', '>='))} ({inner})"
        roll = rng.random()
        if roll < 0.2:
            return f"not ({text})"
        if roll < 0.35:
            return f"({text} or {self.predicate(columns)})"
        if roll < 0.4:
            # Spark's IN is never NULL; DuckDB's may be.
            return f"coalesce({text}, false)" if "in (select" in text else f"({text}) is not null"
        if roll < 0.45:
            return f"not ({text} and {self.predicate(columns)})"
        return text

    def scalar_subquery(self, columns: Sequence[Column]) -> Column:
        """A scalar subquery as an item of the SELECT list."""
        rng = self.rng
        rel, where = self._correlated(columns)
        numbers = of_kind(rel.columns, INT)
        roll = rng.random()
        if roll < 0.25:
            return f"case when {self.test(columns)} then 1 else 0 end", INT
        if roll < 0.5 or not numbers:
            return f"(select count(*) from {rel.text}{where})", INT
        if rng.random() < 0.15:
            numbers = [f"{number} + {rng.choice(of_kind(columns, INT) or ['1'])}" for number in numbers]
        call = rng.choice(("max", "min", "sum", "count", "count(distinct"))
        return f"({self._single(call, numbers, rel, where)})", INT

    def _single(self, call: str, values: list[str], rel: Rel, where: str, literal: str = "0") -> str:
        """A SELECT of one row, or of none because of HAVING."""
        rng = self.rng
        text = f"{call}({rng.choice(values)})" if "(" not in call else f"{call} {rng.choice(values)})"
        having = rng.choice(("", "", "", " having count(*) <> 1", " having count(*) < 3"))
        return f"select {rng.choice((text, text, f'coalesce({text}, {literal})'))} from {rel.text}{where}{having}"

    def _correlated(self, columns: Sequence[Column]) -> tuple[Rel, str]:
        """FROM and WHERE of a correlated subquery."""
        rng = self.rng
        rel = self.item(0)
        if rng.random() < 0.15:
            other = self.item(0)
            on = self.join_predicate(rel, other)
            kind = rng.choice(("join", "left join"))
            rel = Rel(f"{rel.text} {kind} {other.text} on {on}", rel.columns + other.columns)
        parts: list[str] = []
        for _ in range(rng.choice((0, 1, 1, 1, 1, 2))):
            kind = rng.choice((INT, INT, INT, STR, DEC))
            mine, theirs = of_kind(rel.columns, kind), of_kind(columns, kind)
            if mine and theirs:
                operator = rng.choice(("=", "=", "=", "=", "<=>", "<", "<>"))
                parts.append(f"{rng.choice(mine)} {operator} {rng.choice(theirs)}")
        if rng.random() < 0.2:
            parts.append(self.predicate(rel.columns))
        if self._nesting < 1 and rng.random() < 0.12:
            self._nesting += 1
            parts.append(self.test(rng.choice((rel.columns, rel.columns + list(columns)))))
            self._nesting -= 1
        return rel, f" where {' and '.join(parts)}" if parts else ""

    def _any_numbers(self) -> tuple[list[str], Rel, str]:
        """Arguments of `_single` for an uncorrelated subquery."""
        rel = self.table()
        return of_kind(rel.columns, INT), rel, ""

    # windows

    def window(self, columns: Sequence[Column]) -> Column:
        """A window function whose value does not depend on the order of ties."""
        rng = self.rng
        sortable = [name for name, _ in columns]
        numbers = of_kind(columns, INT) or ["1"]
        partition = rng.sample(sortable, min(len(sortable), rng.choice((0, 1, 1, 1, 2))))
        some = [self._sort_key(name) for name in rng.sample(sortable, min(2, len(sortable)))]
        every = [self._sort_key(name) for name in rng.sample(sortable, len(sortable))]
        number = rng.choice(numbers)
        call, order, frame = rng.choice(
            (
                ("row_number()", every, ""),
                ("row_number()", every, ""),
                ("rank()", some, ""),
                ("dense_rank()", some, ""),
                (f"sum({number})", [], ""),
                (f"sum({number})", some, ""),
                (f"count({number})", some, ""),
                (f"max({number})", [], ""),
                (f"min({number})", every, "rows between 1 preceding and 1 following"),
                (f"sum({number})", every, "rows between unbounded preceding and current row"),
                (f"lag({number})", every, ""),
                (f"lead({number}, 1, 7)", every, ""),
                (f"first_value({number})", every, ""),
                (f"last_value({number})", every, "rows between current row and unbounded following"),
                (f"sum({number}) filter (where {self.predicate(columns)})", some, ""),
                ("ntile(2)", every, ""),
            )
        )
        parts = [f"partition by {', '.join(partition)}"] if partition else []
        parts += [f"order by {', '.join(order)}"] if order else []
        return f"{call} over ({' '.join([*parts, frame]).strip()})", INT

    def _first_of_each(self, depth: int) -> tuple[str, list[Column]]:
        """A common pattern: some rows per key."""
        rng = self.rng
        rel = self.item(depth)
        names = [name for name, _ in rel.columns]
        inner = [(self.fresh("c"), kind) for _, kind in rel.columns]
        items = ", ".join(f"{name} as {new}" for name, (new, _) in zip(names, inner, strict=True))
        order = ", ".join(self._sort_key(name) for name in rng.sample(names, len(names)))
        number, alias = self.fresh("c"), self.fresh()
        ranked = f"row_number() over (partition by {rng.choice(names)} order by {order}) as {number}"
        kept = f"{alias}.{number} {rng.choice(('= 1', '= 1', '<= 2', '> 1'))}"
        columns = [(name, kind) for name, kind in inner if rng.random() < 0.7] or inner[:1]
        outer = ", ".join(f"{alias}.{name}" for name, _ in columns)
        return (
            f"select {outer} from (select {items}, {ranked} from {rel.text}) as {alias} where {kept}",
            columns,
        )

    def _top(self, depth: int) -> tuple[str, list[Column]]:
        """The first rows of all, in a subquery."""
        rng = self.rng
        rel = self.item(depth)
        columns = [(self.fresh("c"), kind) for _, kind in rel.columns]
        items = ", ".join(
            f"{name} as {new}" for (name, _), (new, _) in zip(rel.columns, columns, strict=True)
        )
        order = ", ".join(self._sort_key(name) for name, _ in columns)
        limit = rng.choice(("limit 1", "limit 3", "limit 2 offset 1"))
        return f"(select {items} from {rel.text} order by {order} {limit})", columns

    # SELECT

    def select(self, depth: int, top: bool = False) -> tuple[str, list[Column]]:
        rng = self.rng
        roll = rng.random()
        if roll < 0.1:
            return self.union(depth)
        if roll < 0.11:
            name = self.fresh("c")
            return f"select 1 as {name}", [(name, INT)]
        if roll < 0.16:
            return self._star(depth)
        if roll < 0.19:
            return self._first_of_each(depth)
        if roll < 0.21 and not top:
            return self._top(depth)
        rel = self.from_clause(depth)
        if rng.random() < 0.05:
            rel = self._lateral(rel)
        where = self._where(rel.columns) if rng.random() < 0.4 else ""
        if rng.random() < 0.42:
            return self.grouped(rel, where)
        items: list[str] = []
        columns: list[Column] = []
        for _ in range(rng.choice((1, 2, 3, 4))):
            make = rng.choices((self.scalar, self.scalar_subquery, self.window), (90, 4, 6))[0]
            if make == self.window and any(" over (" in item for item in items):
                make = self.scalar  # engines pair two row numbers over ties differently
            text, kind = make(rel.columns)
            name = self.fresh("c")
            items.append(f"{text} as {name}")
            columns.append((name, kind))
            if (
                kind == INT and rng.random() < 0.05 and "select" not in text
            ):  # the next item may use its alias
                again = self.fresh("c")
                items.append(f"{name} + 1 as {again}")
                columns.append((again, INT))
        distinct = "distinct " if rng.random() < 0.15 else ""
        return f"select {distinct}{', '.join(items)} from {rel.text}{where}", columns

    def _where(self, columns: Sequence[Column]) -> str:
        rng = self.rng
        parts = [
            self.test(columns) if rng.random() < 0.2 else self.predicate(columns)
            for _ in range(rng.choice((1, 1, 2)))
        ]
        return f" where {' and '.join(parts)}"

    def _star(self, depth: int) -> tuple[str, list[Column]]:
        rng = self.rng
        rel = self.item(depth)
        where = self._where(rel.columns) if rng.random() < 0.4 else ""
        columns = [(name.split(".")[-1], kind) for name, kind in rel.columns]
        if self.names_like_ours and rel.text.split()[0] in self.tables:
            columns = columns[: len(COLUMNS)]
            return f"select * except ({', '.join(NAMED_LIKE_OURS)}) from {rel.text}{where}", columns
        alias = rel.text.split()[-1]
        star = rng.choice(("*", f"{alias}.*")) if alias.isidentifier() else "*"
        distinct = rng.choice(("", "", "distinct "))
        if distinct:  # DISTINCT must not compare rows with floats
            return (
                f"select {distinct}{', '.join(n for n, _ in rel.columns[:2])} from {rel.text}{where}",
                columns[:2],
            )
        return f"select {star} from {rel.text}{where}", columns

    def union(self, depth: int) -> tuple[str, list[Column]]:
        rng = self.rng
        if self.mixed_unions and rng.random() < 0.3:
            return self._mixed_union(depth)
        kinds = [rng.choice((INT, DEC, STR)) for _ in range(rng.choice((1, 2)))]
        names = [self.fresh("c") for _ in kinds]
        branches = []
        for _ in range(rng.choice((2, 2, 3))):
            rel = self.from_clause(max(0, depth - 1))
            items = []
            for name, kind in zip(names, kinds, strict=True):
                fitting = of_kind(rel.columns, kind) + (of_kind(rel.columns, INT) if kind == DEC else [])
                items.append(f"{rng.choice(fitting) if fitting else 'null'} as {name}")
            where = self._where(rel.columns) if rng.random() < 0.3 else ""
            branches.append(f"select {', '.join(items)} from {rel.text}{where}")
        word = rng.choice(_SET_OPERATIONS)
        return word.join(branches), list(zip(names, kinds, strict=True))

    def _mixed_union(self, depth: int) -> tuple[str, list[Column]]:
        rng, name = self.rng, self.fresh("c")
        kinds: list[str] = []
        branches: list[str] = []
        for _ in range(rng.choice((2, 3, 4))):
            rel = self.from_clause(max(0, depth - 1))
            value, kind = rng.choice([("null", INT), *(one for one in rel.columns if one[1] in _WIDER)])
            branches.append(f"select {value} as {name} from {rel.text}")
            kinds.append(kind)
        return " union all ".join(branches), [(name, max(kinds, key=_WIDER.index))]

    def grouped(self, rel: Rel, where: str) -> tuple[str, list[Column]]:
        rng = self.rng
        keys: dict[str, Column] = {}
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            make = self.scalar_subquery if rng.random() < 0.04 else self.scalar
            text, kind = make(rel.columns)
            if kind != DBL and text != "1" and text not in keys:
                keys[text] = (self.fresh("g"), kind)
        calls = [(self.aggregate(rel.columns), self.fresh("m")) for _ in range(rng.choice((1, 1, 2, 3)))]
        items = [f"{text} as {name}" for text, (name, _) in keys.items()]
        items += [f"{call} as {name}" for (call, _), name in calls]
        columns = [*keys.values(), *((name, kind) for (_, kind), name in calls)]
        if rng.random() < 0.06:
            name, call = self.fresh("w"), calls[0][0][0]
            over = rng.choice(
                (
                    f"rank() over (order by {call})",
                    "sum(count(*)) over ()",
                    f"max(count(*)) over (order by {call})",
                )
            )
            items.append(f"{over} as {name}")
            columns.append((name, INT))
        distinct = ""
        if rng.random() < 0.08 and all(kind != DBL for _, kind in columns):
            distinct = "distinct "
        text = f"select {distinct}{', '.join(items)} from {rel.text}{where}"
        if keys:
            ways: tuple[str, ...] = (
                ", ".join(keys),
                ", ".join(keys),
                ", ".join(name for name, _ in keys.values()),
                ", ".join(str(position) for position in range(1, len(keys) + 1)),
            )
            # For DuckDB, a subquery that reads no column is not a key of ALL.
            if not any("select" in key for key in keys):
                ways += ("all",)
            some = list(keys)
            sets = (
                f"grouping sets (({', '.join(some)}), {some[0]}, ({some[-1]}))",
                f"grouping sets (({', '.join(some)}), ())",
                f"rollup ({', '.join(some)})",
                f"cube ({', '.join(some)})",
            )
            text += f" group by {rng.choice(sets if rng.random() < 0.08 else ways)}"
        if rng.random() < 0.25:
            other, _ = self.aggregate(rel.columns)
            text += " having " + rng.choice(
                (
                    "count(*) > 1",
                    "count(*) <= 2",
                    f"{calls[0][0][0]} is not null",
                    f"{other} is not null",
                    f"not ({other} is null)",
                    f"count(*) > ({self._single('count', *self._any_numbers())})",
                    self._aggregate_test(rel.columns),
                    # DuckDB refuses it with keys that it infers.
                    "count(*) < 4" if text.endswith(" all") else self._key_test(rel, keys),
                )
            )
        return text, columns

    def _key_test(self, rel: Rel, keys: dict[str, Column]) -> str:
        """A subquery that reads keys, if these are columns."""
        columns = [column for column in rel.columns if column[0] in keys]
        return self.test(columns) if columns else "count(*) < 4"

    def _aggregate_test(self, columns: Sequence[Column]) -> str:
        """A subquery that reads an aggregate of the outer groups."""
        rng, table = self.rng, self.table()
        call, kind = self.aggregate(columns)
        values = of_kind(table.columns, kind)
        if kind == DBL or not values or call.startswith("avg"):
            call, values = "count(*)", of_kind(table.columns, INT)
        if rng.random() < 0.6 or "(*)" in call or "select" in call:
            return f"{call} {rng.choice(('in', 'not in'))} (select {rng.choice(values)} from {table.text})"
        test = (
            f"exists (select 1 from {table.text} where {rng.choice(values)} {rng.choice(('=', '<'))} {call})"
        )
        return rng.choice((test, f"not {test}", f"({test} or count(*) > 2)"))

    def aggregate(self, columns: Sequence[Column]) -> Column:
        """An aggregate, or an expression over aggregates."""
        rng = self.rng
        text, kind = self.scalar(columns)
        if self.chosen_rows and rng.random() < 0.08:
            call = f"{rng.choice(('first', 'last', 'any_value', 'first', 'last_value'))}({text})"
            around = ("", "", "", " ignore nulls", f" filter (where {self.predicate(columns)})")
            return f"{call}{rng.choice(around)}", kind
        calls = ["count(*)", f"count({text})", f"min({text})", f"max({text})"]
        if kind in (INT, DEC) or (kind == DBL and self.float_aggregates):
            calls += [f"sum({text})", f"sum({text})"]
        if kind == INT:  # in DuckDB, AVG of a decimal is a DOUBLE
            calls += [f"avg({text})", f"bit_xor({text})"]
        if rng.random() < 0.2:
            condition = self.predicate(columns)
            calls = [f"{call} filter (where {condition})" for call in calls]
            calls.append(f"count_if({condition})")
        elif rng.random() < 0.15 and kind != DBL:
            calls = [f"count(distinct {text})", *([f"sum(distinct {text})"] if kind in (INT, DEC) else [])]
            calls += [f"bit_xor(distinct {text})"] if kind == INT else []
        elif rng.random() < 0.05:
            condition = self.predicate(columns)
            return f"case when bool_{rng.choice(('and', 'or'))}({condition}) then 1 else 0 end", INT
        elif rng.random() < 0.05:
            one, other = self.predicate(columns), self.predicate(columns)
            text = rng.choice((one, f"not {one}", f"{one} and {other}", f"{one} or {other}"))
            return f"{rng.choice(('count', 'count', 'count_if'))}({text})", INT
        call = rng.choice(calls)
        result = INT if call.startswith("count") else DBL if call.startswith("avg") else kind
        if rng.random() < 0.15 and result == INT:
            return f"coalesce({call}, 0) + count(*)", INT
        return call, result


def kind_of(type_: str) -> str:
    """A column's kind, from the type that the engine reports."""
    if type_.startswith("decimal") and not type_.endswith(",0)"):
        return DEC
    return _KINDS.get(type_, INT)


def of_kind(columns: Sequence[Column], kind: str) -> list[str]:
    return [name for name, its in columns if its == kind]
