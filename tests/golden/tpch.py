"""TPC-H's tables: columns with their Spark types, and rows at scale factor 1."""

_DEC = "decimal(15,2)"

TABLES = {
    "region": [("r_regionkey", "bigint"), ("r_name", "string"), ("r_comment", "string")],
    "nation": [
        ("n_nationkey", "bigint"), ("n_name", "string"), ("n_regionkey", "bigint"), ("n_comment", "string"),
    ],
    "supplier": [
        ("s_suppkey", "bigint"), ("s_name", "string"), ("s_address", "string"), ("s_nationkey", "bigint"),
        ("s_phone", "string"), ("s_acctbal", _DEC), ("s_comment", "string"),
    ],
    "customer": [
        ("c_custkey", "bigint"), ("c_name", "string"), ("c_address", "string"), ("c_nationkey", "bigint"),
        ("c_phone", "string"), ("c_acctbal", _DEC), ("c_mktsegment", "string"), ("c_comment", "string"),
    ],
    "part": [
        ("p_partkey", "bigint"), ("p_name", "string"), ("p_mfgr", "string"), ("p_brand", "string"),
        ("p_type", "string"), ("p_size", "integer"), ("p_container", "string"), ("p_retailprice", _DEC),
        ("p_comment", "string"),
    ],
    "partsupp": [
        ("ps_partkey", "bigint"), ("ps_suppkey", "bigint"), ("ps_availqty", "integer"),
        ("ps_supplycost", _DEC), ("ps_comment", "string"),
    ],
    "orders": [
        ("o_orderkey", "bigint"), ("o_custkey", "bigint"), ("o_orderstatus", "string"),
        ("o_totalprice", _DEC), ("o_orderdate", "date"), ("o_orderpriority", "string"), ("o_clerk", "string"),
        ("o_shippriority", "integer"), ("o_comment", "string"),
    ],
    "lineitem": [
        ("l_orderkey", "bigint"), ("l_partkey", "bigint"), ("l_suppkey", "bigint"),
        ("l_linenumber", "integer"), ("l_quantity", _DEC), ("l_extendedprice", _DEC), ("l_discount", _DEC),
        ("l_tax", _DEC), ("l_returnflag", "string"), ("l_linestatus", "string"), ("l_shipdate", "date"),
        ("l_commitdate", "date"), ("l_receiptdate", "date"), ("l_shipinstruct", "string"),
        ("l_shipmode", "string"), ("l_comment", "string"),
    ],
}  # fmt: skip
ROWS = {
    "region": 5.0, "nation": 25.0, "supplier": 1e4, "customer": 1.5e5, "part": 2e5, "partsupp": 8e5,
    "orders": 1.5e6, "lineitem": 6e6,
}  # fmt: skip
