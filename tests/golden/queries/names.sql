-- changed customer, supplier; merge
select c_name as name from tpch.customer union select s_name from tpch.supplier
