"""Model options are checked before anything changes, and errors name the model."""

import json
from importlib.resources import files

import pytest
from dbt.adapters.sparkivm.column_docs import ColumnDoc, ColumnDocs
from dbt.adapters.sparkivm.model_config import IncrementalViewOptions, declaration_of, named_catalogs
from dbt.adapters.sparkivm.option_names import OPTIONS
from dbt.artifacts.resources.v1.model import ModelConfig
from dbt_common.exceptions import CompilationError


def model(**config):
    return {
        "name": "sales",
        "description": "Sales.",
        "config": config,
        "columns": {"a": {"name": "a", "description": "A."}},
    }


def test_defaults():
    options = IncrementalViewOptions.of(model())
    assert (options.refresh_mode, options.change_capture) == ("auto", "auto")
    assert options.full_refresh_allowed
    assert options.comment == ""
    assert options.column_docs == ColumnDocs()


@pytest.mark.parametrize(
    ("config", "catalogs"),
    [
        ({}, set()),
        ({"meta": None, "state_catalog": None}, set()),
        (
            {"state_catalog": "a", "meta": {"state_catalog": "b", "sparkivm": {"state_catalog": "c"}}},
            {"a", "b", "c"},
        ),
        ({"state_catalog": 5, "meta": {"sparkivm": "wrong", "state_catalog": " "}}, set()),
    ],
)
def test_catalogs_that_a_config_names(config, catalogs):
    """Those without effect too: an earlier version of the config may have used them."""
    assert named_catalogs(config) == catalogs


def test_options_may_be_in_meta():
    options = IncrementalViewOptions.of(model(meta={"refresh_mode": "strict"}, partition_by="day"))
    assert options.refresh_mode == "strict"
    assert options.layout.partition_by == ("day",)


def test_options_may_be_in_meta_sparkivm():
    meta = {
        "refresh_mode": "full",
        "sparkivm": {"refresh_mode": "strict", "partition_by": "day", "key": ["id"]},
    }
    options = IncrementalViewOptions.of(model(meta=meta))
    assert options.refresh_mode == "strict"
    assert options.layout.partition_by == ("day",)
    assert IncrementalViewOptions.of(model(meta=meta, refresh_mode="auto")).refresh_mode == "auto"
    assert declaration_of(meta["sparkivm"]) == {"key": ["id"]}
    assert declaration_of("key") == "key"


@pytest.mark.parametrize("of_tables", ["delta", "parquet"])
def test_the_format_of_states_is_not_that_of_tables(of_tables):
    """Projects set +file_format for all models; what is in `meta.sparkivm` can only concern views."""
    meta = {"sparkivm": {"file_format": "iceberg", "state_catalog": "states"}, "file_format": "delta"}
    options = IncrementalViewOptions.of(model(file_format=of_tables, meta=meta))
    assert (options.layout.file_format, options.layout.catalog) == ("iceberg", "states")
    assert options.remarks == ()
    in_meta = {"file_format": "iceberg"}
    options = IncrementalViewOptions.of(model(file_format="delta", meta=in_meta))
    assert options.layout.file_format == "delta", "`meta` is anybody's"


def test_stamp_columns():
    assert IncrementalViewOptions.of(model(stamp_columns="loaded_at")).stamp_columns == ("loaded_at",)
    meta = {"sparkivm": {"stamp_columns": ["loaded_at", "run_id"]}}
    assert IncrementalViewOptions.of(model(meta=meta)).stamp_columns == ("loaded_at", "run_id")
    with pytest.raises(CompilationError, match="stamp_columns is \\[1\\], but must be a column or a list"):
        IncrementalViewOptions.of(model(stamp_columns=[1]))


def test_constraints():
    columns = {
        "a": {
            "name": "a",
            "constraints": [{"type": "not_null"}, {"type": "unique", "warn_unenforced": False}],
        }
    }
    options = IncrementalViewOptions.of({**model(), "columns": columns, "constraints": [{"type": "check"}]})
    assert options.remarks == (
        "Spark enforces no constraints of views (check, not_null); write data tests instead",
    )


def test_spellings():
    options = IncrementalViewOptions.of(
        model(refresh_mode="INCREMENTAL", change_capture="Never_Alter", file_format="DELTA", partition_by=[])
    )
    assert (options.refresh_mode, options.change_capture) == ("incremental", "never_alter")
    assert options.layout.partition_by == ()
    assert options.remarks == ()


def test_states_in_iceberg():
    options = IncrementalViewOptions.of(model(file_format="Iceberg", partition_by="day"))
    assert (options.layout.file_format, options.remarks) == ("iceberg", ())
    with pytest.raises(
        CompilationError, match="Iceberg tables do not support liquid_clustered_by: write partition_by"
    ):
        IncrementalViewOptions.of(model(file_format="iceberg", liquid_clustered_by="day"))


