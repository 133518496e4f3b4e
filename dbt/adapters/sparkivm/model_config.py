"""The options of an incremental_view model, checked and typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Optional, get_args

from dbt.adapters.spark.impl import SparkConfig
from dbt_common.exceptions import CompilationError

from sparkivm.refresh.request import AuxiliaryViews, ChangeCapture, RefreshMode, StateLayout

_OWN = (
    "refresh_mode",
    "change_capture",
    "auxiliary_views",
    "liquid_clustered_by",
    "partition_by",
    "tblproperties",
    "location_root",
)
_CHOICES = {
    "refresh_mode": get_args(RefreshMode),
    "change_capture": get_args(ChangeCapture),
    "auxiliary_views": get_args(AuxiliaryViews),
}


@dataclass
class SparkIvmConfig(SparkConfig):
    """What dbt knows of a model's options; the meaning is in `IncrementalViewOptions`."""

    refresh_mode: Optional[str] = None
    change_capture: Optional[str] = None
    auxiliary_views: Optional[str] = None
    liquid_clustered_by: Optional[list[str] | str] = None
    tblproperties: Optional[dict[str, str]] = None


@dataclass(frozen=True)
class IncrementalViewOptions:
    """The options that decide how a view is refreshed and stored."""

    refresh_mode: RefreshMode
    change_capture: ChangeCapture
    auxiliary_views: AuxiliaryViews
    layout: StateLayout
    comment: str
    full_refresh_allowed: bool
    column_comments: Mapping[str, str]  # by the names in lower case

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> IncrementalViewOptions:
        """From a node of dbt's manifest; an option may also stand in the model's `meta`.

        Raises: CompilationError that names the model, the option and what it may be.
        """
        config = model["config"]
        meta = config.get("meta") or {}

        def option(name: str, default: Any = None) -> Any:
            value = config.get(name)
            return meta.get(name, default) if value is None else value

        def refuse(what: str) -> CompilationError:
            return CompilationError(f"incremental_view {model['name']}: {what}")

        for name in config:
            meant = get_close_matches(name, _OWN, n=1, cutoff=0.8)
            if meant and name not in _OWN:
                raise refuse(f"there is no option {name}; write {meant[0]}")
        for name, choices in _CHOICES.items():
            if option(name, "auto") not in choices:
                raise refuse(f"{name} is '{option(name)}' and has to be one of {', '.join(choices)}")
        if option("file_format", "delta") != "delta":
            raise refuse(
                f"file_format is '{option('file_format')}'; a view's state is a Delta table: leave it out"
            )
        if option("clustered_by") or option("buckets"):
            raise refuse("Delta has no buckets; use liquid_clustered_by in place of clustered_by and buckets")
        if option("partition_by") and option("liquid_clustered_by"):
            raise refuse("partition_by and liquid_clustered_by exclude each other")

        for name in ("partition_by", "liquid_clustered_by"):
            if not _are_names(option(name)):
                raise refuse(f"{name} is {option(name)!r}, and has to be a column or a list of columns")
        if not isinstance(option("tblproperties") or {}, Mapping):
            raise refuse(f"tblproperties is {option('tblproperties')!r}, and has to map names to values")

        persist_docs = config.get("persist_docs") or {}
        columns = model.get("columns") or {}
        described = {c["name"].lower(): c["description"] for c in columns.values() if c.get("description")}
        return cls(
            refresh_mode=option("refresh_mode", "auto"),
            change_capture=option("change_capture", "auto"),
            auxiliary_views=option("auxiliary_views", "auto"),
            layout=StateLayout(
                partition_by=_names(option("partition_by")),
                liquid_clustered_by=_names(option("liquid_clustered_by")),
                tblproperties={str(k): str(v) for k, v in (option("tblproperties") or {}).items()},
                location_root=option("location_root"),
            ),
            comment=model.get("description", "") if persist_docs.get("relation") else "",
            full_refresh_allowed=config.get("full_refresh") is not False,
            column_comments=described if persist_docs.get("columns") else {},
        )


def _are_names(value: object) -> bool:
    names = value if isinstance(value, list) else [value]
    return value is None or all(isinstance(name, str) for name in names)


def _names(value: str | list[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())
