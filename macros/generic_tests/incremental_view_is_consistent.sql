{#- the rows in which a view differs from its SELECT, at the source versions that the view reflects -#}
{% test incremental_view_is_consistent(model) %}
  {%- if execute -%}
    {{ adapter.incremental_view_consistency_sql(model) }}
  {%- endif -%}
{% endtest %}
