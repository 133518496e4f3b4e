"""Small TPC-DS tables in which most queries find rows.

The generator's smallest tables are thinned out: facts to some tickets and orders, dimensions to the rows that
facts refer to, after folding the facts' keys into a short range. The queries ask for single colors, cities or
managers, so many dimension rows get attributes that some query asks for.
"""

from __future__ import annotations

import hashlib
import random
import re
from pathlib import Path

import duckdb
import sqlglot
from sqlglot import exp

from benchmarks.paths import BUILD
from tests.tpcds.generator import connection, create_tables, query_texts

FACTS = (
    *("store_sales", "store_returns", "catalog_sales", "catalog_returns", "web_sales", "web_returns"),
    "inventory",
)
DIMENSIONS = (
    *("call_center", "catalog_page", "customer", "customer_address", "customer_demographics", "date_dim"),
    *("household_demographics", "income_band", "item", "promotion", "reason", "ship_mode", "store"),
    *("time_dim", "warehouse", "web_page", "web_site"),
)
TABLES = (*FACTS, *DIMENSIONS)

_SCALE = 0.01
_SEED = 12  # of a few seeds, the one with which most queries find rows
_LINES = {  # the columns with a line's order and item
    "store_sales": ("ss_ticket_number", "ss_item_sk"),
    "store_returns": ("sr_ticket_number", "sr_item_sk"),
    "catalog_sales": ("cs_order_number", "cs_item_sk"),
    "catalog_returns": ("cr_order_number", "cr_item_sk"),
    "web_sales": ("ws_order_number", "ws_item_sk"),
    "web_returns": ("wr_order_number", "wr_item_sk"),
    "inventory": ("inv_date_sk", "inv_item_sk"),
}
# One in this many stays: orders with all lines, single lines, returned lines, inventory.
_ORDER, _LINE, _RETURNED, _INVENTORY = 25, 14, 3, 12
# Rows kept of a dimension, by the ending of its key.
_KEYS = {
    "item_sk": 40, "customer_sk": 60, "addr_sk": 40, "address_sk": 40, "cdemo_sk": 60, "demo_sk": 60, "hdemo_sk": 30,
    "store_sk": 12, "warehouse_sk": 4, "call_center_sk": 3, "web_page_sk": 4, "site_sk": 3,
    "catalog_page_sk": 12, "promo_sk": 5, "reason_sk": 4, "ship_mode_sk": 8,
}  # fmt: skip
_INVENTORY_DAYS = (2451911, 2451969)  # much of January and February 2001 stays
_FEW = 12  # rows of a small dimension: the generator has one store, so copies are added and facts spread over them
_PER_ORDER = ("store_sk", "call_center_sk", "site_sk")
_EVERY_SECONDS = 911  # seconds between events
_EVERY_DAYS = 13  # and on the days that queries name
_FIRST_DAY, _LAST_DAY = "1998-01-01", "2003-06-30"
_FAVORS = {  # values that rare conditions ask for, and one in how many rows gets them
    "store_sales": ("ss_ext_sales_price = 1000", "ss_sales_price = 120, ss_net_profit = 175"),
    "catalog_sales": ("cs_ext_sales_price = 1000", "cs_net_profit = 175"),
    "web_sales": ("ws_ext_sales_price = 1000", "ws_sales_price = 120, ws_net_profit = 175"),
    "store_returns": ("sr_return_amt = 10500",),
    "catalog_returns": ("cr_return_amount = 10500",),
    "web_returns": ("wr_return_amt = 10500",),
    "inventory": ("inv_quantity_on_hand = 1",),
    "customer": ("c_preferred_cust_flag = 'Y'",),
    "customer_address": (
        *("ca_zip = '24128'", "ca_county = 'Williamson County', ca_state = 'TN'", "ca_gmt_offset = -7"),
        *("ca_state = 'TX', ca_country = 'United States'", "ca_state = 'IL'", "ca_state = 'GA'"),
    ),
    "customer_demographics": (
        *("cd_education_status = 'Advanced Degree'", "cd_marital_status = 'M'", "cd_marital_status = 'W'"),
    ),
    "household_demographics": ("hd_dep_count = 3", "hd_buy_potential = 'Unknown'"),
    "store": ("s_zip = '24128'", "s_market_id = 8"),
    "item": ("i_category = 'Women', i_class = 'maternity'", "i_color = 'peach'", "i_manufact_id = 350"),
    "web_site": ("web_company_name = 'pri'",),
}
_FAVORED = 3
_SHARE = 0.8  # the share of the dimensions' rows that are fitted to a query


