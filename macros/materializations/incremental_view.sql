{% materialization incremental_view, adapter='spark', supported_languages=['sql'] -%}
  {%- do adapter.validate_incremental_view(model) -%}  {#- raises before anything is changed -#}
  {%- set view = this.incorporate(type='view') -%}
  {%- set existing = load_cached_relation(this) -%}

  {{ run_hooks_on_state(adapter.hooks_in_order(pre_hooks, outside_first=true)) }}
  {%- do adapter.prepare_incremental_view_session(model) -%}  {#- sql_header -#}

  {%- if config.get('contract').enforced -%}
    {%- do get_assert_columns_equivalent(adapter.incremental_view_columns_sql(this, compiled_code)) -%}  {#- raises before the view is changed -#}
  {%- endif -%}

  {%- set refreshed = adapter.refresh_incremental_view(
    this, model, full_refresh=should_full_refresh(), empty=flags.EMPTY, selected=selected_resources) -%}
  {%- do store_result('main', response=refreshed.response) -%}  {#- the console line and run_results.json -#}
  {%- do write(refreshed.script_text) -%}  {#- target/run: what was executed -#}

  {%- do adapter.persist_incremental_view_docs(view, model) -%}  {#- may replace the view, which drops its grants -#}
  {%- do apply_grants(view, config.get('grants'), should_revoke(existing, full_refresh_mode=True)) -%}

  {{ run_hooks_on_state(adapter.hooks_in_order(post_hooks, outside_first=false)) }}
  {{ return({'relations': refreshed.relations}) }}
{%- endmaterialization %}

{#- dbt's hooks, but `optimize {{ this }}` and other maintenance is about the state, since a view has no files -#}
{% macro run_hooks_on_state(hooks) -%}
  {%- for hook in hooks -%}
    {%- set statement = adapter.hook_on_state(this, model, render(hook.get('sql')) | trim) -%}
    {{ run_hooks([{'sql': '{% raw %}' ~ statement ~ '{% endraw %}', 'transaction': true}]) }}
  {%- endfor -%}
{%- endmacro %}
