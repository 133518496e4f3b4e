-- changed orders, lineitem; replace of o_orderkey
select o_orderkey, l_linenumber, o_orderdate, l_extendedprice * (1 - l_discount) as revenue
from tpch.orders join tpch.lineitem on l_orderkey = o_orderkey
