"""Can the state be stored as the model's options say? Asked before anything is changed.

tested  tests/refresh/test_partition_values.py, test_modes.py, tests/check/test_check_model.py
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from sparkivm.engine import Engine, RelationFacts
from sparkivm.errors import ModelError
from sparkivm.refresh.request import RefreshRequest, StateLayout

if TYPE_CHECKING:
    from sparkivm.refresh.model.compiled_view import CompiledView


def layout_in_state(request: RefreshRequest, compiled: CompiledView) -> StateLayout:
    """The layout with the state's names for its columns.

    Raises: ModelError for a column that the state does not have, or whose name its format reserves.
    """
    reserved = request.format.reserved.intersection(name.lower() for name, *_ in compiled.columns)
    if reserved:
        raise ModelError(
            request.view,
            f"the output column {min(reserved)} has a name that {request.format.provider.title()} reserves",
            "select it under another name",
        )
    layout = request.layout
    stored = {name.lower(): name for name, *_ in compiled.columns}
    if compiled.plan is not None:
        shown = compiled.plan.finalizer.stored_columns
        stored |= {public.lower(): name for public, name in shown.items()}

    def named(option: str, columns: Collection[str]) -> tuple[str, ...]:
        for column in columns:
            if column.lower() not in stored:
                public = [f.name for f in compiled.fields if f.name.lower() in stored]
                raise ModelError(
                    request.view,
                    f"{option} names {column}, which the state does not have as a column",
                    f"name one of {', '.join(public)}" if public else f"remove {option}",
                )
        return tuple(stored[column.lower()] for column in columns)

    fields = layout.partitions
    names = named("partition_by", [field.column for field in fields])
    return replace(
        layout,
        partition_by=tuple(
            replace(field, column=name).sql for field, name in zip(fields, names, strict=True)
        ),
        liquid_clustered_by=named("liquid_clustered_by", layout.liquid_clustered_by),
    )


def check_catalog(engine: Engine, request: RefreshRequest, state: RelationFacts | None) -> None:
    """Raises: ModelError if a new state's catalog is known not to support its format.

    state  as it is; one of the same format is replaced in its catalog
    """
    format = request.format
    if not format.not_in or (state is not None and state.kind == request.layout.file_format):
        return
    catalog = request.layout.catalog or engine.namespace()[0]
    setting = f"spark.sql.catalog.{catalog}"
    if engine.settings([setting]).get(setting, "") in format.not_in:
        name = format.provider.title()
        raise ModelError(
            request.view,
            f"the catalog {catalog} cannot have {name} tables",
            f"set state_catalog to an {name} catalog, make {setting} one, or choose another file_format",
        )
