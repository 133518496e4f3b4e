"""Every construct that can be incremental, on Delta: after each batch of commits the view equals its query.

All of them share three tables and four batches, so that commits are made only once. Each refresh after the first
must be incremental. Each run tests one construct of each operator in each apply form; the nightly run tests all.
"""

from __future__ import annotations

from typing import get_args

import pytest

from sparkivm import algebra
from sparkivm.algebra import AnyRelation
from sparkivm.formats import STATE_FORMATS
from sparkivm.refresh.result import RefreshResult
from tests.nightly import few_of
from tests.spark.lab import Lab, View, side_by_side
from tests.spark.shop import change, open_shop
from tests.spark.state_sizes import Size, take_states_for
from tests.spark_settings import SOURCES, STATES

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FAMILIES = {
    "rows": {
        "projection": "select id, amount * qty as total, upper(note) as note from orders",
        "filter": "select id from orders where qty > 1 and (note is not null or amount between 1 and 20)",
        "star": "select * from customers",
        "stars": "select o.*, o.qty + 1 as more from orders as o where not note like 'b%'",
        "derived_table": "select x.k, x.k + 1 as next from (select qty * 2 as k from orders where amount > 0) as x",
        "no_from": "select 1 as one, cast(null as string) as nothing",
        "distinct": "select distinct customer, note from orders",
        "functions_of_text": "select id, split_part(note, 'a', 1) as p, regexp_count(note, 'a') as r, base64(note) as b64, "
        "get_json_object(concat('{\"k\": \"', note, '\"}'), '$.k') as j, substr(note, 1, 1) as s, instr(note, 'b') as i, "
        "note rlike '^a' as m, nvl(note, '-') as n, lpad(note, 3, '*') as l, format_string('%s!', note) as f from orders",
        "functions_of_time": "select id, date_format(at, 'yyyy-MM') as month, to_date(cast(at as string), 'yyyy-MM-dd') as d, "
        "date_part('year', at) as y, months_between(at, date'2024-01-01') as mb, next_day(at, 'mon') as nd, "
        "unix_timestamp(cast(at as string), 'yyyy-MM-dd') as u, date_trunc('month', at) as t, datediff(at, date'2024-01-01') "
        "as dd, date_sub(at, 1) as ds, at + interval 1 day as tomorrow, at + interval '1-2' year to month as later, make_date(year(at), 1, 1) as jan from orders",
        "functions_with_units": "select id, qty as day, datediff(DAY, at, date'2024-01-09') as d, timestampdiff(month, at, "
        "date'2024-01-09') as m, date_diff(week, at, date'2024-01-09') as w, timestampadd(quarter, qty, at) as q, "
        "dateadd(year, 1, at) as y, date_add(hour, 1, at) as h, date_add(at, 1) as n, datediff(at, at) as z from orders",
        "text_in_other_words": "select id, len(note) as l, regexp_replace(note, r'\\W|a', '') as w, '\\W' as t from orders",
        "values_in_parentheses": "select o.id, m.label from orders o join (values ('a', 'first'), ('b', 'second')) as m(note, label) "
        "on o.note = m.note",
        "values_of_types": "select o.id, v.x from orders o join (values (1, 1), (2, 2.5), (3, 1.5e0), (4, null)) as v(k, x) on o.qty = v.k",
        "unions_of_types": "select qty as x from orders union all select amount from orders union all select 1.5e0 union all select note "
        "from orders union all (select qty from orders union all select cast(id as double) from customers)",
        "functions_of_numbers": "select id, round(amount, 1) as r, ceil(amount) as c, width_bucket(qty, 0, 10, 5) as w, "
        "qty % 2 as m, pmod(-qty, 3) as p, shiftleft(qty, 1) as s, qty << 1 as s2, try_divide(amount, qty) as q, "
        "log10(qty) as l, pow(qty, 2) as p2, greatest(qty, 2) as g, hash(qty, note) as h, conv(qty, 10, 2) as b from orders",
        "functions_of_nested": "select id, array_join(sort_array(array(note, 'm')), ',') as a, element_at(array(qty, 1), 1) as e, "
        "map('k', qty)['k'] as m, named_struct('q', qty).q as q, size(split(note, 'a')) as n, to_json(struct(qty)) as j, "
        "from_json(concat('{\"q\":', qty, '}'), 'q int').q as back, array_contains(array(1, qty), 2) as c, "
        "cast(struct(id, qty) as struct<x: bigint, y: string>) as casted from orders",
        "fields_by_name": "select id, to_json(arrays_zip(x, Y)) as two, to_json(arrays_zip(x)) as one, arrays_zip(x, y, array(id)) as three, "
        "to_json((id, q, q + 1)) as t, to_json(transform(x, e -> struct(e, id, q as e2))) as l from (select id, qty as q, "
        "array(qty, 2) as x, if(qty > 2, null, array(note)) as y from orders)",
        "fields_of_json": 'select id, q, e.p from (select id, j.* from (select id, from_json(concat(\'{"q":\', qty, \',"l":[{"p":\', '
        "qty, '}]}'), 'q int, l array<struct<p: int>>') as j from orders) as x) as y lateral view outer explode(l) t as e",
        "lambdas": "select id, transform(array(qty, 1), x -> x + o.qty) as t, exists(array(o.note), n -> n = 'a') as e, "
        "aggregate(filter(array(qty, 5), x -> x > 1), 0, (acc, x) -> acc + x) as s from orders o",
        "names_as_ours": "select q1, q2, copies, max(copy) as q3 from (select struct(customer as id) as q1, qty as q2, id as copies, "
        "generated as copy from orders lateral view explode(array(qty, 1)) as generated) group by q1, q2, copies",
        "semicolon": "select id -- the key\nfrom orders /* all */ ;",
    },
    "inner_joins": {
        "two": "select o.id, c.name from orders as o join customers as c on o.customer = c.id",
        "three": "select o.id, c.name, i.product, i.n from orders o join customers c on o.customer = c.id "
        "join items i on i.order_id = o.id where i.n > 0",
        "self": "select a.id, b.id as other from orders a join orders b on a.customer = b.customer and a.id < b.id",
        "cross": "select o.id, c.id as customer from orders as o cross join customers as c",
        "comma": "select o.id, c.region from orders o, customers c where o.customer = c.id and c.credit > o.amount",
        "not_equal": "select o.id, c.id as richer from orders as o join customers as c on o.amount < c.credit",
        "null_safe": "select o.id, i.n from orders as o join items as i on o.note <=> i.product",
        "using": "select * from (select id, qty from orders) a join (select id, name from customers) b using (id)",
    },
    "outer_joins": {
        "left": "select o.id, c.name from orders as o left join customers as c on o.customer = c.id",
        "right": "select o.id, c.name from orders as o right join customers as c on o.customer = c.id",
        "one_side": "select o.id, c.id as c from orders as o left join customers as c on o.qty > 1 and c.region = 'eu'",
        "residual": "select o.id, c.name from orders o left join customers c on o.customer = c.id and c.credit > o.amount",
        "not_equal": "select c.id, o.id as o from customers as c left join orders as o on c.credit < o.amount",
        "chain": "select c.id, o.id as o, i.product from customers c left join orders o on o.customer = c.id "
        "left join items i on i.order_id = o.id",
        "rejected": "select o.id, c.name from orders o left join customers c on o.customer = c.id where c.region = 'eu'",
        "absent": "select c.id from customers as c left join orders as o on o.customer = c.id where o.id is null",
    },
    "unions": {
        "all": "select id, note from orders where qty > 1 union all select id, name from customers",
        "types": "select qty as x, note as t from orders union all select credit, cast(id as string) from customers "
        "union all select f, product from items",
        "same_twice": "select customer as x from orders union all select customer from orders where qty = 1",
        "ordered": "select id, note from orders union all select id, name from customers order by length(note) desc, -id, note limit 7",
        "distinct": "select customer as id from orders union select id from customers",
        "cte_twice": "with big as (select customer, amount from orders where amount > 2) "
        "select a.customer, b.amount from big as a join big as b on a.customer = b.customer",
        "ctes": "with a as (select id, customer from orders), b as (select a.id, c.region from a "
        "left join customers c on a.customer = c.id) select region, count(*) as n from b group by region",
    },
    "subqueries": {
        "exists": "select id from orders o where exists (select 1 from items i where i.order_id = o.id and i.n > 1)",
        "not_in": "select id from customers where id not in (select customer from orders where qty > 2 and customer is not null)",
        "scalar": "select c.id, (select max(amount) from orders o where o.customer = c.id) as most from customers c",
        "in_on": "select o.id, c.name from orders o left join customers c on o.customer = c.id "
        "and exists (select 1 from items i where i.order_id = o.id)",
    },
    "pivots": {
        "counts": "select * from (select customer, qty from orders) pivot (count(*) for qty in (1, 2 as two, 3))",
        "sums": "select * from (select customer, note, amount, qty from orders) "
        "pivot (sum(amount) as s, max(qty) as m for note in ('a' as a, 'b' as b))",
        "unpivot": "select * from (select id, amount, cast(qty as decimal(12,2)) as qty from orders) unpivot (v for n in (amount, qty as q))",
        "behind_join": "select * from (select customer as id, qty, amount from orders) as o join customers as c using (id) "
        "pivot (sum(amount) as s for qty in (1 as one, 2 as two))",
        "only_its_keys": "select id from (select customer as id, qty, amount from orders) as o join customers as c using (id) "
        "pivot (sum(amount) as s for qty in (1 as one, 2 as two))",
        "unpivot_under_a_name": "select u.n, sum(u.v) as v from (select id, amount, cast(qty as decimal(10,2)) as qty from orders) "
        "unpivot include nulls (v for n in (amount as `1st`, qty)) as u where u.n <> 'x' group by u.n",
        "unpivot_behind_join": "select id, n, v from orders as o left join (select id as customer, credit from customers) as c "
        "using (customer) unpivot (v for n in (amount, credit))",
    },
    "other_pivots": {
        "counts_beside_sums": "select * from (select customer, note, qty, amount from orders) "
        "pivot (sum(qty) as s, count(*) as n, avg(amount) as a for note in ('a' as a, 'b' as b))",
        "of_texts": "select * from (select customer, note, qty from orders) "
        "pivot (max(note) as m, count(*) as n, count_if(note is null) as e for qty in (1, 2, 3))",
        "of_arrays": "select customer, size(`1`) as one, array_sort(`2`) as two "
        "from (select customer, note, qty from orders) pivot (collect_list(note) for qty in (1, 2))",
        "of_expressions": "select customer, `{a, 1}` as a1, b2 from (select customer, note, qty, amount from orders) "
        "pivot (round(sum(amount) + 1, 1) for (note, qty) in (('a', 1), ('b', 2) as b2))",
    },
    "windows_of_time": {
        "tumbling": "select window.start as start, window.end as end, sum(qty) as s, max(amount) as m from orders "
        "group by window(cast(at as timestamp), '40 days')",
        "sliding": "select window(cast(at as timestamp), '60 days', '20 days', '1 day') as w, customer, count(*) as n "
        "from orders group by all having count(*) > 0",
        "of_rows": "select o.*, window(cast(at as timestamp_ntz), '10 days').start as begins from orders as o where qty > 0",
        "joined": "select c.name, o.w.start as start, o.n from (select customer, window(timestamp(at), '1 hour') as w, "
        "count(*) as n from orders group by 1, 2) as o left join customers as c on o.customer = c.id",
        "ranked": "select window(timestamp(at), '30 days') as w, count(distinct customer) as n, "
        "rank() over (order by count(*) desc) as r from orders group by window(timestamp(at), '30 days')",
    },
    "keys_of_subqueries": {
        "scalar": "select (select max(credit) from customers c where c.id = o.customer) as credit, count(*) as n from orders o "
        "group by (select max(credit) from customers c where c.id = o.customer)",
        "in": "select customer in (select id from customers) as known, sum(qty) as s from orders "
        "group by customer in (select id from customers) having count(*) > 0",
        "sets": "select note, case when exists (select * from customers c where c.id = o.customer) then 'x' else 'y' end as e, "
        "max(amount) as m from orders o group by rollup (note, case when exists (select * from customers c where c.id = o.customer) "
        "then 'x' else 'y' end)",
    },
    "distinct_arguments": {
        "groups": "select customer, count(distinct note) as n, count(distinct qty, note) as m, sum(distinct qty) as s, sum(amount) as a, "
        "count(*) as c from orders group by customer",
        "everything": "select count(distinct customer) as c, avg(distinct amount) as a, max(at) as last from orders",
        "filtered": "select note, count(distinct customer) filter (where qty > 1) as n, sum(distinct amount) as s from orders group by note",
        "rolled_up": "select customer, note, count(distinct qty) as n from orders group by rollup (customer, note)",
        "of_floats": "select product, count(distinct f) as n, count(f) as m from items group by product",
        "of_a_join": "select count(distinct c.region) as n, sum(o.qty) as s from orders o join customers c on o.customer = c.id",
    },
    "stars": {
        "fields": "select o.id, struct(c.* except (name)) as customer, hash(*) as h from orders as o join customers as c on o.customer = c.id",
        "key": "select md5(concat_ws('-', *)) as key, count(*) as n, count(distinct *) as one from (select customer, note from orders) "
        "group by customer, note",
    },
    "sums": {
        "counts": "select customer, count(*) as n, count(note) as notes, count(amount) as amounts from orders group by customer",
        "conditions": "select customer, count(not qty > 1) as n, count(qty > 1 and note is null) as m, count(qty > 1 or note = 'a') as o "
        "from orders group by customer",
        "integers": "select customer, sum(qty) as s, avg(qty) as m, sum(qty) / count(*) as q from orders group by customer",
        "decimals": "select customer, sum(amount) as s, avg(amount) as m, sum(-amount) as neg from orders group by customer",
        "wide_decimals": "select product, sum(w27) as a, avg(w27) as b, sum(w38) as c, avg(w38) as d, sum(w32) as e, "
        "avg(w32) as f from items group by product",
        "fine_decimals": "select product, sum(w18) as s, avg(w18) as m, max(w18) as most from items group by product",
        "bits": "select customer, bit_xor(qty) as x, bit_xor(cast(id as tinyint)) as y, bit_xor(cast(amount as bigint)) as z "
        "from orders group by customer",
        "distinct_bits": "select customer, bit_xor(distinct qty) as d, count(*) as n from orders group by customer",
        "keys": "select qty % 2 as odd, upper(note) as note, sum(amount) as s from orders group by qty % 2, upper(note)",
        "over_join": "select c.region, sum(o.amount) as s, count(o.id) as n, count(*) as rows "
        "from customers as c left join orders as o on o.customer = c.id group by c.region",
        "having": "select customer, sum(qty) as s from orders group by customer having count(*) > 1 and sum(qty) <> 3",
        "expressions": "select coalesce(note, '-') as k, sum(amount) * 2 + max(qty) as x, "
        "case when count(*) > 1 then 'many' else 'one' end as size from orders group by coalesce(note, '-')",
    },
    "recomputed": {
        "floats": "select product, sum(f) as s, avg(f) as m, sum(n) as n from items group by product",
        "extrema": "select customer, min(amount) as a, max(amount) as b, min(note) as c, max(at) as d, max(qty) as e "
        "from orders group by customer",
        "extrema_over_join": "select c.region, min(o.at) as first, max(o.amount) as most, sum(o.qty) as s "
        "from customers as c left join orders as o on o.customer = c.id group by c.region",
        "extrema_of_floats": "select order_id, min(f) as low, max(f) as high from items group by order_id",
        "of_groups": "select n, count(*) as customers from (select customer, count(*) as n from orders group by customer) "
        "as x group by n",
        "having_output": "select customer, sum(qty) as qty from orders group by customer having qty > 2",
        "having_key": "select coalesce(customer, 7) as customer, count(*) as n from orders group by customer having customer > 1",
        "having_compared": "select coalesce(customer, 7) as customer, count(*) as n from orders group by coalesce(customer, 7) having customer > 1",
        "of_ordered": "select customer, max_by(note, id) as last, min_by(id, at) as first, percentile(qty, 0.5) as p, median(amount) as m, "
        "percentile_cont(0.25) within group (order by qty) as q, percentile_approx(id, 0.5) as a, mode(qty) as o, "
        "listagg(note, ',') within group (order by note) as l, percentile(distinct qty, 0.5) as d from orders group by customer",
        "of_spread": "select product, stddev(n) as s, var_pop(w27) as v, corr(n, order_id) as c, skewness(n) as k, "
        "approx_count_distinct(n) as a, bit_xor(n) as x, count_if(n > 1) as i, bool_or(n > 3) as b from items group by product",
        "groups_joined": "select c.name, x.s from customers as c join (select customer, sum(amount) as s from orders "
        "group by customer) as x on x.customer = c.id",
    },
    "inner_totals": {
        "joined": "select o.id, x.s, x.m from orders o join (select customer, sum(qty) as s, avg(amount) as m from orders "
        "where qty > 0 group by customer) as x on x.customer = o.customer",
        "wide": "select product, most from (select product, sum(w32) as s, sum(w27) as most from items group by product) where s > 0",
        "fine": "select o.id, x.s from orders o join (select order_id, sum(w18) as s, max(w18) as m from items group by order_id) as x "
        "on x.order_id = o.id where m is null or s <> m",
        "bits": "select o.id, x.b from orders o join (select customer, bit_xor(cast(qty as smallint)) as b from orders group by customer) as x "
        "on x.customer = o.customer",
        "of_everything": "select id from customers where credit > (select avg(amount) from orders where note is not null)",
        "correlated": "select id, (select sum(qty) from orders o where o.customer = c.id) as s, "
        "(select count(*) from orders o where o.customer = c.id) as n from customers c",
        "distinct": "select c.id, x.note from customers c join (select distinct customer, note from orders) x on x.customer = c.id",
        "of_totals": "select s, count(*) as n from (select customer, sum(qty) as s from orders group by customer) group by s",
    },
    "windows": {
        "ranks": "select id, rank() over (partition by customer order by amount desc) as r, "
        "lag(note) over (partition by customer order by id, amount) as before from orders",
        "first_of_each": "select * from (select id, customer, row_number() over (partition by customer order by at desc, id) "
        "as n from orders) where n = 1",
        "frames": "select id, sum(qty) over (partition by note order by id rows between 1 preceding and current row) as s, "
        "count(*) over () as everything from orders",
        "over_groups": "select customer, sum(amount) as s, rank() over (order by sum(amount) desc) as r, "
        "sum(sum(qty)) over () as everything from orders group by customer having count(*) > 0",
        "best_groups": "select customer, s from (select customer, sum(qty) as s, dense_rank() over (order by sum(qty) desc) as r "
        "from orders group by customer) where r <= 2 order by s desc, customer",
        "over_groups_by_key": "select customer, note, count(*) as n, sum(count(*)) over (partition by customer) as of_customer "
        "from orders group by customer, note",
        "over_groups_by_expression": "select qty, count(*) as n, row_number() over (partition by count(*) order by qty) as r "
        "from orders group by qty",
    },
    "sets": {
        "intersect": "select customer as id from orders intersect select id from customers",
        "except_all": "select customer as id from orders except all select id from customers",
        "full_join": "select o.id, c.name from orders o full join customers c on o.customer = c.id",
        "semi_join": "select id from orders o left semi join customers c on o.customer = c.id and c.credit > 2",
        "anti_join": "select id from customers c left anti join orders o on o.customer = c.id",
        "rollup": "select customer, note, grouping(note) as g, sum(qty) as s from orders group by rollup (customer, note)",
        "hive_sets": "select customer, note, grouping_id() as g, sum(qty) as s from orders group by customer, note grouping sets ((note), ())",
        "hive_number": "select customer, grouping__id, sum(qty) as s from orders group by customer, note with rollup "
        "having grouping__id < 3 order by grouping__id",
        "cube": "select customer, note, count(*) as n from orders group by cube (customer, note)",
        "table_functions": "select o.id, r.id as number, e.col, j.c0 from orders o join range(1, 4) r on o.qty >= r.id "
        "cross join explode(array(1, 2)) e cross join json_tuple('{\"a\": 5}', 'a') j",
        "lateral_on": "select o.id, g.e from orders o left join lateral explode(array(o.qty, 7)) g (e) on g.e > o.id",
        "lateral_nested": "select o.id, l.qty, l.y from orders o, lateral (select n.qty, m.y from (select o.qty) n, "
        "lateral (select n.qty as y) m) l",
        "having_number": "select customer, sum(qty) as s from orders group by customer having sum(qty) - 2",
        "mode_over": "select id, mode() within group (order by qty) over (partition by customer) as m from orders",
        "lateral_view": "select id, e from orders lateral view explode(array(qty, 7)) as e",
        "values_quoted": "select o.id, v.name from orders o join values (1, \"5\"\" pipe\"), (2, 'it''s'), (3, 'a\"\"b'), (4, \"it''s\") "
        "as v (id, name) on v.id = o.id",
        "inline_in_select": "select id, inline(array(struct(qty as q, note), struct(7, 'x'))) from orders",
        "inline_of_named": "select o.id, i.* from orders o lateral view inline(array(named_struct('q', o.qty, 'n', 'x'))) i",
        "count_distinct": "select customer, count(distinct note) as n, count(distinct qty, note) as m, array_sort(collect_set(qty)) as c "
        "from (select customer, note, qty from orders) group by customer",
    },
    "whole_tables": {
        "linear": "select count(*) as n, sum(amount) as s, avg(qty) as m, count(note) as c from orders",
        "extrema": "select min(at) as first, max(amount) as most, sum(qty) as s from orders",
        "floats": "select sum(f) as s, max(n) as n from items",
        "having": "select sum(qty) as s from orders having count(*) > 3",
        "over_nothing": "select count(*) as n, max(o.qty) as q from orders as o join customers as c on o.customer = c.id "
        "where c.region = 'moon'",
        "all_but_the_first": "select id, customer from orders order by id offset 2",
        "all_of_some": "select distinct customer, qty from orders order by customer + qty, customer limit all",
        "hints": "select /*+ broadcast(c), repartition(3) */ o.id, c.name from orders o join customers c on o.customer = c.id",
        "hinted_groups": "select /*+ broadcast(c) */ c.name, count(*) as n from orders o join customers c on o.customer = c.id "
        "group by c.name",
        "presented_twice": "(select id, amount from orders order by id desc limit 9) order by amount nulls first, id limit 4",
        "with_within": "with c as (select 1 as k) select o.id, c.k, d.k as j from orders o, c, "
        "(with c as (select 2 as k) select k from c) as d",
        "by_output": "select id, -qty as qty from orders order by qty * 2, id limit 3",
        "top": "select id, amount from orders where amount is not null order by amount desc, id limit 3",
        "top_groups": "select customer, sum(qty) as s from orders group by customer order by s desc nulls last, customer "
        "limit 2 offset 1",
        "top_by_output": "select id, -amount as amount from orders where amount is not null order by amount, id limit 3",
        "top_groups_by_output": "select customer, sum(qty) as qty from orders group by customer "
        "order by qty desc nulls last, customer limit 2",
        "limited_to_its_row": "select sum(qty) as s from orders limit 1",
        "distinct_in_parentheses": "select distinct (note) from orders order by note",
        "sorted": "select id, note from orders order by note nulls last, id desc",
    },
}


