"""The Python methods of run-operations, which the command `sparkivm` runs too: explain, status, drop …

tested  tests/adapter/test_command_over_dbt.py, tests/dbt/test_command.py
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin, author_errors
from dbt.adapters.sparkivm.model_config import named_catalogs
from dbt.adapters.sparkivm.project_nodes import name_of_node, names_in_project, relations
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.names import TableName
from sparkivm.refresh.request import RefreshRequest

if TYPE_CHECKING:
    from dbt.adapters.sparkivm.project_check import ProjectCheck

    from sparkivm.refresh.operations.status import ViewStatus

_MOST_DAYS = 36_500


class OperationsMixin(IncrementalViewMixin):
    """Each returns what its macro prints."""

    _check: ProjectCheck | None = None  # while it runs

    @available.parse(lambda *args, **kwargs: "")
    def explain_incremental_view(self, model: str, format: str = "text") -> str:
        """What the next refresh of a model would do, without doing it.

        format  text, steps, json, mermaid, dot or svg
        """
        from sparkivm.explain.explain_view import explain_view

        node = self._with_sql(self._view_node(model))
        options = self._options(node.to_dict())
        with author_errors():
            self._check_relations(node.to_dict())
            self._execute_header(options)
            request = self._request(name_of_node(node), node.unique_id, node.compiled_code, options)
            return str(explain_view(self.ivm_engine(), request, format))

    @available.parse(lambda *args, **kwargs: ())
    def incremental_view_check(self, models: Sequence[str] | None = None) -> Iterator[str]:
        """Which models would be incremental, as lines of JSON: the project, then each model. Builds nothing.

        models  by name or unique_id; None for all
        """
        from dbt.adapters.sparkivm.project_check import ProjectCheck

        with author_errors():
            self._check = ProjectCheck(self, _names("models", models))
            try:
                yield from self._check.lines()
            finally:
                self._check = None

    @available.parse_list
    def get_columns_in_relation(self, relation: BaseRelation) -> list[Any]:
        """dbt's own method. In a check, also the columns of models that are not built."""
        known = self._check.columns(relation) if self._check is not None else None
        if known is None:
            return list(super().get_columns_in_relation(relation))  # type: ignore[no-untyped-call]
        return [self.Column.create(field.name, field.type) for field in known]

    @available.parse(lambda *args, **kwargs: "")
    def capture_incremental_view_changes(
        self, source: str, remove: bool = False, file_format: str | None = None
    ) -> str:
        """Make a source record its changes, or stop it. `source`: `shop.orders` or a model's name.

        file_format  of a new mirror; None for that which a run would give it
        """
        from sparkivm.formats import STATE_FORMATS
        from sparkivm.refresh.operations.capture_changes import capture_changes

        removes = _flag("remove", remove)
        file_format = file_format or self.default_layout().format_of_mirrors
        format = STATE_FORMATS.get(file_format)
        if format is None:
            raise CompilationError(
                f"file_format is {file_format}, but must be one of {', '.join(STATE_FORMATS)}"
            )
        name = self._relation_named(source)
        with author_errors():
            declared = self._declared_sources
            return str(
                capture_changes(self.ivm_engine(), name, declared, declared.home, format, remove=removes)
            )

    @available.parse(lambda *args, **kwargs: "")
    def drop_incremental_view(self, view: str, project: str | None = None) -> str:
        """Drop a view and everything that is stored for it.

        view     a model's name; or `schema.view`, which may have been built for another model of the project,
                 for example before a model was renamed
        project  for which the view was built, if that is not this one, for example before it was renamed
        """
        from sparkivm.refresh.stored.drop_view import drop_incremental_view

        name, own = self._relation_named(view), self.config.project_name
        model = self._views().get(name.key)
        owner = project or own
        kept_for = model if owner == own and str(view).lower() != name.key else None
        with author_errors():
            return drop_incremental_view(self.ivm_engine(), name, owner, kept_for, self._state_catalogs())

    @available.parse(lambda *args, **kwargs: "")
    def incremental_view_status(self, views: Sequence[str] | None = None) -> str:
        """JSON: how up to date the project's views are, or those with these names; reads only metadata."""
        return as_json(self._statuses(views))

    def _statuses(self, views: Sequence[str] | None) -> list[ViewStatus]:
        from sparkivm.refresh.operations.status import ViewStatus, view_status
        from sparkivm.refresh.sources.pins import Pins

        nodes, pins, now_ms = self._view_nodes(_names("views", views)), Pins(), int(1000 * time.time())
        found: list[ViewStatus] = []
        with author_errors():
            engine = self.ivm_engine()
            for node in nodes:
                try:
                    request = self._stored_request(node)
                except CompilationError as error:
                    view = name_of_node(node)
                    found.append(ViewStatus(str(view), node.unique_id, "broken", str(error.msg)))
                else:
                    found.append(view_status(engine, request, pins, now_ms))
        return found

    @available.parse(lambda *args, **kwargs: "")
    def incremental_view_history(self, view: str, limit: int = 20) -> str:
        """JSON: the last refreshes of a view, newest first."""
        from sparkivm.refresh.operations.history import history

        with author_errors():
            request = self._stored_request(self._view_node(view))
            return as_json(history(self.ivm_engine(), request, _limit(limit)))

    @available.parse(lambda *args, **kwargs: "")
    def incremental_view_changes(self, view: str, limit: int = 100) -> str:
        """JSON: the rows that the last refresh added to a view and removed from it."""
        from sparkivm.refresh.operations.changes import changed_rows

        with author_errors():
            request = self._stored_request(self._view_node(view))
            return as_json(changed_rows(self.ivm_engine(), request, _limit(limit)))

    @available.parse(lambda *args, **kwargs: "")
    def incremental_view_report(self, views: Sequence[str] | None = None, limit: int = 40) -> str:
        """JSON for the report of a run: status, refreshes and plan of each view, or what is in the way."""
        from sparkivm.refresh.operations.history import history

        found = []
        for status in self._statuses(views):
            refreshes, plan, problem = [], "", ""
            try:
                if status.last_refresh is not None:
                    request = self._stored_request(self._view_node(status.model))
                    refreshes = history(self.ivm_engine(), request, limit)
                plan = self.explain_incremental_view(status.model, "svg")
            except (ModelError, EngineError, DbtRuntimeError) as error:
                problem = str(error)
            found.append({"status": status, "history": refreshes, "plan": plan, "problem": problem})
        return as_json(found)

    def _stored_request(self, node: Any) -> RefreshRequest:
        """A request that says where a view is stored, without its SQL."""
        view = name_of_node(node)
        return self._request(view, node.unique_id, "", self._options(node.to_dict()))

    @available.parse(lambda *args, **kwargs: "")
    def incremental_view_leftovers(self, drop: bool = False, format: str = "text") -> str:
        """List relations that this package made for the project and no model needs; `drop` drops them.

        format  text or json
        """
        from sparkivm.refresh.operations.leftovers import drop_leftovers, leftovers

        drops = _flag("drop", drop)
        read = {name.key for _, name in relations(self.get_macro_resolver())}
        with author_errors():
            engine = self.ivm_engine()
            found = leftovers(
                engine, self.config.project_name, self._schemas(built=True), self._views(), read,
                self._declared_sources,
            )  # fmt: skip
            if drops:
                found = drop_leftovers(engine, found)
        if format == "json":
            return as_json([one.as_json() for one in found])
        return "\n".join(map(str, found)) or "there are no leftovers"

    @available.parse(lambda *args, **kwargs: "")
    def expire_incremental_view_snapshots(self, days: float = 5) -> str:
        """Expire snapshots of Iceberg states and mirrors that are older than some days and not needed."""
        from sparkivm.refresh.operations.expire_snapshots import expire_snapshots

        if not isinstance(days, (int, float)) or not 0 <= days <= _MOST_DAYS:
            raise CompilationError(f"days is {days}, but must be a number from 0 to {_MOST_DAYS}")
        now_ms = int(1000 * time.time())
        with author_errors():
            engine = self.ivm_engine()
            project = self.config.project_name
            lines = expire_snapshots(engine, project, self._schemas(), now_ms, float(days))
        return "\n".join(lines) or "no snapshots were expired"

    def _schemas(self, *, built: bool = False) -> list[TableName]:
        """Where relations of the project may be: names without an identifier.

        built  only where the project builds relations: what it reads may be built by another target
        """
        declared = self._declared_sources
        named = [
            name
            for node, name in relations(self.get_macro_resolver())
            if name.catalog is None and not (built and node.resource_type == "source")
        ]
        homes = [TableName(declared.home, ""), *(mirror for _, mirror in self._mirrors())]
        schemas = {name.schema.lower(): TableName(name.schema, "") for name in (*named, *homes)}
        catalogs = self._state_catalogs()
        elsewhere = [replace(schema, catalog=catalog) for schema in schemas.values() for catalog in catalogs]
        return [*schemas.values(), *elsewhere]

    def _state_catalogs(self) -> list[str]:
        """The catalogs that may contain states of the project.

        A model that was a view, and the folder of one that is gone, may still name the catalog of its state.
        """
        default = self.default_layout().catalog
        named = {catalog for node in self._models() for catalog in named_catalogs(node.config)}
        return sorted(named if default is None else named | {default})

    def _views(self) -> dict[str, str]:
        """The project's incremental views: view key → unique_id of the model."""
        built = self._names_in_project.built.values()
        return {one.name.key: one.who for one in built if one.incremental}

    def _relation_named(self, given: object) -> TableName:
        """A relation by its name in the project or in the catalog."""
        source = str(given)  # YAML makes a number of 2024
        found = {
            name.key: name
            for node, name in relations(self.get_macro_resolver())
            if source in names_in_project(node)
        }
        if len(found) > 1:
            raise CompilationError(f"{source} is ambiguous: {', '.join(found)}; name one of them")
        if found:
            return next(iter(found.values()))
        parts = source.split(".")
        if len(parts) not in (2, 3):
            raise CompilationError(f"there is no source or model named {source}")
        return TableName(parts[-2], parts[-1], parts[0] if len(parts) == 3 else None)


def as_json(value: Any) -> str:
    """The values of an operation as JSON, times in ISO 8601."""

    def plain(one: Any) -> Any:
        if isinstance(one, datetime):
            return one.isoformat()
        return {field.name: getattr(one, field.name) for field in fields(one)}

    return json.dumps(value, default=plain, ensure_ascii=False)


def _limit(value: object) -> int:
    """Raises: CompilationError."""
    if type(value) is not int or value < 1:
        raise CompilationError(f"limit is {value}, but must be a whole number above 0")
    return value


def _flag(name: str, value: object) -> bool:
    """Raises: CompilationError, also for a text, because "false" would be taken for true."""
    if type(value) is not bool:
        raise CompilationError(f"{name} is {value!r}, but must be true or false")
    return value


def _names(name: str, value: str | Sequence[str] | None) -> list[str] | None:
    """A list of names, which may be given as one. Raises: CompilationError."""
    if value is None:
        return None
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(one, str) for one in names):
        raise CompilationError(f"{name} is {value!r}, but must be a name or a list of names")
    return list(names)
