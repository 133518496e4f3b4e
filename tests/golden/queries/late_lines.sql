-- changed lineitem; append
select l_orderkey, l_linenumber, 'late' as kind from tpch.lineitem where l_shipdate > date '1998-09-02'
union all
select o_orderkey, o_shippriority, 'urgent' from tpch.orders where o_shippriority > 0
