"""Random data types, with any field names that people may think of."""

from __future__ import annotations

from hypothesis import strategies as st

from sparkivm.spark.data_types import SparkType

LEAVES = (
    *"tinyint smallint int bigint float double boolean binary date timestamp timestamp_ntz variant void".split(),
    *"string decimal(10,2) decimal(38,10)".split(),
    *("string collate UNICODE_CI", "interval", "interval year to month", "interval day to second"),
    *("interval year", "interval hour to minute"),
)
# Pieces of type texts, so that some field names look like types.
_PIECES = (
    *("a", "b", "é", " ", ".", "-", "`", ":", ",", "<", ">", "(", ")", "1", "'"),
    *("int", "variant", "map<", "struct<", "array<", "string collate X", ":double", "decimal(1,", ">,"),
)
names = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=4).map("".join)


def nested(
    leaves: st.SearchStrategy[SparkType], names: st.SearchStrategy[str]
) -> st.SearchStrategy[SparkType]:
    """Types with these leaves and these field names."""
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(lambda part: SparkType("array", parts=(part,))),
            st.tuples(inner, inner).map(lambda parts: SparkType("map", parts=parts)),
            st.lists(st.tuples(names, inner), max_size=3, unique_by=lambda field: field[0].lower()).map(
                lambda fields: SparkType(
                    "struct", parts=tuple(part for _, part in fields), names=tuple(name for name, _ in fields)
                )
            ),
        ),
        max_leaves=6,
    )


def printed(type_: SparkType) -> str:
    """The type as Spark prints it, without quotes around names."""
    if type_.word not in ("array", "map", "struct"):
        return str(type_)
    parts = [printed(part) for part in type_.parts]
    if type_.word == "struct":
        parts = [f"{name}:{part}" for name, part in zip(type_.names, parts, strict=True)]
    return f"{type_.word}<{','.join(parts)}>"
