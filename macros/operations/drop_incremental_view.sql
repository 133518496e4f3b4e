{#- drops a view with its state and its auxiliary views; name a removed model as `schema.view`;
    project: for which the view was built, if this one had another name then -#}
{% macro drop_incremental_view(view, project=none) -%}
  {%- if execute -%}
    {%- do log(adapter.drop_incremental_view(view, project), info=True) -%}
  {%- endif -%}
{%- endmacro %}
