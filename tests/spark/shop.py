"""Three small tables and four batches of hard changes: keys that change, groups that become empty."""

from __future__ import annotations

from tests.spark.lab import Lab

TABLES = ("orders", "customers", "items")
_COLUMNS = {
    "orders": "id int, customer int, amount decimal(10,2), qty int, note string, at date",
    "customers": "id int, name string, region string, credit decimal(12,3)",
    "items": "order_id int, product string, n bigint, w27 decimal(27,6), w38 decimal(38,10), w32 decimal(32,4), f double, w18 decimal(18,8)",
}
_ROWS = {
    "orders": (
        "(1, 1, 10.50, 1, 'a', date'2024-01-01')",
        "(2, 1, 2.25, 2, 'b', date'2024-01-02')",
        "(3, 2, null, 3, null, null)",
        "(4, null, 7.00, 1, 'a', date'2024-02-01')",
        "(5, 9, 0.01, null, 'B', date'2023-12-31')",
        "(5, 9, 0.01, null, 'B', date'2023-12-31')",
    ),
    "customers": (
        "(1, 'Ada', 'eu', 5.125)",
        "(2, 'Bob', 'us', 100)",
        "(3, 'Cyd', 'eu', null)",
        "(null, 'Nil', null, 0)",
    ),
    "items": (
        "(1, 'a', 1, 1.000001, 1.0000000001, 99.9999, 1e16, 1)",
        "(1, 'a', 2, -5.5, 123456789.0000000002, 0.0001, 1.0, 0.00000001)",
        "(2, 'b', null, null, null, null, null, null)",
        "(3, null, 3, 0, 0, 0, 0.5, 9999999999.99999999)",
    ),
}
_BATCHES = (
    (  # rows are added to every table; customer 9 gets the row that its order lacked
        "insert into orders values (6, 2, 3.30, 4, 'a', date'2024-03-01'), (7, 3, null, null, null, null)",
        "insert into customers values (9, 'Ian', 'us', 1.5), (9, 'Ina', 'eu', 2.5)",
        "insert into items values (6, 'a', 4, 12345678901234567.123456, 2, 3, 2.5, 0.00000003), (4, 'c', 1, 1, 1, 1, 0.25, null)",
    ),
    (  # keys move; extrema and one of two equal rows go; several commits per table
        "update orders set customer = 2 where id = 1",
        "update orders set customer = 1, note = null where id = 4",
        "delete from orders where id = 2",
        "update customers set id = 1, region = 'us' where name = 'Bob'",
        "delete from customers where name = 'Ian'",
        "delete from items where f = 1e16",
        "merge into items as t using (select 3 as k) as s on t.order_id = s.k when matched then update set "
        "order_id = 1, f = 0.75 when not matched then insert (order_id) values (s.k)",
    ),
    (  # groups and a whole table become empty; one change is undone
        "delete from orders where customer in (2, 9)",
        "truncate table customers",
        "insert into items values (8, 'z', 1, 1, 1, 1, 1, 1)",
        "delete from items where order_id = 8 or product = 'a'",
        "insert into orders values (10, 1, 4.00, 2, 'a', date'2024-05-05')",
    ),
    (  # they come back; one order goes
        "delete from orders where id = 10",
        "insert into orders values (1, 2, 10.50, 1, 'a', date'2024-01-01'), (8, 9, -1.00, 0, '', date'2025-01-01')",
        "insert into customers values (2, 'Bob', 'eu', 3), (9, 'Ina', 'eu', 2.5), (4, 'Dan', 'moon', 0)",
        "insert into items values (1, 'a', 7, 0.5, 0.5, 0.5, 0.125, 0.12345678)",
        "update items set n = n + 1",
    ),
)


def open_shop(lab: Lab) -> None:
    for table in TABLES:
        lab.table(table, _COLUMNS[table], *_ROWS[table])


def change(lab: Lab, batch: int) -> None:
    lab.run(*_BATCHES[batch])
