"""The keys of a view's config: ours, dbt's, other warehouses', and unknown ones similar to ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from dbt.adapters.spark.impl import SparkConfig

OPTIONS = (
    "refresh_mode",
    "change_capture",
    "auxiliary_views",
    "stamp_columns",
    "partition_by",
    "liquid_clustered_by",
    "tblproperties",
    "location_root",
    "file_format",
    "state_catalog",
)
# dbt's options for other materializations, without effect here.
_OF_OTHER_MATERIALIZATIONS = frozenset(
    """
    batch_size begin column_types concurrent_batches incremental_strategy lookback on_configuration_change
    on_schema_change unique_key
    """.split()
)
# Options in dbt's schema for models, and others that the adapters of these warehouses declare; without words
# that projects use for themselves, such as `category`.
_OF_OTHER_WAREHOUSES = frozenset(
    """
    adapter_properties additional_libs as_columnstore auto_liquid_cluster auto_refresh automatic_clustering
    backup base_location_root base_location_subpath bind bucket_count bucketed_by catalog catalog_name
    cluster_by cluster_id compression copy_grants copy_partitions copy_tags create_notebook
    databricks_compute databricks_tags dataproc_cluster_name dist enable_change_history
    enable_list_inference enable_refresh external_access_integrations external_location external_volume
    field_delimiter grant_access_to hours_to_expiration http_path immutable_where imports
    include_full_name_in_path incremental_predicates index_url indexes initialize intermediate_format
    jar_file_uri job_cluster_config kms_key_name labels labels_from_meta location matched_condition
    max_staleness merge_exclude_columns merge_with_schema_evolution not_matched_by_source_action
    not_matched_by_source_condition not_matched_condition notebook_template_id partition_expiration_days
    partitioned_by partitions predicates primary_key python_job_config python_version query_group query_tag
    query_tags refresh_interval_minutes refresh_warehouse require_partition_filter resource_tags
    row_access_policy schedule scheduler secrets secure skip_matched_step skip_non_matched_step
    skip_not_matched_step snowflake_initialization_warehouse snowflake_warehouse sort sort_type source_alias
    submission_method table_format table_tag table_type target_alias target_lag tmp_relation_type transient
    unique_tmp_table_suffix unlogged use_anonymous_sproc user_folder_for_python work_group write_compression
    zorder
    """.split()
)
_OF_DBT_SPARK = frozenset(field.name for field in dataclasses.fields(SparkConfig))
_INSTEAD = {
    "cluster_by": "liquid_clustered_by",
    "clustered_by": "liquid_clustered_by",
    "partitioned_by": "partition_by",
    "location": "location_root",
}
_OF_SOURCES = ("mirror", "change_log")  # keys of `meta.sparkivm` that users may mistake for model options
_FILLERS = frozenset("by in is method of on option policy state strategy the to type".split())


def remarks(config: Mapping[str, Any], values: Iterable[str]) -> tuple[str, ...]:
    """A sentence for each key without effect that looks like an option.

    config  of a model, with dbt's defaults
    values  allowed values of options: `strict: true` is a mistake, too
    """
    defaults = _defaults_of_dbt()
    ignored, found = [], []
    for name, value in config.items():
        if name in _OF_OTHER_MATERIALIZATIONS:
            if value != defaults.get(name):
                ignored.append(name)
        elif name in OPTIONS or name in defaults or value is None:
            continue
        elif name in _OF_OTHER_WAREHOUSES or name in _OF_DBT_SPARK:
            instead = _INSTEAD.get(name)
            ignored.append(f"{name} (use {instead})" if instead else name)
        elif name in _OF_SOURCES:
            found.append(f"{name} belongs in meta: {{sparkivm: …}}")
        elif meant := nearest(name, values):
            found.append(f"there is no option {name}; did you mean {meant}?")
    if ignored:
        found.append(f"an incremental_view ignores {', '.join(ignored)}")
    return tuple(found)


def nearest(name: str, values: Iterable[str] = ()) -> str | None:
    """The option that an unknown key probably means; None if it probably belongs to somebody else."""
    name = name.lower()
    close = get_close_matches(name, OPTIONS, n=1, cutoff=0.8)
    if close:
        return close[0]
    if name in values:
        return OPTIONS[0]
    words = frozenset(name.split("_")) - _FILLERS
    return next((option for option in OPTIONS if words and words <= frozenset(option.split("_"))), None)


@lru_cache(maxsize=1)
def _defaults_of_dbt() -> Mapping[str, Any]:
    """The keys of a model's config that dbt itself knows, with their defaults."""
    from dbt.artifacts.resources.v1.model import ModelConfig  # dbt-core loads adapters first

    names = {field.name for field in dataclasses.fields(ModelConfig)}
    hooks = ("pre-hook", "post-hook")  # as projects spell them
    return {**dict.fromkeys((*names, *hooks, "sql_header")), **ModelConfig().to_dict(omit_none=False)}