# At least one construct for each operator; the comment names the operators.
EACH_OPERATOR = (
    "rows__values_in_parentheses",  # Project, OneRow, InnerJoin
    "sets__lateral_view",  # Generate
    "sets__except_all",  # Repeat
    "unions__all",  # UnionAll
    "outer_joins__residual",  # LeftJoin, by row
    "sets__full_join",  # FullJoin
    "subqueries__exists",  # SemiJoin
    "recomputed__extrema_over_join",  # LeftJoin, by key; Aggregate at the top, whose groups are recomputed
    "sums__over_join",  # Aggregate at the top, whose groups are additive
    "subqueries__scalar",  # Aggregate below
    "inner_totals__joined",  # Totals
    "windows__ranks",  # Window
    "whole_tables__linear",  # Aggregate without keys
)
# Additive groups are stored as entries if the state is small, and as one row per group if it is large.
CREATED_LARGE = ("sums__over_join",)
SIZES: tuple[Size, ...] = ("small", "large", "huge", "small")
# Forms that change existing rows.
NOT_APPENDED = {"rewrite", "merge", *(["replace"] if STATE_FORMATS[STATES].replaces_parts else [])}

# Tables and operators that occur only in deltas, not in a view's plan.
_NOT_SHOWN = {
    *(algebra.Scan, algebra.Changes, algebra.Empty, algebra.Restricted, algebra.Slice),
    *(algebra.Weigh, algebra.Consolidate, algebra.Copies, algebra.Unweigh),
}
# Operators for which new input rows remove no output rows, so that the change is appended.
_APPENDS = ("Filter", "Project", "OneRow", "Generate", "UnionAll", "InnerJoin")
# Spark reads a table in Iceberg by several tasks, which add DOUBLE in any order.
_DIGITS = 14 if SOURCES == "iceberg" else None
# Queries that are an error with ANSI on: text beside numbers, and CORR of values that do not vary.
_NOT_ANSI = {"rows__unions_of_types", "recomputed__of_spread"}
_QUERIES = {f"{family}__{name}": sql for family, queries in FAMILIES.items() for name, sql in queries.items()}


