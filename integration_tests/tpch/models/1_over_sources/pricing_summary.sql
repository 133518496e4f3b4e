select
  l_returnflag,
  l_linestatus,
  sum(l_quantity) as quantity,
  sum(l_extendedprice) as base_price,
  sum(l_extendedprice * (1 - l_discount)) as discounted_price,
  sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as charge,
  avg(l_quantity) as average_quantity,
  avg(l_discount) as average_discount,
  count(*) as lines
from {{ source('tpch', 'lineitem') }}
where l_shipdate <= date '1998-09-02'
group by l_returnflag, l_linestatus
