"""What a refresh is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sparkivm.changes.source_declaration import NOTHING_DECLARED, DeclaredSources
from sparkivm.formats import DEFAULT_FORMAT, STATE_FORMATS
from sparkivm.formats.partition_field import PartitionField
from sparkivm.formats.state_format import StateFormat
from sparkivm.marker import Marker, Owner, Role
from sparkivm.names import TableName, state_table
from sparkivm.reasons import Fallback, Reason

RefreshMode = Literal["auto", "incremental", "strict", "full"]
ChangeCapture = Literal["auto", "never_alter"]
AuxiliaryViews = Literal["auto", "always", "never"]


@dataclass(frozen=True)
class StateLayout:
    """How the state table is stored: options of dbt-spark.

    file_format   a key of STATE_FORMATS
    catalog       the state's; None for the view's
    partition_by  as PartitionField reads it
    """

    file_format: str = DEFAULT_FORMAT
    catalog: str | None = None
    partition_by: tuple[str, ...] = ()
    liquid_clustered_by: tuple[str, ...] = ()
    tblproperties: Mapping[str, str] = field(default_factory=dict)
    location_root: str | None = None

    @property
    def format_of_mirrors(self) -> str:
        """The format of new mirrors. They are in the views' catalog, so all views share them."""
        return DEFAULT_FORMAT if self.catalog else self.file_format

    @property
    def partitions(self) -> tuple[PartitionField, ...]:
        return tuple(map(PartitionField.of, self.partition_by))

    @property
    def columns(self) -> frozenset[str]:
        """The columns that the layout names, in lower case."""
        partitioned = (field.column for field in self.partitions)
        return frozenset(map(str.lower, (*partitioned, *self.liquid_clustered_by)))


@dataclass(frozen=True)
class SqlHeader:
    """Statements that prepare the session in which a model is analysed and computed.

    unseen  the start of the first one whose effects may change unobserved
    """

    statements: tuple[str, ...] = ()
    unseen: str = ""

    @property
    def fallback(self) -> Fallback | None:
        """Why a view with this header is rebuilt on each run."""
        if not self.unseen:
            return None
        detail = f"sql_header has {self.unseen}; we cannot observe changes of what it creates"
        return Fallback(Reason.EXPRESSION_NOT_SUPPORTED, detail)


NO_HEADER = SqlHeader()


@dataclass(frozen=True)
class RefreshRequest:
    """One model's refresh.

    refresh_mode  auto: whatever is cheaper; incremental: never full for cost; strict: an error instead of any
                  full refresh after the first build; full: always full
    auxiliary_views  auto: an inner aggregate is kept as a view of its own if that is cheaper; always:
                  if that is possible
    header        has been executed in the session
    empty         `dbt run --empty`: create a missing view without rows, never touch an existing one
    takes_over    a foreign relation with the view's name is what the model was built as before: it is
                  put aside
    learns_costs  later estimates are corrected by the time that this refresh takes
    auxiliary     the view is kept for a part of the owner's view
    as_entries    it shows the entries of its groups, which the owner's view adds up
    is_read       another model may read the view
    shared_relations  keys of what several incremental views of the run read, also through plain views
    stamp_columns  constants of the query that are stored with each row when it is inserted or changed
    """

    view: TableName
    sql: str  # the model's compiled SELECT
    owner: Owner
    refresh_mode: RefreshMode = "auto"
    change_capture: ChangeCapture = "auto"
    auxiliary_views: AuxiliaryViews = "auto"
    full_refresh: bool = False
    full_refresh_allowed: bool = True  # False if the model's config says full_refresh: false
    empty: bool = False
    takes_over: bool = False
    learns_costs: bool = False
    auxiliary: bool = False
    as_entries: bool = False
    is_read: bool = True
    shared_relations: frozenset[str] = frozenset()
    stamp_columns: tuple[str, ...] = ()
    layout: StateLayout = StateLayout()
    comment: str = ""
    header: SqlHeader = NO_HEADER
    declared: DeclaredSources = NOTHING_DECLARED  # what the project declares of sources

    @property
    def state(self) -> TableName:
        return state_table(self.view, self.layout.catalog)

    @property
    def format(self) -> StateFormat:
        return STATE_FORMATS[self.layout.file_format]

    @property
    def format_of_mirrors(self) -> StateFormat:
        return STATE_FORMATS[self.layout.format_of_mirrors]

    @property
    def state_marker(self) -> Marker:
        return Marker(self.owner, Role.AUXILIARY_STATE if self.auxiliary else Role.STATE)

    @property
    def view_marker(self) -> Marker:
        return Marker(self.owner, Role.AUXILIARY_VIEW if self.auxiliary else Role.PUBLIC_VIEW)

    @property
    def state_location(self) -> str | None:
        """Where a new state stores its files; None if Spark decides."""
        root = self.layout.location_root
        return f"{root.rstrip('/')}/{self.state.identifier}" if root else None

    @property
    def may_keep_views(self) -> bool:
        """Whether auxiliary views are allowed."""
        return self.auxiliary_views != "never"