def generate() -> Path:
    """A parquet file per table, generated once for each version of this module."""
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    directory = BUILD / "tpcds" / version
    if not directory.exists():
        partial = directory.with_name(f".{version}")
        partial.mkdir(parents=True, exist_ok=True)
        database = connection()
        columns = create_tables(database, _SCALE)
        assert columns.keys() == set(TABLES)
        _thin_out(database, columns)
        _please_queries(database, columns)
        _favor(database)
        for table in TABLES:
            database.execute(f"copy {table} to '{partial / table}.parquet'")
        partial.rename(directory)
    return directory


def _thin_out(database: duckdb.DuckDBPyConnection, columns: dict[str, dict[str, str]]) -> None:
    for sales, returns in zip(FACTS[:-1:2], FACTS[1::2], strict=True):
        (number, item), (returned_number, returned_item) = _LINES[sales], _LINES[returns]
        returned = f"({number}, {item}) in (select ({returned_number}, {returned_item}) from {returns})"
        database.execute(
            f"delete from {sales} where hash({number}) % {_ORDER} > 0 and hash({number}, {item}) % {_LINE} > 0 "
            f"and not ({returned} and hash({number}, {item}) % {_RETURNED} = 0)"
        )
        sold = f"({returned_number}, {returned_item}) in (select ({number}, {item}) from {sales})"
        database.execute(f"delete from {returns} where not {sold}")
    compared = f"inv_item_sk <= 20 and inv_date_sk between {_INVENTORY_DAYS[0]} and {_INVENTORY_DAYS[1]}"
    database.execute(f"delete from inventory where hash(inventory) % {_INVENTORY} > 0 and not ({compared})")
    # The smallest scale has no catalog sales in 2002.
    database.execute(
        f"update catalog_sales set cs_sold_date_sk = cs_sold_date_sk + {4 * 364}, "
        f"cs_ship_date_sk = cs_ship_date_sk + {4 * 364} "
        f"where cs_order_number % 2 = 0 and cs_sold_date_sk < (select min(d_date_sk) from date_dim where d_year = 1999)"
    )
    database.execute(f"delete from date_dim where d_date not between '{_FIRST_DAY}' and '{_LAST_DAY}'")
    database.execute(f"delete from time_dim where t_time_sk % {_EVERY_SECONDS} <> 0")
    database.execute(
        f"create temp table busy_days as select d_date_sk as day from date_dim "
        f"where d_date_sk % {_EVERY_DAYS} = 0 or d_date in ({', '.join(_named_days())})"
    )
    for table, types in columns.items():
        _more_rows(database, table, list(types))
        if table in DIMENSIONS:
            key, most = next(iter(types)), _rows_of(next(iter(types)))
            if most:
                database.execute(f"delete from {table} where {key} > {most}")
        keys = list(types)[table in DIMENSIONS :]
        folded = {column: _folded(table, column) for column in keys}
        changed = ", ".join(f"{column} = {text}" for column, text in folded.items() if text)
        if changed:
            database.execute(f"update {table} set {changed}")


def _named_days() -> list[str]:
    texts = "".join(query_texts().values())
    return sorted(set(re.findall(r"'\d{4}-\d{2}-\d{2}'", texts)))


