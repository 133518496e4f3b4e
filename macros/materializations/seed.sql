{#- a seed whose table can stay is changed by the rows in which its file differs; dbt itself does everything else -#}
{% materialization seed, adapter='incremental_view' -%}
  {%- set rows = load_agate_table() -%}
  {%- if should_full_refresh() or not adapter.keeps_seed_table(this, model, rows) -%}
    {#- a project's own seeds for dbt-spark, which dbt does not find if an adapter has this file's; else dbt's -#}
    {%- set done = context.get('materialization_seed_spark', materialization_seed_default)() -%}
    {%- do adapter.remember_seed_table(this, model, rows) -%}
    {{ return(done) }}
  {%- endif -%}
  {%- set table = this.incorporate(type='table') -%}
  {%- do store_result('agate_table', response='OK', agate_table=rows) -%}  {#- for `dbt seed --show` -#}

  {{ run_hooks(adapter.hooks_in_order(pre_hooks, outside_first=true)) }}

  {%- set response = adapter.update_seed_table(this, model, rows) -%}
  {%- if response is not none -%}
    {%- do store_result('main', response=response) -%}
  {%- else -%}  {#- a hook dropped the table -#}
    {%- do create_again_as_seed(rows) -%}
  {%- endif -%}
  {%- do apply_grants(table, config.get('grants'), should_revoke(table, full_refresh_mode=False)) -%}
  {%- if config.persist_column_docs() and not adapter.has_column_comments(table, model) -%}
    {%- do persist_docs(table, model) -%}
  {%- endif -%}

  {{ run_hooks(adapter.hooks_in_order(post_hooks, outside_first=false)) }}
  {{ return({'relations': [table]}) }}
{%- endmaterialization %}

{#- as dbt does it, whose materialization would run the hooks again -#}
{% macro create_again_as_seed(rows) -%}
  {%- set created = create_csv_table(model, rows) -%}
  {%- set loaded = load_csv_rows(model, rows) if rows.rows else '' -%}
  {%- call noop_statement('main', 'INSERT ' ~ rows.rows | length, 'INSERT', rows.rows | length) -%}
    {{ get_csv_sql(created, loaded) }};
  {%- endcall -%}
  {%- do adapter.remember_seed_table(this, model, rows) -%}
{%- endmacro %}
