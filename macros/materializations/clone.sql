{#- `dbt clone`: an incremental view is cloned with its state, so that it stays incremental; all else as dbt-spark does -#}
{% materialization clone, adapter='sparkivm' -%}
  {%- if config.get('materialized') == 'incremental_view' -%}
    {{ return(clone_incremental_view()) }}
  {%- endif -%}
  {{ return(materialization_clone_spark()) }}
{%- endmaterialization %}

{% macro clone_incremental_view() -%}
  {%- if not defer_relation -%}
    {%- do log('No relation found in state manifest for ' ~ model.unique_id, info=True) -%}
    {{ return({'relations': []}) }}
  {%- endif -%}
  {%- if this.render() == defer_relation.render() -%}
    {%- do log('Target relation and defer relation are the same: ' ~ this, info=True) -%}
    {{ return({'relations': [this]}) }}
  {%- endif -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- if existing and not flags.FULL_REFRESH -%}
    {%- do log('Relation ' ~ existing ~ ' already exists', info=True) -%}
    {{ return({'relations': []}) }}
  {%- endif -%}
  {%- set view = this.incorporate(type='view') -%}
  {%- set cloned = adapter.clone_incremental_view(this, defer_relation, model) -%}
  {%- if cloned is none -%}
    {{ return(plain_view_as_clone(view, existing)) }}
  {%- endif -%}
  {%- do store_result('main', response=cloned.response) -%}
  {%- do adapter.persist_incremental_view_docs(view, model) -%}  {#- may replace the view, which drops its grants -#}
  {%- do apply_grants(view, config.get('grants'), should_revoke(existing, full_refresh_mode=True)) -%}
  {{ return({'relations': cloned.relations}) }}
{%- endmacro %}

{#- a view over the other relation; not by dbt's materialization, which runs hooks and alters columns as those of a table -#}
{% macro plain_view_as_clone(view, existing) -%}
  {%- if existing and not existing.is_view -%}
    {%- do get_columns_in_query(sql) -%}  {#- raises before anything is changed -#}
    {%- do adapter.drop_relation(existing) -%}
  {%- endif -%}
  {%- call statement('main') -%}
    {{ get_create_view_as_sql(view, sql) }}
  {%- endcall -%}
  {%- do apply_grants(view, config.get('grants'), should_revoke(existing, full_refresh_mode=True)) -%}
  {{ return({'relations': [view]}) }}
{%- endmacro %}