@pytest.mark.parametrize("either_spark", few_of(["true", "false"], ["true"]), indirect=True)
def test_each_operator_in_each_form(either_spark, monkeypatch):
    lab = Lab(either_spark, "operators")
    open_shop(lab)
    views: list[View] = []
    for size, names in (("large", CREATED_LARGE), ("small", EACH_OPERATOR)):
        take_states_for(size, monkeypatch)
        new = [lab.view(f"{name}__{size}", _QUERIES[name]) for name in names]
        side_by_side(lab, new, View.build)
        views += new
    forms: dict[str, set[str]] = {}
    wrong = []
    for batch, size in enumerate(SIZES):
        change(lab, batch)
        take_states_for(size, monkeypatch)
        for view, (result, problem) in zip(views, side_by_side(lab, views, refreshed), strict=True):
            wrong += [(view.name, batch, problem)] if problem else []
            for label in result.strategies:
                forms.setdefault(label.partition("#")[0], set()).add(result.apply_form)
    assert not wrong
    shown = {kind.__name__ for kind in set(get_args(AnyRelation)) - _NOT_SHOWN} | {"State"}
    assert set(forms) == shown
    assert {name: missing for name, found in forms.items() if (missing := NOT_APPENDED - found)} == {}
    assert [name for name in _APPENDS if "append" not in forms[name]] == []


