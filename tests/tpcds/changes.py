"""Random changes of the TPC-DS tables, as statements that both Spark and DuckDB run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

# What an update sets: keys move to other rows, values become NULL. Scalar subqueries read a single day's d_week_seq
# and month's d_month_seq, so each date must be unique and each month have one number. A NULL d_date ties in frames.
_SETS: dict[str, Sequence[str]] = {
    "store_sales": (
        "ss_quantity = 11",
        "ss_item_sk = pmod(ss_item_sk, 40) + 1",
        "ss_customer_sk = pmod(ss_customer_sk * 7, 60) + 1",
        "ss_customer_sk = null",
        "ss_sold_date_sk = ss_sold_date_sk + 364",
        "ss_sold_date_sk = null",
        "ss_ticket_number = ss_ticket_number + 1",
        "ss_store_sk = pmod(ss_store_sk, 12) + 1",
        "ss_ext_sales_price = null, ss_net_profit = -ss_net_profit",
        "ss_sales_price = 120.50, ss_list_price = 140.00",
        "ss_promo_sk = 1, ss_addr_sk = 2",
    ),
    "store_returns": (
        "sr_return_quantity = null",
        "sr_ticket_number = sr_ticket_number + 1",
        "sr_customer_sk = pmod(sr_customer_sk, 60) + 1",
        "sr_returned_date_sk = sr_returned_date_sk + 91",
        "sr_return_amt = 77.00, sr_net_loss = null",
        "sr_store_sk = null",
    ),
    "catalog_sales": (
        "cs_quantity = 11",
        "cs_item_sk = pmod(cs_item_sk, 40) + 1",
        "cs_bill_customer_sk = pmod(cs_bill_customer_sk * 7, 60) + 1",
        "cs_bill_customer_sk = null, cs_ship_addr_sk = null",
        "cs_sold_date_sk = cs_sold_date_sk + 364",
        "cs_ship_date_sk = cs_sold_date_sk + 39",
        "cs_warehouse_sk = pmod(cs_warehouse_sk, 4) + 1",
        "cs_order_number = cs_order_number + 1",
        "cs_ext_sales_price = null, cs_net_profit = -cs_net_profit",
        "cs_list_price = 140.00, cs_sales_price = 500.10",
    ),
    "catalog_returns": (
        "cr_return_quantity = null",
        "cr_order_number = cr_order_number + 1",
        "cr_returning_customer_sk = pmod(cr_returning_customer_sk, 60) + 1",
        "cr_returned_date_sk = cr_returned_date_sk + 91",
        "cr_return_amount = 20000.00, cr_net_loss = null",
        "cr_call_center_sk = null",
    ),
    "web_sales": (
        "ws_quantity = 11",
        "ws_item_sk = pmod(ws_item_sk, 40) + 1",
        "ws_bill_customer_sk = pmod(ws_bill_customer_sk * 7, 60) + 1",
        "ws_bill_customer_sk = null",
        "ws_sold_date_sk = ws_sold_date_sk + 364",
        "ws_ship_date_sk = ws_sold_date_sk + 39, ws_warehouse_sk = 1",
        "ws_order_number = ws_order_number + 1",
        "ws_ext_sales_price = null, ws_net_profit = -ws_net_profit",
        "ws_web_site_sk = pmod(ws_web_site_sk, 3) + 1, ws_web_page_sk = 2",
        "ws_net_paid = 300.00, ws_sales_price = 160.00",
    ),
    "web_returns": (
        "wr_return_quantity = null",
        "wr_order_number = wr_order_number + 1",
        "wr_returning_customer_sk = pmod(wr_returning_customer_sk, 60) + 1",
        "wr_returned_date_sk = wr_returned_date_sk + 91",
        "wr_return_amt = 20000.00, wr_net_loss = null",
        "wr_web_page_sk = null",
    ),
    "inventory": (
        "inv_quantity_on_hand = 0",
        "inv_quantity_on_hand = null",
        "inv_item_sk = pmod(inv_item_sk, 40) + 1",
        "inv_warehouse_sk = pmod(inv_warehouse_sk, 4) + 1",
        "inv_date_sk = inv_date_sk + 13",
    ),
    "customer": (
        "c_last_name = 'Smith', c_first_name = null",
        "c_current_addr_sk = pmod(c_current_addr_sk, 40) + 1",
        "c_current_cdemo_sk = null",
        "c_customer_sk = pmod(c_customer_sk, 60) + 1",
        "c_birth_country = 'CHILE', c_preferred_cust_flag = 'Y'",
        "c_birth_month = 1, c_customer_id = 'AAAAAAAABAAAAAAA'",
    ),
    "customer_address": (
        "ca_state = 'GA', ca_gmt_offset = -5",
        "ca_zip = null",
        "ca_city = 'Midway', ca_county = 'Walker County'",
        "ca_address_sk = pmod(ca_address_sk, 40) + 1",
    ),
    "item": (
        "i_category = 'Books', i_class = 'business'",
        "i_brand = null, i_brand_id = 1001001",
        "i_item_sk = pmod(i_item_sk, 40) + 1",
        "i_current_price = i_current_price / 2",
        "i_color = 'pale', i_size = 'medium', i_units = 'Ounce'",
        "i_manufact_id = null, i_manager_id = 1",
        "i_item_id = 'AAAAAAAACAAAAAAA'",
    ),
    "store": (
        "s_state = 'TN', s_county = 'Williamson County'",
        "s_store_name = 'ese', s_gmt_offset = -5",
        "s_store_sk = pmod(s_store_sk, 12) + 1",
        "s_zip = null",
        "s_number_employees = 250, s_city = 'Fairview'",
    ),
    "date_dim": (
        "d_qoy = null",
        "d_day_name = 'Sunday', d_dow = 0",
        "d_date = d_date + interval '10' year",
        "d_year = null",
        "d_date_sk = d_date_sk + 13",
        "d_quarter_name = '2001Q1'",
    ),
}  # fmt: skip
# For these tables, a new row is an old one with other values; for others it may be a copy.
_NEW: dict[str, dict[str, str]] = {
    "date_dim": {
        "d_date": "d_date + interval '10' year",
        "d_year": "d_year + 10",
        "d_month_seq": "d_month_seq + 120",
        "d_dom": "null",
    }
}
# One statement writes one in this many rows.
_SHARES = {"customer": 25, "customer_address": 15, "item": 15, "store": 6, "date_dim": 150}
_SHARE_OF_FACTS = 90

CHANGING = tuple(_SETS)


def changes(
    rng: random.Random, table: str, columns: Sequence[str], hashed: Callable[[str], str]
) -> Iterator[str]:
    """Two to four statements that insert, update and delete some rows of a table.

    hashed  the SQL call that computes a number, 0 or greater, from the values in a list
    """

    def some() -> str:
        """A condition for a few rows, independent of their keys."""
        values = ", ".join([*columns, str(rng.randrange(10**6))])
        return f"{hashed(values)} % {_SHARES.get(table, _SHARE_OF_FACTS)} = 0"

    def insert() -> str:
        items = [_NEW.get(table, {}).get(column, column) for column in columns]
        return f"insert into {table} select {', '.join(items)} from {table} where {some()}"

    def update() -> str:
        return f"update {table} set {rng.choice(_SETS[table])} where {some()}"

    def delete() -> str:
        return f"delete from {table} where {some()}"

    ways = [insert, update, update, delete]
    rng.shuffle(ways)
    for way in ways[: rng.randint(2, 4)]:
        yield way()
