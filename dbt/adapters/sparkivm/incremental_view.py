"""The Python methods that the materialization and the consistency test call, and what all methods share.

tested  tests/adapter/, tests/dbt/test_incremental_view.py
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import AdapterMeta, available
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.spark.connections import SparkConnectionMethod
from dbt.adapters.sparkivm.engine import AdapterEngine
from dbt.adapters.sparkivm.hooks_on_state import on_state
from dbt.adapters.sparkivm.log import logger
from dbt.adapters.sparkivm.model_config import IncrementalViewOptions, declaration_of
from dbt.adapters.sparkivm.project_nodes import (
    name_of_node,
    name_of_relation,
    names_in_project,
    relations,
    shared_relations,
    table_name,
)
from dbt.adapters.sparkivm.response import RefreshResponse
from dbt.adapters.sql.connections import SQLConnectionManager
from dbt.adapters.sql.impl import SQLAdapter
from dbt_common.exceptions import CompilationError, DbtDatabaseError, DbtRuntimeError

from sparkivm.changes.source_declaration import DeclaredSources, read_declaration
from sparkivm.digest import digest
from sparkivm.engine import EngineError, EngineLost
from sparkivm.errors import DeclarationError, ModelError, SeedError
from sparkivm.marker import owner_of
from sparkivm.names import TableName, state_table
from sparkivm.refresh.operations.name_collisions import Built, NamesInProject
from sparkivm.refresh.request import RefreshRequest, StateLayout

if TYPE_CHECKING:
    from sparkivm.refresh.result import RefreshResult

_PINS = threading.Lock()
_DESCRIBED = "sparkivm.described"  # of a public view: a hash of its columns' comments; "" if there are none


@dataclass(frozen=True)
class Refreshed:
    """What the materialization passes to dbt."""

    response: RefreshResponse
    script_text: str  # the statements that were executed
    relations: list[BaseRelation]


class IncrementalViewMixin(SQLAdapter, metaclass=AdapterMeta):
    """The methods that macros call as `adapter.…`; the metaclass makes dbt show them to Jinja."""

    _pins: Any = None
    _shared: frozenset[str] | None = None
    _refreshed: frozenset[str] = frozenset()  # keys of views and states; a refresh itself forgets them

    @available.parse_none
    def validate_incremental_view(self, model: Mapping[str, Any]) -> None:
        """Warn about options without effect.

        Raises: CompilationError that names the model, before anything is changed.
        """
        options = self._options(model)
        with author_errors():
            self._check_relations(model)
        if options.remarks:
            logger.warning("\n  ".join((f"incremental_view {model['name']}", *options.remarks)))

    def _check_relations(self, model: Mapping[str, Any]) -> None:
        """Check where a model's view would be, what is declared of it, and all names that it needs.

        Raises: ModelError; DeclarationError.
        """
        name = table_name(model["schema"], model.get("alias") or model["name"])
        if name.catalog not in (None, "spark_catalog"):
            raise ModelError(
                name,
                f"its schema is {model['schema']}, and a view can only be in the session catalog",
                f"write {name.schema}, and name the catalog of its state in state_catalog",
            )
        said = (model["config"].get("meta") or {}).get("sparkivm")
        read_declaration(str(model["name"]), declaration_of(said or {}))
        self._names_in_project.check(str(model["unique_id"]))

    @available
    def hooks_in_order(self, hooks: Sequence[Mapping[str, Any]], outside_first: bool) -> list[dict[str, Any]]:
        """Hooks of a transaction, before or after those outside it; all as one kind.

        Between the two kinds dbt would execute COMMIT, and Spark has no transactions.
        """
        inside_last = sorted(hooks, key=lambda hook: hook["transaction"] is outside_first)
        return [{**hook, "transaction": True} for hook in inside_last]

    @available.parse_none
    def prepare_incremental_view_session(self, model: Mapping[str, Any]) -> None:
        """Execute the model's `sql_header` in the session that analyses and refreshes the model."""
        self._execute_header(self._options(model))

    @available.parse(lambda relation, model, hook: hook)
    def hook_on_state(self, relation: BaseRelation, model: Mapping[str, Any], hook: str) -> str:
        """A hook's statement, about the state if it maintains the view's files."""
        view = name_of_relation(relation)
        return on_state(hook, view, state_table(view, self._options(model).layout.catalog))

    @available.parse_none
    def refresh_incremental_view(
        self,
        relation: BaseRelation,
        model: Mapping[str, Any],
        *,
        full_refresh: bool = False,
        empty: bool = False,
        selected: Collection[str] = (),
    ) -> Refreshed:
        """Bring a view up to date with its sources.

        selected  the unique_ids of the run's nodes
        """
        # Parsing a project does not need the compiler, so it is imported here.
        from sparkivm.refresh.refresh_view import refresh_view

        request = replace(
            self._request(
                name_of_relation(relation), model["unique_id"], model["compiled_code"], self._options(model)
            ),
            full_refresh=bool(full_refresh),
            empty=bool(empty),
            shared_relations=self._shared_relations(selected),
            takes_over=self._cached(relation) is not None,
        )
        with author_errors():
            result = refresh_view(self.ivm_engine(), request, self._shared_pins())
        return self._reported(relation, result)

    @available.parse_none
    def clone_incremental_view(
        self, relation: BaseRelation, origin: BaseRelation, model: Mapping[str, Any]
    ) -> Refreshed | None:
        """Make a view as a copy of another environment's; None, with a warning, if that cannot be cloned."""
        from sparkivm.refresh.refresh_view import clone_view
        from sparkivm.refresh.run.clone import CannotClone

        request = replace(
            self._request(name_of_relation(relation), model["unique_id"], "", self._options(model)),
            takes_over=self._cached(relation) is not None,
        )
        clones = self._clones()
        with author_errors():
            try:
                result = clone_view(
                    self.ivm_engine(), request, self._shared_pins(), name_of_relation(origin), clones
                )
            except CannotClone as error:
                logger.warning(f"{relation} is a plain view until the next run, which builds it: {error}")
                return None
        return self._reported(relation, result)

    def _clones(self) -> Mapping[str, str]:
        """Keys of the states of this environment's views, with those of the other environment's."""
        found = {}
        for node in self._view_nodes(None):
            origin = node.defer_relation
            if origin is None:
                continue
            with suppress(CompilationError):  # of a wrong option, which is reported when this view is made
                catalog = self._options(node.to_dict()).layout.catalog
                here, there = map(name_of_node, (node, origin))
                found[state_table(here, catalog).key] = state_table(there, catalog).key
        return found

    def _reported(self, relation: BaseRelation, result: RefreshResult) -> Refreshed:
        """Tell dbt and the log what was done."""
        if result.put_aside is not None:
            self.cache_renamed(relation, self._relation(result.put_aside, RelationType.Table))
        for warning in result.warnings:
            logger.warning(f"{relation}: {warning}")
        logger.debug(f"{relation}: {result.explanation}")
        self._refreshed |= {result.view.key, result.state.key}
        return Refreshed(
            response=RefreshResponse.of(result),
            script_text=";\n\n".join(result.statements),
            relations=[
                self._relation(name, kind)
                for name, kind in ((result.view, RelationType.View), (result.state, RelationType.Table))
                if name.catalog is None  # dbt does not know other catalogs
            ],
        )

    @available.parse_none
    def persist_incremental_view_docs(self, relation: BaseRelation, model: Mapping[str, Any]) -> None:
        """Write the column descriptions into the public view, which accepts them only when it is created.

        A refresh that replaces the view leaves out the comments and their hash.
        Warns of described columns that the view does not have.
        """
        options = self._options(model)
        if not options.column_docs.docs:
            return
        with author_errors():
            engine = self.ivm_engine()
            name = name_of_relation(relation)
            facts = engine.describe(name)
            if facts is None:
                return
            columns = [field.name for field in facts.fields]
            if missing := options.column_docs.missing(columns):
                logger.warning(
                    f"In relation {relation}: The following columns are specified in the schema but are not "
                    f"present in the database: {', '.join(missing)}"  # what dbt says of a table
                )
            wanted = options.column_docs.comments(columns)
            described = digest(repr(wanted)) if any(wanted.values()) else ""
            if facts.properties.get(_DESCRIBED, "") == described:
                return
            engine.execute(
                engine.render(
                    "public_view",
                    view=name.sql,
                    select=facts.view_text,
                    comment=options.comment,
                    tblproperties={**facts.properties, _DESCRIBED: described},
                    column_comments=wanted,
                )
            )

    @available.parse(lambda *args, **kwargs: "")
    def incremental_view_consistency_sql(self, relation: object) -> str:
        """A query for the rows in which a view and its SELECT differ, at the view's own source versions.

        If they cannot be compared, the query fails, not this call: dbt compiles tests for many commands, also
        for views that are not built yet.
        """
        from sparkivm.refresh.operations.consistency import consistency_sql

        if not isinstance(relation, BaseRelation):
            return _failing_sql(
                "incremental_view_is_consistent compares whole views; remove the config 'where' from the test"
            )
        view = name_of_relation(relation)
        with author_errors():
            try:
                model = self._model_of(view)
                if model.config.materialized != "incremental_view":
                    return _failing_sql(f"{view} is materialized as {model.config.materialized}")
                # --empty limits the SELECT, but not a view that exists.
                if relation.limit is not None:
                    return "select 'run with --empty' as which_diff where false"
                options = self._options(model.to_dict())
                self._execute_header(options)
                request = self._request(view, model.unique_id, model.compiled_code, options)
                return str(consistency_sql(self.ivm_engine(), request))
            except (ModelError, DeclarationError, CompilationError, EngineError) as error:
                return _failing_sql(str(error))

    @available.parse(lambda *args, **kwargs: "")
    def incremental_view_columns_sql(self, relation: BaseRelation, sql: str) -> str:
        """A query with the columns of a model, which dbt runs instead of the model's text."""
        from sparkivm.refresh.model.model_query import columns_query

        with author_errors():
            return str(
                columns_query(self.ivm_engine(), name_of_relation(relation), sql, self._declared_sources)
            )

    @cached_property
    def _names_in_project(self) -> NamesInProject:
        return NamesInProject(self._built())

    def _built(self) -> Iterator[Built]:
        """Everything that a run of the project may build, mirrors included."""
        manifest: Any = self.get_macro_resolver()
        for node, name in relations(manifest):
            if node.resource_type != "source" and node.config.materialized != "ephemeral":
                yield Built(node.unique_id, name, node.config.materialized == "incremental_view")
        for source, mirror in self._mirrors():
            yield Built(f"the mirror of {source}", mirror)

    def _mirrors(self) -> Iterator[tuple[TableName, TableName]]:
        """Sources that may get a mirror, and its name; whether they do depends on the source's format."""
        declared = self._declared_sources
        for _, source in relations(self.get_macro_resolver()):
            with suppress(DeclarationError):  # reported by the views that read the source
                if declared.of(source).may_be_mirrored:
                    yield source, declared.mirror_name(source, declared.home)

    def _request(
        self, view: TableName, model: str, sql: str, options: IncrementalViewOptions
    ) -> RefreshRequest:
        return RefreshRequest(
            learns_costs=True,
            view=view,
            sql=sql,
            owner=owner_of(self.config.project_name, model, view),
            refresh_mode=options.refresh_mode,
            change_capture=options.change_capture,
            auxiliary_views=options.auxiliary_views,
            stamp_columns=options.stamp_columns,
            is_read=model in self._models_read,
            full_refresh_allowed=options.full_refresh_allowed,
            layout=options.layout,
            comment=options.comment,
            header=options.header,
            declared=self._declared_sources,
        )

    def _options(self, model: Mapping[str, Any]) -> IncrementalViewOptions:
        return IncrementalViewOptions.of(model, self.default_layout())

    def default_layout(self) -> StateLayout:
        """Format and catalog for the state of a model without file_format."""
        return StateLayout()

    def _execute_header(self, options: IncrementalViewOptions) -> None:
        for statement in options.header.statements:
            # Without the project's query comment, which Spark would take for part of a setting's value.
            self.ivm_connections.add_query(statement, auto_begin=False)

    @property
    def ivm_connections(self) -> SQLConnectionManager:
        """The connections that run the statements of incremental views."""
        return self.connections

    def ivm_engine(self) -> AdapterEngine:
        """The engine over this thread's connection."""
        if getattr(self.config.credentials, "method", None) == SparkConnectionMethod.SESSION:
            from dbt.adapters.sparkivm.session_engine import SessionEngine

            return SessionEngine(self, self.ivm_connections)
        return AdapterEngine(self, self.ivm_connections)

    @cached_property
    def _models_read(self) -> frozenset[str]:
        """The unique_ids of nodes that a model or a snapshot reads."""
        manifest: Any = self.get_macro_resolver()
        readers = (n for n in manifest.nodes.values() if n.resource_type in ("model", "snapshot"))
        return frozenset(read for node in readers for read in node.depends_on_nodes)

    def _shared_relations(self, selected: Collection[str]) -> frozenset[str]:
        if self._shared is None:
            self._shared = shared_relations(self.get_macro_resolver(), selected, self._state_catalog)
        return self._shared

    def _state_catalog(self, node: Any) -> str | None:
        """The catalog of a view's state; None for its own, and if its options are wrong."""
        try:
            return self._options(node.to_dict()).layout.catalog
        except CompilationError:
            return None  # its own refresh says what is wrong

    @cached_property
    def _declared_sources(self) -> DeclaredSources:
        """The declarations in `meta.sparkivm` of sources, seeds, snapshots and models."""
        manifest: Any = self.get_macro_resolver()
        metas: dict[str, Any] = {}
        for node, name in relations(manifest):
            meta = {**(getattr(node.config, "meta", None) or {}), **(node.meta or {})}
            said = meta.get("sparkivm")
            if said and node.resource_type != "source":
                said = declaration_of(said)  # options of views may be there too
            if said is not None:
                metas[name.key] = said
                if deferred := getattr(node, "defer_relation", None):
                    metas.setdefault(name_of_node(deferred).key, said)
        declared = DeclaredSources(str(self.config.credentials.schema), metas, self.config.project_name)
        return declared.in_session(self.ivm_engine().namespace()[0]) if declared.names_catalogs else declared

    def cache_added(self, relation: BaseRelation | None) -> str:
        """dbt calls this when a node has built a relation: views that run later read it as it is now."""
        if self._pins is not None and relation is not None:
            name = name_of_relation(relation)
            if name.key not in self._refreshed:
                self._pins.forget_everywhere(name)
        return str(super().cache_added(relation))

    def cleanup_connections(self) -> None:
        """At the end of an invocation, free what it kept in Spark's memory."""
        if self._pins is not None and self._pins.memory:
            try:
                with self.connection_named("kept in memory"):
                    self._pins.memory.drop(self.ivm_engine())
            except (DbtRuntimeError, EngineLost) as error:  # the run has ended, maybe because Spark is gone
                logger.debug(f"data that the run kept in memory is not released: {error}")
        super().cleanup_connections()

    def _shared_pins(self) -> Any:
        """The versions that this invocation reads; dbt creates one adapter per invocation."""
        from sparkivm.refresh.sources.pins import Pins

        with _PINS:
            if self._pins is None:
                self._pins = Pins()
            return self._pins

    def _cached(self, relation: BaseRelation) -> BaseRelation | None:
        found: BaseRelation | None = self.get_relation(
            relation.database, relation.schema, relation.identifier
        )
        return found

    def _relation(self, name: TableName, kind: RelationType) -> BaseRelation:
        return self.Relation.create(schema=name.schema, identifier=name.identifier, type=kind)

    def _model_of(self, view: TableName) -> Any:
        """The compiled node that is built as this view."""
        for node in self._models():
            deferred = getattr(node, "defer_relation", None)
            if view.key in {name_of_node(one).key for one in (node, deferred) if one is not None}:
                return self._with_sql(node)
        raise CompilationError(f"no model of this project is built as {view}")

    def _models(self) -> list[Any]:
        manifest: Any = self.get_macro_resolver()
        return [node for node in manifest.nodes.values() if node.resource_type == "model"]

    def _with_sql(self, node: Any, materialized: str | None = None) -> Any:
        """A copy of a node with its compiled SQL, including ephemeral models.

        materialized  to compile it as if it was materialized like this

        The node itself may have another text: `dbt show` compiles a model with its LIMIT.
        """
        # Not part of the adapter interface: only dbt-core can compile a node, and macros cannot call it.
        from dbt.compilation import Compiler

        fresh = deepcopy(node)
        fresh.compiled, fresh.compiled_code = False, None
        fresh.extra_ctes, fresh.extra_ctes_injected = [], False
        if materialized is not None:
            fresh.config.materialized = materialized
        manifest: Any = self.get_macro_resolver()
        return Compiler(self.config).compile_node(fresh, manifest, {}, write=False)

    def _view_nodes(self, names: Sequence[str] | None) -> list[Any]:
        """The nodes of the views with these names, or of all views of the project."""
        if names is not None:
            return [self._view_node(name) for name in names]
        views = (node for node in self._models() if node.config.materialized == "incremental_view")
        return sorted(views, key=lambda node: (node.schema, node.alias))

    def _view_node(self, model: str) -> Any:
        """A view's node, by the model's name."""
        found = [node for node in self._models() if model in names_in_project(node)]
        if not found:
            raise CompilationError(
                f"there is no model named {model}" if model else "name a model: --args '{model: …}'"
            )
        if len(found) > 1:
            names = ", ".join(node.unique_id for node in found)
            raise CompilationError(f"{model} is ambiguous: {names}; name one of them")
        node = found[0]
        if node.config.materialized != "incremental_view":
            raise CompilationError(
                f"model {model} is materialized as {node.config.materialized}, not as incremental_view"
            )
        return node


@contextmanager
def author_errors() -> Generator[None, None, None]:
    """Errors caused by the author or by Spark become dbt errors without traceback; bugs pass."""
    try:
        yield
    except (ModelError, DeclarationError, SeedError) as error:
        raise CompilationError(str(error)) from error
    except (EngineError, EngineLost) as error:
        raise DbtDatabaseError(str(error)) from error


def _failing_sql(message: str) -> str:
    """A query without rows that fails with a message."""
    from sqlglot import exp

    message = message.replace("${", "$ {")  # otherwise Spark would substitute a session value
    # In a filter, because dbt counts rows, and Spark drops columns that nobody reads.
    return f"select 1 as which_diff where raise_error({exp.Literal.string(message).sql('spark')}) is null"
