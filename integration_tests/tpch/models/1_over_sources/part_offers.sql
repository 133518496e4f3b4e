with suppliers as (

  select s_suppkey, s_name, s_acctbal
  from {{ source('tpch', 'supplier') }}
  where s_acctbal > 0

)

select
  p_partkey,
  p_brand,
  s_suppkey,
  s_name,
  ps_supplycost,
  ps_availqty,
  coalesce(p_retailprice - ps_supplycost, 0) as margin
from {{ source('tpch', 'partsupp') }}
join suppliers on s_suppkey = ps_suppkey
left join {{ source('tpch', 'part') }} on p_partkey = ps_partkey