@pytest.mark.nightly
@pytest.mark.parametrize("family", FAMILIES)
def test_every_construct(either_spark, monkeypatch, family):
    """Half of the views are refreshed after each batch, so the others process two batches at once."""
    lab = Lab(either_spark, "all_operators")
    open_shop(lab)
    ansi = either_spark.conf.get("spark.sql.ansi.enabled") == "true"
    names = [f"{family}__{name}" for name in FAMILIES[family]]
    views = [lab.view(name, _QUERIES[name]) for name in names if not (ansi and name in _NOT_ANSI)]
    side_by_side(lab, views, View.build)
    wrong = []
    for batch, size in enumerate(("large", "large", "small", "huge")):
        change(lab, batch)
        take_states_for(size, monkeypatch)
        half = views[batch % 2 :: 2]
        for view, (_, problem) in zip(half, side_by_side(lab, half, refreshed), strict=True):
            wrong += [(view.name, batch, problem)] if problem else []
    assert not wrong


def refreshed(view: View) -> tuple[RefreshResult, str]:
    """Refresh. Returns the result and the problem found; empty if the refresh was incremental and correct."""
    result = view.refresh()
    found = view.differences(_DIGITS)
    if found or result.fallback or result.mode not in ("incremental", "no_op"):
        return result, f"{result.mode} {result.fallback or ''} {found}"
    return result, ""