@pytest.mark.parametrize(
    ("given", "entries"),
    [
        ("day, region", ("day", "region")),
        (["`sold, at`", "a"], ("`sold, at`", "a")),
        (["days(at)", "bucket(16, id)"], ("days(at)", "bucket(16, id)")),
        ("bucket(16, id), day", ("bucket(16, id)", "day")),
    ],
)
def test_partitions_as_dbt_spark_writes_them(given, entries):
    assert (
        IncrementalViewOptions.of(model(file_format="iceberg", partition_by=given)).layout.partition_by
        == entries
    )


def test_delta_has_no_transforms():
    with pytest.raises(CompilationError, match=r"partition_by has days\(`at`\), and Delta tables are"):
        IncrementalViewOptions.of(model(partition_by=["days(at)"]))


def test_properties_are_written_as_sql_writes_them():
    given = {"delta.appendOnly": False, "a": 3, "b": " x "}
    options = IncrementalViewOptions.of(model(tblproperties=given))
    assert options.layout.tblproperties == {"delta.appendOnly": "false", "a": "3", "b": " x "}


def test_options_of_others_are_theirs():
    config = {
        "owner": "sales team",
        "refreshed_by": "cron",
        "elementary": {"timestamp_column": "at"},
        "pii": True,
        "sla_hours": 3,
        "meta": {"refresh_modes": 3},
    }
    assert IncrementalViewOptions.of(model(**config)).remarks == ()


def test_dbts_own_options_are_known():
    config = {**ModelConfig().to_dict(omit_none=False), "post-hook": [], "pre-hook": [], "sql_header": None}
    assert IncrementalViewOptions.of(model(**config)).remarks == ()


@pytest.mark.parametrize(
    ("config", "remark"),
    [
        ({"refresh": "full"}, "there is no option refresh; did you mean refresh_mode?"),
        ({"mode": "full"}, "there is no option mode; did you mean refresh_mode?"),
        ({"on_refresh": "full"}, "there is no option on_refresh; did you mean refresh_mode?"),
        ({"strict": True}, "there is no option strict; did you mean refresh_mode?"),
        ({"refresh_mod": "strict"}, "there is no option refresh_mod; did you mean refresh_mode?"),
        ({"liquid_cluster_by": "a"}, "there is no option liquid_cluster_by; did you mean liquid_clustered_by?"),
        ({"change_log": {}}, "change_log belongs in meta: {sparkivm: …}"),
        ({"location": "/x"}, "an incremental_view ignores location (use location_root)"),
        ({"cluster_by": ["a"]}, "an incremental_view ignores cluster_by (use liquid_clustered_by)"),
        ({"clustered_by": "a", "buckets": 4}, "an incremental_view ignores clustered_by (use liquid_clustered_by), buckets"),
        ({"file_format": "parquet"}, "file_format parquet is ignored, since states are stored in delta or iceberg: this one is delta"),
        ({"partition_by": {"field": "at", "data_type": "date"}}, "partition_by of BigQuery is ignored; write a column or a list of columns"),
        ({"partitions": ["x"], "transient": False, "target_lag": "1 hour", "query_tag": "t"}, "an incremental_view ignores partitions, transient, target_lag, query_tag"),
        ({"dist": "all", "sort": ["a"], "snowflake_warehouse": "w"}, "an incremental_view ignores dist, sort, snowflake_warehouse"),
        ({"unique_key": "id", "incremental_strategy": "merge", "on_schema_change": "fail"}, "an incremental_view ignores unique_key, incremental_strategy, on_schema_change"),
        ({"on_configuration_change": "continue", "merge_update_columns": ["a"]}, "an incremental_view ignores on_configuration_change, merge_update_columns"),
        ({"options": {"compression": "zstd"}}, "an incremental_view ignores options"),
    ],
)  # fmt: skip
def test_what_does_nothing_is_remarked_on(config, remark):
    options = IncrementalViewOptions.of(model(**config))
    assert options.remarks == (remark,)
    assert options.layout == IncrementalViewOptions.of(model()).layout


def test_every_key_that_dbt_knows_of_any_warehouse_is_known():
    """Checks each key in dbt's own schema of model configs, except those that concern every materialization."""
    schema = json.loads((files("dbt.jsonschemas") / "resources" / "latest.json").read_text())
    for name in schema["definitions"]["ModelConfig"]["properties"]:
        value = "full" if name == "refresh_mode" else "given"
        if name in ("partition_by", "liquid_clustered_by", "location_root"):
            value = "a"
        if name in ("tblproperties", "persist_docs", "meta", "sql_header", "description", "full_refresh"):
            continue
        config = ModelConfig().to_dict(omit_none=False) | {name: value}
        remarks = IncrementalViewOptions.of(model(**config)).remarks
        assert bool(remarks) == (
            (name not in (*OPTIONS, *_OF_ALL, *_WORDS_OF_PROJECTS)) or name == "file_format"
        ), (
            name,
            remarks,
        )


