-- changed orders, customer; merge
select orders, count(*) as customers
from (
  select c_custkey, count(o_orderkey) as orders
  from tpch.customer left join tpch.orders on c_custkey = o_custkey
  group by c_custkey
) as counts
group by orders
having count(*) > 1
