-- changed orders; replace of o_custkey
select o_custkey, max(o_orderdate) as latest, min(o_totalprice) as least, count(*) as orders
from tpch.orders
group by o_custkey