_OF_ALL = """
access alias contract database docs enabled event_time freshness full_refresh grants group materialized packages
post_hook pre_hook quoting schema static_analysis tags
""".split()
# Keys of such warehouses, but more likely the project's own.
_WORDS_OF_PROJECTS = "category state strictness custom_checks timeout sync batch_id".split()


def test_docs_only_where_asked_for():
    options = IncrementalViewOptions.of(
        model(persist_docs={"relation": True, "columns": True}, full_refresh=False)
    )
    assert options.comment == "Sales."
    assert options.column_docs == ColumnDocs((ColumnDoc("a", "A."),))
    assert not options.full_refresh_allowed


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"refresh_mode": "sometimes"},
            "refresh_mode is 'sometimes', but must be one of auto, incremental, strict, full",
        ),
        ({"refresh_mode": ""}, "refresh_mode is '', but must be one of"),
        ({"refresh_mode": ["full"]}, "refresh_mode is .* must be one of"),
        ({"change_capture": "on"}, "change_capture is 'on'"),
        ({"auxiliary_views": True}, "auxiliary_views is 'True', but must be one of auto, always, never"),
        ({"partition_by": "a", "liquid_clustered_by": "b"}, "cannot be used together"),
        ({"partition_by": {"fields": "id"}}, "must be a column or a list of columns"),
        ({"partition_by": ""}, "partition_by is '', but must be a column or a list of columns"),
        ({"partition_by": ["a", " "]}, "must be a column or a list of columns"),
        ({"partition_by": [["a"]]}, "must be a column or a list of columns"),
        ({"partition_by": False}, "must be a column or a list of columns"),
        ({"liquid_clustered_by": ["a", 1]}, "must be a column or a list of columns"),
        ({"liquid_clustered_by": {"field": "id"}}, "must be a column or a list of columns"),
        ({"tblproperties": ["a"]}, "and has to map names to values"),
        ({"tblproperties": {"a": None}}, "values must be strings, numbers or booleans"),
        ({"tblproperties": {"delta": {"appendOnly": True}}}, "values must be strings, numbers or booleans"),
        ({"tblproperties": {"": "x"}}, "names must be strings"),
        ({"tblproperties": {1: "x"}}, "names must be strings"),
        ({"tblproperties": {"SparkIvm.model": "x"}}, "names that begin with sparkivm. are reserved"),
        ({"location_root": 5}, "location_root is 5, but must be a path"),
        ({"location_root": ""}, "location_root is '', but must be a path"),
        ({"full_refresh": "false"}, "full_refresh is 'false', but must be true or false"),
        (
            {"persist_docs": {"relation": "false"}},
            "persist_docs.relation is 'false', but must be true or false",
        ),
        ({"persist_docs": ["relation"]}, "persist_docs is"),
        ({"sql_header": ["set a=1"]}, "sql_header is"),
        ({"sql_header": "insert into log select 1"}, "affects more than the session"),
        ({"meta": {"sparkivm": "strict"}}, "meta.sparkivm is 'strict', but must be a mapping"),
        (
            {"meta": {"sparkivm": {"refresh": "full"}}},
            "meta.sparkivm has no option refresh; did you mean refresh_mode",
        ),
        (
            {"meta": {"sparkivm": {"strict": True}}},
            "meta.sparkivm has no option strict; did you mean refresh_mode",
        ),
        ({"meta": {"sparkivm": {"keys": ["id"]}}}, "meta.sparkivm has no option keys; did you mean key"),
        (
            {"meta": {"sparkivm": {"owner": "me"}}},
            "meta.sparkivm has no option owner; it may have refresh_mode, ",
        ),
        ({"meta": {"sparkivm": {5: "me"}}}, "meta.sparkivm has no option 5"),
        ({"meta": {"sparkivm": {"refresh_mode": "fast"}}}, "refresh_mode is 'fast'"),
    ],
)
def test_refused(config, message):
    with pytest.raises(CompilationError, match=message) as error:
        IncrementalViewOptions.of(model(**config))
    assert "incremental_view sales" in str(error.value)


def test_a_header_is_read():
    options = IncrementalViewOptions.of(model(sql_header="set a = 1;\nset b = 2;"))
    assert options.header.statements == ("set a = 1", "set b = 2")
