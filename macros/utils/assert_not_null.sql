{#
  dbt-spark's date macros wrap each call: coalesce(f(x), nvl2(f(x), assert_true(f(x) is not null), null)). The
  assertion cannot fail, so this is f(x).
#}
{% macro sparkivm__assert_not_null(function, arg) -%}
  {{ function }}({{ arg }})
{%- endmacro %}
