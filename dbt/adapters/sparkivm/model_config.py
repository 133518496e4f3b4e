"""The options of an incremental_view model, checked and typed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Optional, get_args

from dbt.adapters.spark.impl import SparkConfig
from dbt.adapters.sparkivm.column_docs import ColumnDocs
from dbt.adapters.sparkivm.option_names import OPTIONS, nearest, remarks
from dbt_common.exceptions import CompilationError

from sparkivm.changes.source_declaration import OPTIONS as OF_SOURCES
from sparkivm.errors import ModelError
from sparkivm.formats import DEFAULT_FORMAT, STATE_FORMATS
from sparkivm.formats.partition_field import PartitionField
from sparkivm.refresh.request import (
    NO_HEADER,
    AuxiliaryViews,
    ChangeCapture,
    RefreshMode,
    SqlHeader,
    StateLayout,
)

_CHOICES = {
    "refresh_mode": get_args(RefreshMode),
    "change_capture": get_args(ChangeCapture),
    "auxiliary_views": get_args(AuxiliaryViews),
}
_IN_DELTA = StateLayout()
_VALUES = frozenset(value for choices in _CHOICES.values() for value in choices) - {"auto"}


@dataclass
class SparkIvmConfig(SparkConfig):
    """The model options as dbt knows them; `IncrementalViewOptions` gives them their meaning."""

    refresh_mode: Optional[str] = None
    change_capture: Optional[str] = None
    auxiliary_views: Optional[str] = None
    stamp_columns: Optional[list[str] | str] = None
    state_catalog: Optional[str] = None
    liquid_clustered_by: Optional[list[str] | str] = None
    tblproperties: Optional[dict[str, str]] = None


@dataclass(frozen=True)
class IncrementalViewOptions:
    """The options that decide how a view is refreshed and stored.

    remarks  a sentence for each ignored key that looks like an option
    """

    refresh_mode: RefreshMode
    change_capture: ChangeCapture
    auxiliary_views: AuxiliaryViews
    layout: StateLayout
    comment: str
    full_refresh_allowed: bool
    column_docs: ColumnDocs
    stamp_columns: tuple[str, ...] = ()
    header: SqlHeader = NO_HEADER
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: Mapping[str, Any], default: StateLayout = _IN_DELTA) -> IncrementalViewOptions:
        """From a node of dbt's manifest. An option may also be in the model's `meta.sparkivm` or `meta`.

        `config` wins, except for `file_format`: `meta.sparkivm` wins there.

        default  format and catalog for the state of a model without file_format
        Raises: CompilationError that names the model, the option and its allowed values.
        """
        read = _Reader(model)
        partition_by = read.partitions()
        clustered_by = read.columns("liquid_clustered_by")
        catalog = read.text("state_catalog", "a catalog")
        if partition_by and clustered_by:
            raise read.refusal("partition_by and liquid_clustered_by cannot be used together")
        format_ = read.file_format() or default.file_format
        if clustered_by and not STATE_FORMATS[format_].clusters:
            raise read.refusal(
                f"{format_.title()} tables do not support liquid_clustered_by: write partition_by"
            )
        computed = [field for field in map(PartitionField.of, partition_by) if field.transform]
        if computed and format_ == DEFAULT_FORMAT:
            raise read.refusal(
                f"partition_by has {computed[0].sql}, and Delta tables are partitioned by columns only: "
                "name a column that the model computes"
            )
        if catalog and format_ == DEFAULT_FORMAT:
            raise read.refusal("state_catalog needs file_format: iceberg")
        if format_ == default.file_format:
            catalog = catalog or default.catalog
        comments = read.switches("persist_docs")
        return cls(
            refresh_mode=read.choice("refresh_mode"),  # type: ignore[arg-type]  # checked by choice
            change_capture=read.choice("change_capture"),  # type: ignore[arg-type]
            auxiliary_views=read.choice("auxiliary_views"),  # type: ignore[arg-type]
            layout=StateLayout(
                file_format=format_,
                catalog=catalog,
                partition_by=partition_by,
                liquid_clustered_by=clustered_by,
                tblproperties=read.properties("tblproperties"),
                location_root=read.text("location_root", "a path"),
            ),
            comment=model.get("description", "") if comments.get("relation") else "",
            full_refresh_allowed=read.full_refresh() is not False,
            column_docs=ColumnDocs.of((comments.get("columns") and model.get("columns")) or {}),
            stamp_columns=read.columns("stamp_columns"),
            header=read.header(),
            remarks=read.remarks(format_),
        )


def declaration_of(meta: object) -> object:
    """What `meta.sparkivm` declares about a view as a source: everything except the view's options."""
    if not isinstance(meta, Mapping):
        return meta
    return {name: value for name, value in meta.items() if name not in OPTIONS}


def named_catalogs(config: Any) -> frozenset[str]:
    """The catalogs for states that a model's config names, also if the model is no incremental view."""
    given = (place.get("state_catalog") for place in _places(config) if isinstance(place, Mapping))
    return frozenset(one for one in given if isinstance(one, str) and one.strip())


def _places(config: Any) -> tuple[Any, Any, Any]:
    """Where a model's options may be: `config`, `meta.sparkivm`, `meta`, in the order in which they win."""
    meta = config.get("meta") or {}
    own = meta.get("sparkivm")
    return config, {} if own is None else own, meta


_ENTRY = re.compile(r"(?:`[^`]*`|\([^)]*\)|[^,`(])+")  # of a list with commas


