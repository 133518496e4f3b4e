"""TPC-H's tables: columns with their Spark types, and rows at scale factor 1."""

_DEC = "decimal(15,2)"

TABLES = {
    "region": [("r_regionkey", "bigint"), ("r_name", "string")],
    "nation": [("n_nationkey", "bigint"), ("n_name", "string"), ("n_regionkey", "bigint")],
    "supplier": [("s_suppkey", "bigint"), ("s_name", "string"), ("s_nationkey", "bigint")],
    "customer": [("c_custkey", "bigint"), ("c_name", "string"), ("c_nationkey", "bigint"), ("c_mktsegment", "string")],
    "orders": [
        ("o_orderkey", "bigint"), ("o_custkey", "bigint"), ("o_totalprice", _DEC), ("o_orderdate", "date"),
        ("o_shippriority", "integer"),
    ],
    "lineitem": [
        ("l_orderkey", "bigint"), ("l_suppkey", "bigint"), ("l_linenumber", "integer"), ("l_quantity", _DEC),
        ("l_extendedprice", _DEC), ("l_discount", _DEC), ("l_tax", _DEC), ("l_returnflag", "string"),
        ("l_linestatus", "string"), ("l_shipdate", "date"),
    ],
}  # fmt: skip
ROWS = {
    "region": 5.0, "nation": 25.0, "supplier": 1e4, "customer": 1.5e5, "orders": 1.5e6, "lineitem": 6e6,
}  # fmt: skip
