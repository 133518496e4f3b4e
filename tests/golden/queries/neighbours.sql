-- changed supplier; merge
select a.s_name, b.s_name as neighbour
from tpch.supplier as a join tpch.supplier as b on a.s_nationkey = b.s_nationkey and a.s_suppkey < b.s_suppkey
