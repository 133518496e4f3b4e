"""The classes of dbt-tests-adapter that are not run, with the reason. All others are used by a test in this folder.

A key is a class, or a test of a class, by its name below `dbt.tests.adapter`; `*` stands for any characters.
"""

_NO_FUNCTIONS = (
    "dbt-spark has no macros for `dbt` functions: dbt's own statement (AS $$…$$ LANGUAGE SQL) is not Spark's"
)
_NO_PYTHON = "dbt-spark sends Python models to Databricks; a Spark of its own does not run them"
_NO_GRANTS = "Spark has no GRANT: privileges are a matter of the catalog behind it"
_NOT_OFFERED = (
    "an incremental view has no `on_configuration_change`; `refresh_mode: strict` is what refuses a rebuild"
)

NOT_RUN = {
    "basic.test_get_catalog_for_single_relation.BaseGetCatalogForSingleRelation": "dbt-spark has no catalog of a single relation",
    "column_types.test_column_types.BasePostgresColumnTypes": "dbt-spark's columns know the names of PostgreSQL's types only",
    "dbt_clone.test_dbt_clone.BaseCloneSameSourceAndTarget": "dbt-spark's clone does not ask whether source and target are the same",
    "functions.test_*.*": _NO_FUNCTIONS,
    "grants.test_*.*": _NO_GRANTS,
    "materialized_view.changes.MaterializedViewChangesContinueMixin": _NOT_OFFERED,
    "materialized_view.changes.MaterializedViewChangesFailMixin": _NOT_OFFERED,
    "python_model.test_*.*": _NO_PYTHON,
    "simple_copy.test_simple_copy.SimpleCopyBase.test_simple_copy_with_materialized_views": "Spark has no CREATE MATERIALIZED VIEW",
    "simple_snapshot.new_record_*.*": "dbt-spark's record of a deletion (`hard_deletes: new_record`) has NULL in all columns of the row",
    "simple_snapshot.test_various_configs.BaseSnapshotMultiUniqueKey": "dbt-spark's MERGE for a snapshot with several keys is ambiguous to Spark",
    "utils.test_current_timestamp.BaseCurrentTimestampAware": "Spark gives timestamps without a zone; the class for these is used",
    "utils.test_escape_single_quotes.BaseEscapeSingleQuotesQuote": "Spark escapes a quote with a backslash; the class for this is used",
}