def _more_rows(database: duckdb.DuckDBPyConnection, table: str, columns: list[str]) -> None:
    """Add copies under further keys to a dimension with too few rows, such as a single store or warehouse."""
    key = columns[0]
    wanted = _rows_of(key) if table in DIMENSIONS else 0
    (have,) = database.execute(f"select count(*) from {table}").fetchone() or (0,)
    if 0 < have < wanted:
        rest = ", ".join(columns[1:])
        database.execute(
            f"insert into {table} select {key} + {have} * n, {rest} from {table}, range(1, {wanted // have + 1}) as _(n)"
        )


def _rows_of(key: str) -> int:
    name = key.partition("_")[2]
    return next((rows for ending, rows in _KEYS.items() if name == ending or name.endswith(f"_{ending}")), 0)


def _folded(table: str, column: str) -> str:
    """A key folded into the remaining range of its dimension; "" if the column is not such a key."""
    if column.endswith("_time_sk"):
        return f"{column} - {column} % {_EVERY_SECONDS}"
    if column.endswith("_date_sk"):
        return f"(select max(day) from busy_days where day <= {column})"
    rows = _rows_of(column)
    if table not in FACTS or rows > _FEW:
        return f"{column} % {rows} + 1" if rows else ""
    order = ", ".join(_LINES[table][: 1 if column.endswith(_PER_ORDER) else 2])
    return (
        f"case when {column} is not null then hash({order}, '{column[2:]}') % {rows} + 1 end" if rows else ""
    )


def _please_queries(database: duckdb.DuckDBPyConnection, columns: dict[str, dict[str, str]]) -> None:
    """For each query in turn, give a dimension row the attributes that its conditions ask for.

    The row also serves other queries whose conditions do not contradict.
    """
    rng = random.Random(_SEED)
    conditions = [_conditions(text) for text in query_texts().values()]
    for table in sorted(set(DIMENSIONS) - {"date_dim", "time_dim", "income_band"}):
        key, *attributes = columns[table]
        free = {column for column in attributes if not column.endswith("_sk")}
        asking = [wheres for wheres in conditions if any(free & _wish(where, rng).keys() for where in wheres)]
        keys = database.execute(f"select distinct {key} from {table} order by 1").fetchall()
        for position, (identity,) in enumerate(keys):
            if not asking or rng.random() > _SHARE:
                continue
            granted: dict[str, str] = {}
            first = position % len(asking)
            for wheres in (asking[first], *rng.sample(asking, len(asking))):
                wishes = {
                    column: value
                    for where in wheres
                    for column, value in _wish(where, rng).items()
                    if column in free
                }
                if all(granted.get(column, value) == value for column, value in wishes.items()):
                    granted |= wishes
            if granted:
                texts = ", ".join(f"{column} = {value}" for column, value in granted.items())
                database.execute(f"update {table} set {texts} where {key} = {identity}")


def _favor(database: duckdb.DuckDBPyConnection) -> None:
    for table, favors in _FAVORS.items():
        for number, favor in enumerate(favors):
            database.execute(f"update {table} set {favor} where hash({table}, {number}) % {_FAVORED} = 0")


def _conditions(text: str) -> list[exp.Expr]:
    return [where.this for where in sqlglot.parse_one(text, dialect="duckdb").find_all(exp.Where)]


def _wish(condition: exp.Expr, rng: random.Random) -> dict[str, str]:
    """Column → literal, so that the condition's parts about single columns are likely to hold."""
    match condition:
        case exp.Paren():
            return _wish(condition.this, rng)
        case exp.And():
            return _wish(condition.this, rng) | _wish(condition.expression, rng)
        case exp.Or():
            return _wish(rng.choice(list(condition.flatten())), rng)
        case exp.EQ():
            values = [condition.expression]
        case exp.In():
            values = condition.expressions
        case exp.Between():
            values = [condition.args["low"]]
        case _:
            return {}
    literals = [value for value in values if isinstance(value, exp.Literal)]
    compared = list(condition.this.find_all(exp.Column))
    if not literals or len(compared) != 1:
        return {}
    return {compared[0].name: rng.choice(literals).sql(dialect="duckdb")}
