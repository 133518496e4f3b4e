{#- drops a view with its state and its auxiliary views; name a removed model as `schema.view` -#}
{% macro drop_incremental_view(view) -%}
  {%- if execute -%}
    {%- do log(adapter.drop_incremental_view(view), info=True) -%}
  {%- endif -%}
{%- endmacro %}
