"""The check of a project: its nodes in the order of the DAG, one line of JSON per model.

tested  tests/check/test_project.py, tests/dbt/test_check.py
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.sparkivm.in_the_way import in_the_way
from dbt.adapters.sparkivm.log import logger
from dbt.adapters.sparkivm.model_config import IncrementalViewOptions
from dbt.adapters.sparkivm.project_nodes import name_of_node, name_of_relation, names_in_project
from dbt.adapters.sparkivm.spark_errors import SparkLost
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from sparkivm.check.built_as import table_of, view_of
from sparkivm.check.check_model import check_model
from sparkivm.check.project_engine import ProjectEngine
from sparkivm.check.report import NOT_CHECKED, Cause, ModelReport, Verdict, cause_of, not_checked
from sparkivm.engine import EngineError, EngineLost, Field, RelationFacts
from sparkivm.errors import DeclarationError, ModelError
from sparkivm.names import quoted
from sparkivm.refresh.model.model_query import query_text
from sparkivm.refresh.sources.pins import Pins

if TYPE_CHECKING:
    from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin

_CONNECTION = "check"
_VIEW = "incremental_view"
_EPHEMERAL = "ephemeral"


class ProjectCheck:
    """Checks models against what the nodes before them would build, whether or not that was done."""

    def __init__(self, adapter: IncrementalViewMixin, wanted: Collection[str] | None) -> None:
        """wanted  names or unique_ids of the models to be reported; None for all

        Raises: CompilationError for a name that no model has.
        """
        self._adapter = adapter
        manifest: Any = adapter.get_macro_resolver()
        self._manifest, self._nodes = manifest, dict(manifest.nodes)
        models = {key for key, node in self._nodes.items() if _is_reported(node)}
        self._wanted = models if wanted is None else models & _named(wanted, self._nodes)
        self._left_out = models - self._wanted
        self._engine = ProjectEngine(adapter.ivm_engine())
        self._pins = Pins()
        self._unknown: dict[str, str] = {}  # nodes whose columns are not known: the node to blame

    def lines(self) -> Iterator[str]:
        """First the project and its models, by unique_id, then each checked model."""
        project = self._adapter.config.project_name
        head = {"project": project, "models": sorted(self._wanted), "left_out": sorted(self._left_out)}
        yield json.dumps(head)
        for key in self._in_order():
            report = self._visit(key, self._nodes[key])
            if key in self._wanted:
                assert report is not None, f"{key} is a model"
                yield json.dumps(report.json)

    def columns(self, relation: BaseRelation) -> tuple[Field, ...] | None:
        """The columns of a relation that the project makes; None for others."""
        made = self._engine.made(name_of_relation(relation))
        return None if made is None else made.fields

    def _in_order(self) -> Iterable[str]:
        """The wanted models and all nodes that they read, each behind what it reads."""
        graph = {key: _read_by(node) & self._nodes.keys() for key, node in self._nodes.items()}
        needed, left = set(self._wanted), list(self._wanted)
        while left:
            new = graph[left.pop()] - needed
            needed |= new
            left += new
        return TopologicalSorter({key: sorted(graph[key]) for key in sorted(needed)}).static_order()

    def _visit(self, key: str, node: Any) -> ModelReport | None:
        """Learn what a node makes. Returns: the report on a model that may be a view."""
        blamed = next((self._unknown[one] for one in sorted(_read_by(node)) if one in self._unknown), None)
        report = None
        if _is_reported(node):
            report = self._model(key, node, blamed)
        elif node.resource_type in ("seed", "snapshot"):
            self._seed_or_snapshot(node)
        if node.config.materialized == _EPHEMERAL:  # its SQL is in the models that read it
            columns_known = blamed is None
        else:
            columns_known = (
                self._engine.made(name_of_node(node)) is not None or self._in_catalog(node) is not None
            )
        if not columns_known:
            self._unknown[key] = blamed or node.name
        return report

    def _seed_or_snapshot(self, node: Any) -> None:
        try:
            if node.resource_type == "seed":
                query = _query_of_seed(self._adapter, node, self._manifest)
            elif self._in_catalog(node) is not None:
                return  # it may have columns that its query had at an earlier time
            else:
                query = _query_of_snapshot(node, self._adapter._with_sql(node).compiled_code)
            self._engine.add(
                [table_of(name_of_node(node), self._engine.schema_of(query), self._format(node))]
            )
        except (DbtRuntimeError, EngineError) as error:
            _raise_if_lost(error)
            logger.debug(f"the columns of {node.unique_id} are not known: {error}")

    def _model(self, key: str, node: Any, blamed: str | None) -> ModelReport:
        adapter, name = self._adapter, name_of_node(node)
        raw = self._text_of_file(node)
        sql, cause, remarks = "", None, []
        edits = in_the_way(raw, ()) if node.language == "sql" else ()
        try:
            _check_is_sql(node, blamed)
            compiled = adapter._with_sql(node, _VIEW)
            sql = compiled.compiled_code
            self._build(node, sql)
            options = adapter._options(compiled.to_dict())
            edits, remarks = in_the_way(raw, options.remarks), _remarks_on(options)
            adapter._check_relations(compiled.to_dict())
            with self._session_of(options):
                if options.header.statements:
                    self._build(node, sql)  # types may depend on settings
                outcome = check_model(self._engine, self._pins, adapter._request(name, key, sql, options))
                if node.config.materialized == _VIEW:
                    self._engine.add(outcome.relations)
            remarks += [f"it would read {source} through a mirror" for source in outcome.mirrored]
            if outcome.fallback is not None:
                cause = cause_of(outcome.fallback, sql, raw)
        except Exception as error:  # Jinja may raise anything; the other models are still to be checked
            _raise_if_lost(error)
            logger.debug(traceback.format_exc())
            cause = _cause_of_error(error, sql, raw)
        verdict: Verdict = "incremental"
        if cause is not None:
            verdict = "unknown" if cause.code == NOT_CHECKED else "full"
        return ModelReport(
            key, node.name, node.original_file_path, str(name), node.config.materialized, verdict, cause,
            edits, tuple(remarks),
        )  # fmt: skip

    def _text_of_file(self, node: Any) -> str:
        """The whole file, for its line numbers: dbt removes blank lines at its beginning."""
        config: Any = self._adapter.config
        if node.package_name != config.project_name:
            config = config.load_dependencies()[node.package_name]
        try:
            text = Path(config.project_root, node.original_file_path).read_text(encoding="utf-8")
        except OSError:
            return str(node.raw_code)
        return text if text.strip() == node.raw_code else str(node.raw_code)

    def _build(self, node: Any, sql: str) -> None:
        """Learn what a model makes as it is materialized now. If Spark refuses it, its check says so.

        An incremental view has to be compiled for this, so its check adds what it makes.
        """
        if node.config.materialized == _VIEW:
            return
        engine, name = self._engine, name_of_node(node)
        with suppress(EngineError, ModelError):
            text = query_text(engine, name, sql)
            fields = engine.schema_of(text)
            if node.config.materialized == "view":
                engine.add([view_of(engine, name, text, fields)])
            else:
                engine.add([table_of(name, fields, self._format(node))])

    def _format(self, node: Any) -> str:
        """The format of a node's table: as the project says, else as it is, else the adapter's default."""
        given = node.config.get("file_format")
        if given:
            return str(given)
        found = self._in_catalog(node)
        if found is not None and found.kind != "view":
            return found.kind if found.has_versions else found.provider
        return getattr(self._adapter.AdapterSpecificConfigs, "file_format", None) or "parquet"

    def _in_catalog(self, node: Any) -> RelationFacts | None:
        try:
            return self._engine.in_catalog(name_of_node(node))
        except EngineError as error:
            logger.debug(f"{node.unique_id} cannot be described: {error}")
            return None

    @contextmanager
    def _session_of(self, options: IncrementalViewOptions) -> Generator[None, None, None]:
        """A session with the settings of a model's header, which end with it.

        Headers that do more are not executed: such views are full in any case.
        """
        if not options.header.statements or options.header.unseen:
            yield
            return
        self._reconnect()
        try:
            self._adapter._execute_header(options)
            yield
        finally:
            self._reconnect()

    def _reconnect(self) -> None:
        self._adapter.release_connection()
        self._adapter.acquire_connection(_CONNECTION)
        self._engine = self._engine.connected_by(self._adapter.ivm_engine())


def _is_reported(node: Any) -> bool:
    """Models without a relation are part of others; those of another project are sources."""
    if node.resource_type != "model" or node.is_external_node:
        return False
    return bool(node.config.materialized != _EPHEMERAL)


def _read_by(node: Any) -> set[str]:
    return set(node.depends_on_nodes)


def _named(names: Collection[str], nodes: Mapping[str, Any]) -> set[str]:
    """The unique_ids of the nodes with these names. Raises: CompilationError."""
    found: set[str] = set()
    for name in names:
        keys = {key for key, node in nodes.items() if name in names_in_project(node)}
        if not keys:
            raise CompilationError(f"there is no model named {name}")
        found |= keys
    return found


def _check_is_sql(node: Any, blamed: str | None) -> None:
    """Raises: ModelError for a model that Spark cannot analyse."""
    if node.language != "sql":
        raise ModelError(
            node.name, f"it is written in {node.language}, and is not a SELECT", "leave it as it is"
        )
    if blamed is not None:
        what = f"it reads {blamed}, whose columns are not known"
        raise ModelError(node.name, what, f"correct {blamed}, or build it")


def _remarks_on(options: IncrementalViewOptions) -> list[str]:
    return ["refresh_mode is full: each run rebuilds it"] if options.refresh_mode == "full" else []


def _raise_if_lost(error: Exception) -> None:
    """If Spark is gone, nothing else can be checked."""
    if isinstance(error, (SparkLost, EngineLost)):
        raise error


def _cause_of_error(error: Exception, compiled: str, raw: str) -> Cause:
    if isinstance(error, (ModelError, DeclarationError)):
        return not_checked(error, compiled, raw)
    if isinstance(error, (DbtRuntimeError, EngineError)):
        return Cause(NOT_CHECKED, str(error), "correct what the message names")
    return Cause(NOT_CHECKED, repr(error), "see the debug log, logs/dbt.log")


def _query_of_seed(adapter: BaseAdapter, node: Any, manifest: Any) -> str:
    """A query with the columns that `dbt seed` gives a table for a file."""
    # dbt finds and reads the file, also that of a package.
    from dbt.context.providers import generate_runtime_model_context

    table = generate_runtime_model_context(node, adapter.config, manifest)["load_agate_table"]()
    types: Mapping[str, str] = node.config.column_types
    columns = (
        f"cast(null as {types.get(name) or adapter.convert_type(table, number)}) as {quoted(name)}"
        for number, name in enumerate(table.column_names)
    )
    return f"select {', '.join(columns)}"


def _query_of_snapshot(node: Any, sql: str) -> str:
    """A query with the columns that `dbt snapshot` gives a new table, over the snapshot's own query."""
    moment = str(node.config.updated_at or "current_timestamp()")
    values = dict.fromkeys(("dbt_updated_at", "dbt_valid_from", "dbt_valid_to"), moment)
    values["dbt_scd_id"] = "''"
    if node.config.get("hard_deletes") == "new_record":
        values["dbt_is_deleted"] = "''"
    called = node.config.snapshot_table_column_names
    added = ", ".join(f"{value} as {quoted(called[name])}" for name, value in values.items())
    return f"select *, {added} from (\n{sql}\n) as snapshotted"
