-- changed customer, orders; merge
select c_custkey, c_name, o_orderkey, o_totalprice
from tpch.customer left join tpch.orders on c_custkey = o_custkey
