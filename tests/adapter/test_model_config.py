"""Model options: checked before anything is changed, with the model's name."""

import pytest
from dbt.adapters.sparkivm.model_config import IncrementalViewOptions
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
    assert options.column_comments == {}


def test_options_may_stand_in_meta():
    options = IncrementalViewOptions.of(model(meta={"refresh_mode": "strict"}, partition_by="day"))
    assert options.refresh_mode == "strict"
    assert options.layout.partition_by == ("day",)


def test_options_of_others_are_theirs():
    IncrementalViewOptions.of(model(owner="sales team", refreshed_by="cron", meta={"refresh_modes": 3}))


def test_docs_only_where_asked_for():
    options = IncrementalViewOptions.of(
        model(persist_docs={"relation": True, "columns": True}, full_refresh=False)
    )
    assert options.comment == "Sales."
    assert options.column_comments == {"a": "A."}
    assert not options.full_refresh_allowed


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"refresh_mode": "sometimes"},
            "refresh_mode is 'sometimes' and has to be one of auto, incremental, strict, full",
        ),
        ({"change_capture": "on"}, "change_capture is 'on'"),
        ({"auxiliary_views": True}, "auxiliary_views is 'True' and has to be one of auto, always, never"),
        ({"file_format": "parquet"}, "file_format is 'parquet'"),
        ({"clustered_by": "a", "buckets": 4}, "Delta has no buckets"),
        ({"partition_by": "a", "liquid_clustered_by": "b"}, "exclude each other"),
        ({"partition_by": {"field": "id"}}, "has to be a column or a list of columns"),
        ({"liquid_clustered_by": ["a", 1]}, "has to be a column or a list of columns"),
        ({"tblproperties": ["a"]}, "and has to map names to values"),
        ({"refresh_mod": "strict"}, "there is no option refresh_mod; write refresh_mode"),
        ({"liquid_cluster_by": "a"}, "there is no option liquid_cluster_by; write liquid_clustered_by"),
    ],
)
def test_refused(config, message):
    with pytest.raises(CompilationError, match=message) as error:
        IncrementalViewOptions.of(model(**config))
    assert "incremental_view sales" in str(error.value)
