-- changed lineitem; append
select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty, avg(l_extendedprice) as avg_price,
  sum(l_extendedprice * (1 - l_discount)) as sum_disc_price, count(*) as count_order
from tpch.lineitem
where l_shipdate <= date '1998-09-02'
group by l_returnflag, l_linestatus
