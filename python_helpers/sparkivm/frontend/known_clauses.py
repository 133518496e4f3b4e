"""The clauses of a query that we read. Any other clause is refused, because it would be ignored.

An allow-list: the parser knows the clauses of thirty dialects and attaches them wherever they occur.
"""

from __future__ import annotations

from sqlglot import exp

from sparkivm.frontend.place import not_supported

# They say how rows are spread over tasks, never which rows the result has.
_WITHOUT_EFFECT = frozenset({"hint", "cluster", "distribute", "sort"})
_PRESENTED = frozenset({"with_", "order", "limit", "offset"}) | _WITHOUT_EFFECT
_SET_OPERATION = frozenset({"this", "expression", "distinct"}) | _PRESENTED

_READ: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: _PRESENTED
    | {"expressions", "distinct", "from_", "laterals", "joins", "where", "group", "having", "windows"},
    exp.Union: _SET_OPERATION,
    exp.Intersect: _SET_OPERATION,
    exp.Except: _SET_OPERATION,
    exp.Subquery: _PRESENTED | {"this", "alias", "joins", "pivots"},
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias"}),
    exp.Table: frozenset({"this", "db", "catalog", "alias", "joins", "pivots"}),
    exp.Values: frozenset({"expressions", "alias", "pivots"}),
    exp.Join: frozenset({"this", "on", "using", "side", "kind", "method", "pivots", "hint"}),
    exp.Lateral: frozenset({"this", "view", "outer", "alias"}),
    exp.TableAlias: frozenset({"this", "columns"}),
    exp.Pivot: frozenset({"this", "expressions", "fields", "alias", "unpivot", "include_nulls"})
    # the parser derives these from the others
    | {"columns", "pivot_column_naming"},
    exp.Group: frozenset({"expressions", "all", "rollup", "cube", "grouping_sets"}),
    exp.Order: frozenset({"this", "expressions"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Limit: frozenset({"expression"}),
    exp.Offset: frozenset({"expression"}),
    exp.Distinct: frozenset({"expressions"}),
    exp.Star: frozenset({"except_"}),
    exp.Window: frozenset({"this", "partition_by", "order", "spec", "alias", "over"}),
    exp.WindowSpec: frozenset({"kind", "start", "start_side", "end", "end_side"}),
    exp.In: frozenset({"this", "expressions", "query"}),
}

_WORDS: dict[tuple[type[exp.Expr], str], str] = {
    (exp.With, "recursive"): "a recursive CTE",
    (exp.Distinct, "on"): "DISTINCT ON",
    (exp.Star, "replace"): "* with REPLACE",
    (exp.Star, "rename"): "* with RENAME",
    (exp.Table, "laterals"): "LATERAL VIEW within FROM",
    (exp.Table, "version"): "time travel",
    (exp.Table, "when"): "time travel",
    (exp.Table, "sample"): "TABLESAMPLE",
    (exp.Subquery, "sample"): "TABLESAMPLE",
}


def refuse_unknown_clauses(tree: exp.Expr) -> None:
    """Raises: NotIncremental for the first clause in a query that the compiler does not read."""
    for node in tree.walk():
        read = _READ.get(type(node))
        if read is None:
            continue
        for name, value in node.args.items():
            if value and name not in read:
                first = value[0] if isinstance(value, list) else value
                what = _WORDS.get((type(node), name), name.strip("_").replace("_", " ").upper())
                place = first if isinstance(first, exp.Expr) else node
                raise not_supported(what, place)