class _Reader:
    """A model's options, typed."""

    def __init__(self, model: Mapping[str, Any]) -> None:
        self._model = model
        self._name = model["name"]
        self._config: Mapping[str, Any] = model["config"]
        self._places = _places(self._config)
        _, own, _ = self._places
        if not isinstance(own, Mapping):
            raise self.refusal(f"meta.sparkivm is {own!r}, but must be a mapping of options")
        known = (*OPTIONS, *OF_SOURCES)
        for name in own:
            if name not in known:
                meant = nearest(str(name), _VALUES) or next(
                    iter(get_close_matches(str(name), known, 1)), None
                )
                hint = f"did you mean {meant}?" if meant else f"it may have {', '.join(known)}"
                raise self.refusal(f"meta.sparkivm has no option {name}; {hint}")

    def refusal(self, what: str) -> CompilationError:
        return CompilationError(f"incremental_view {self._name}: {what}")

    def _value(self, name: str) -> Any:
        config, own, meta = self._places
        # A project sets `+file_format` for its tables; in `meta.sparkivm` it can only be meant for states.
        first = (own, config, meta) if name == "file_format" else self._places
        given = (place.get(name) for place in first)
        return next((value for value in given if value is not None), None)

    def choice(self, name: str) -> str:
        value, choices = self._value(name), _CHOICES[name]
        if value is None:
            return "auto"
        if not isinstance(value, str) or value.lower() not in choices:
            raise self.refusal(f"{name} is '{value}', but must be one of {', '.join(choices)}")
        return value.lower()

    def columns(self, name: str) -> tuple[str, ...]:
        value = self._value(name)
        if value is None or _is_of_bigquery(name, value):
            return ()
        names = list(value) if isinstance(value, (list, tuple)) else [value]
        if not all(isinstance(one, str) and one.strip() for one in names):
            raise self.refusal(f"{name} is {value!r}, but must be a column or a list of columns")
        return tuple(names)

    def partitions(self) -> tuple[str, ...]:
        """The entries of `partition_by`, which dbt-spark passes on as SQL: `"a, b"` is a list too."""
        return tuple(
            entry.strip()
            for text in self.columns("partition_by")
            for entry in _ENTRY.findall(text)
            if entry.strip()
        )

    def file_format(self) -> str | None:
        """The state's format, if given; a project's file_format for other tables may be unsuitable."""
        value = str(self._value("file_format") or "").lower()
        return value if value in STATE_FORMATS else None

    def properties(self, name: str) -> dict[str, str]:
        value = self._value(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self.refusal(f"{name} is {value!r}, and has to map names to values")
        for key, one in value.items():
            if not isinstance(key, str) or not key.strip():
                raise self.refusal(f"{name} has the name {key!r}, but names must be strings")
            if key.lower().startswith("sparkivm."):
                raise self.refusal(f"{name} has {key}, but names that begin with sparkivm. are reserved")
            if not isinstance(one, (str, bool, int, float)):
                raise self.refusal(
                    f"{name} has {key}: {one!r}, but values must be strings, numbers or booleans"
                )
        # YAML gives Python booleans; write them like SQL.
        return {key: str(one).lower() if isinstance(one, bool) else str(one) for key, one in value.items()}

    def text(self, name: str, what: str) -> str | None:
        value = self._value(name)
        if value is not None and not (isinstance(value, str) and value.strip()):
            raise self.refusal(f"{name} is {value!r}, but must be {what}")
        return value

    def full_refresh(self) -> bool | None:
        return self._switch("full_refresh", self._config.get("full_refresh"))

    def switches(self, name: str) -> dict[str, bool | None]:
        value = self._config.get(name) or {}
        if not isinstance(value, Mapping):
            raise self.refusal(f"{name} is {value!r}, but must be a mapping of relation and columns")
        return {key: self._switch(f"{name}.{key}", one) for key, one in value.items()}

    def _switch(self, name: str, value: object) -> bool | None:
        """Texts are refused, because in Python `'false'` is true."""
        if value is None or isinstance(value, bool):
            return value
        raise self.refusal(f"{name} is {value!r}, but must be true or false")

    def header(self) -> SqlHeader:
        value = self._config.get("sql_header")
        if value is None:
            return NO_HEADER
        if not isinstance(value, str):
            raise self.refusal(f"sql_header is {value!r}, but must be SQL")
        from sparkivm.refresh.session.sql_header import read_header

        try:
            return read_header(self._name, value)
        except ModelError as error:
            raise CompilationError(str(error)) from error

    def remarks(self, format: str) -> tuple[str, ...]:
        found = list(remarks(self._config, _VALUES))
        format_ = self._value("file_format")
        if format_ is not None and str(format_).lower() not in STATE_FORMATS:
            found.append(
                f"file_format {format_} is ignored, since states are stored in {' or '.join(STATE_FORMATS)}: "
                f"this one is {format}"
            )
        if _is_of_bigquery("partition_by", self._value("partition_by")):
            found.append("partition_by of BigQuery is ignored; write a column or a list of columns")
        places = (self._model, *(self._model.get("columns") or {}).values())
        constraints = [one for place in places for one in place.get("constraints") or ()]
        if unenforced := {str(one["type"]) for one in constraints if one.get("warn_unenforced", True)}:
            names = ", ".join(sorted(unenforced))
            found.append(f"Spark enforces no constraints of views ({names}); write data tests instead")
        return tuple(found)


def _is_of_bigquery(name: str, value: object) -> bool:
    return name == "partition_by" and isinstance(value, Mapping) and "field" in value
