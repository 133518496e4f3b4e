"""Random SELECTs over the tables of `random_data`: everything that the compiler says it maintains, nested."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.fuzz.random_data import COLUMNS, TABLES

INT, DEC, DBL, STR = "int", "dec", "dbl", "str"
_TYPES = {"int": INT, "bigint": INT, "decimal(12,2)": DEC, "double": DBL, "string": STR}


@dataclass
class Rel:
    """A FROM item under an alias: its text and its columns with their kinds."""

    text: str
    columns: list[tuple[str, str]]


@dataclass
class QueryMaker:
    """Writes one query; every alias is new, so that scopes are told apart by the compiler and not by luck."""

    rng: random.Random
    max_depth: int = 3
    float_aggregates: bool = True
    _count: int = 0
    ctes: list[str] = field(default_factory=list)
    cte_columns: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def query(self) -> str:
        """A whole model."""
        body, columns = self.select(self.rng.randint(0, self.max_depth), top=True)
        text = (f"with {', '.join(self.ctes)} " if self.ctes else "") + body
        if self.rng.random() < 0.15:
            name = self.rng.choice(columns)[0]
            text += f" order by {name}{self.rng.choice(('', ' desc', ' nulls last'))}"
        return text

    def fresh(self, prefix: str = "q") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    # FROM

    def item(self, depth: int) -> Rel:
        rng = self.rng
        if depth > 0 and rng.random() < 0.45:
            body, columns = self.select(depth - 1)
            alias = self.fresh()
            if rng.random() < 0.3:
                name = self.fresh("cte")
                self.ctes.append(f"{name} as ({body})")
                self.cte_columns[name] = columns
                return Rel(f"{name} as {alias}", [(f"{alias}.{c}", t) for c, t in columns])
            return Rel(f"({body}) as {alias}", [(f"{alias}.{c}", t) for c, t in columns])
        if self.cte_columns and rng.random() < 0.3:
            name = rng.choice(list(self.cte_columns))
            alias = self.fresh()
            return Rel(f"{name} as {alias}", [(f"{alias}.{c}", t) for c, t in self.cte_columns[name]])
        alias = self.fresh()
        columns = [(f"{alias}.{name}", _TYPES[type_]) for name, type_ in COLUMNS]
        return Rel(f"{rng.choice(TABLES)} as {alias}", columns)

    def from_clause(self, depth: int) -> Rel:
        rng = self.rng
        rel = self.item(depth)
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            other = self.item(depth)
            kind = rng.choice(("join", "join", "left join", "left join", "right join", "cross join", ","))
            if kind in ("cross join", ","):
                if kind == "," and "join" in rel.text:
                    kind = "cross join"
                separator = ", " if kind == "," else " cross join "
                rel = Rel(rel.text + separator + other.text, rel.columns + other.columns)
                continue
            if kind != "join" and "," in rel.text.split(" join ")[0]:
                kind = "join"
            on = self.join_predicate(rel, other)
            rel = Rel(f"{rel.text} {kind} {other.text} on {on}", rel.columns + other.columns)
        return rel

    def join_predicate(self, left: Rel, right: Rel) -> str:
        rng = self.rng
        parts: list[str] = []
        for _ in range(rng.choice((0, 1, 1, 1, 1, 2))):
            kind = rng.choice((INT, INT, INT, STR, DEC))
            mine = [c for c, t in left.columns if t == kind]
            other = [c for c, t in right.columns if t == kind]
            if mine and other:
                parts.append(
                    f"{rng.choice(mine)} {rng.choice(('=', '=', '=', '=', '<=>', '<'))} {rng.choice(other)}"
                )
        roll = rng.random()
        if roll < 0.12:
            parts.append(self.predicate(left.columns))
        elif roll < 0.24:
            parts.append(self.predicate(right.columns))
        elif roll < 0.3 and len(parts) > 1:
            return f"({parts[0]} or {parts[1]})"
        return " and ".join(parts) or rng.choice(
            ("true", "1 = 1", self.predicate(left.columns + right.columns))
        )

    # scalars

    def predicate(self, columns: list[tuple[str, str]]) -> str:
        rng = self.rng
        name, kind = rng.choice(columns)
        literal = {INT: "1", DEC: "0.01", DBL: "1.5", STR: "'a'"}[kind]
        same = [c for c, t in columns if t == kind]
        choices = [
            f"{name} is null",
            f"{name} is not null",
            f"{name} {rng.choice(('=', '<>', '>', '<=', '<=>'))} {literal}",
            f"{name} {rng.choice(('=', '>', '<=>'))} {rng.choice(same)}",
            f"coalesce({name}, {literal}) <> {rng.choice(same)}",
            f"{name} in ({literal}, {literal})",
            f"not ({name} = {literal})",
            f"({name} = {literal} or {rng.choice(same)} is null)",
            f"{name} between {literal} and {rng.choice(same)}",
            f"case when {name} > {literal} then true when {rng.choice(same)} is null then false end",
        ]
        return rng.choice(choices)

    def scalar(self, columns: list[tuple[str, str]]) -> tuple[str, str]:
        rng = self.rng
        name, kind = rng.choice(columns)
        if rng.random() < 0.6:
            return name, kind
        if kind == INT:
            other = rng.choice([c for c, t in columns if t == INT])
            return rng.choice(
                (f"{name} + 1", f"{name} * 2 - {other}", f"coalesce({name}, 0)", f"case when {name} > 0 then {other} end",
                 "1", f"-{name}", f"({name} + {other}) * 2", f"if({name} is null, 1, 0)")
            ), INT  # fmt: skip
        if kind == DEC:
            return rng.choice((f"{name} * 2", f"coalesce({name}, 1.50)", f"abs({name})", f"-{name}")), DEC
        if kind == DBL:
            return rng.choice((f"{name} * 2", f"coalesce({name}, 1.5)")), DBL
        return rng.choice((f"upper({name})", f"coalesce({name}, 'x')", f"concat({name}, 'z')")), STR

    # SELECT

    def select(self, depth: int, top: bool = False) -> tuple[str, list[tuple[str, str]]]:
        rng = self.rng
        if rng.random() < 0.12:
            return self.union(depth)
        rel = self.from_clause(depth)
        where = (
            f" where {' and '.join(self.predicate(rel.columns) for _ in range(rng.choice((1, 1, 2))))}"
            if rng.random() < 0.4
            else ""
        )
        shape = rng.random()
        if shape < 0.4:
            return self.grouped(rel, where, top)
        if shape < 0.45 and all(t != DBL for _, t in rel.columns) is False:
            pass
        items: list[str] = []
        columns: list[tuple[str, str]] = []
        for _ in range(rng.choice((1, 2, 3, 4))):
            text, kind = self.scalar(rel.columns)
            name = self.fresh("c")
            items.append(f"{text} as {name}")
            columns.append((name, kind))
        distinct = "distinct " if rng.random() < 0.15 else ""
        return f"select {distinct}{', '.join(items)} from {rel.text}{where}", columns

    def union(self, depth: int) -> tuple[str, list[tuple[str, str]]]:
        rng = self.rng
        kinds = [rng.choice((INT, DEC, STR)) for _ in range(rng.choice((1, 2)))]
        names = [self.fresh("c") for _ in kinds]
        branches = []
        for _ in range(rng.choice((2, 2, 3))):
            rel = self.from_clause(max(0, depth - 1))
            items = []
            for name, kind in zip(names, kinds, strict=True):
                of_kind = [c for c, t in rel.columns if t == kind]
                items.append(f"{rng.choice(of_kind) if of_kind else 'null'} as {name}")
            where = f" where {self.predicate(rel.columns)}" if rng.random() < 0.3 else ""
            branches.append(f"select {', '.join(items)} from {rel.text}{where}")
        word = rng.choice((" union all ", " union all ", " union "))
        return word.join(branches), list(zip(names, kinds, strict=True))

    def grouped(self, rel: Rel, where: str, top: bool) -> tuple[str, list[tuple[str, str]]]:
        rng = self.rng
        items: list[str] = []
        columns: list[tuple[str, str]] = []
        keys: list[str] = []
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            text, kind = self.scalar(rel.columns)
            if kind == DBL or text == "1" or text in keys:
                continue
            keys.append(text)
            name = self.fresh("g")
            items.append(f"{text} as {name}")
            columns.append((name, kind))
        calls: list[str] = []
        for _ in range(rng.choice((1, 2, 3))):
            text, kind = self.scalar(rel.columns)
            functions = ["count(*)", f"count({text})", f"min({text})", f"max({text})"]
            if kind in (INT, DEC):
                functions += [f"sum({text})", f"sum({text})"]
            if kind == INT:  # AVG of a decimal is a DOUBLE in DuckDB
                functions.append(f"avg({text})")
            if kind == DBL and self.float_aggregates:
                functions += [f"sum({text})"]
            call = rng.choice(functions)
            result = INT if call.startswith("count") else DBL if call.startswith("avg") else kind
            if rng.random() < 0.2 and result == INT:
                call, result = f"coalesce({call}, 0) + count(*)", INT
            name = self.fresh("m")
            calls.append(call)
            items.append(f"{call} as {name}")
            columns.append((name, result))
        text = f"select {', '.join(items)} from {rel.text}{where}"
        if keys:
            text += f" group by {', '.join(keys)}"
        if rng.random() < 0.25:
            text += f" having {rng.choice(('count(*) > 1', 'count(*) <= 2', calls[0] + ' is not null'))}"
        return text, columns
