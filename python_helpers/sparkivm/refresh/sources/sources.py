"""What names of sources refer to in a run: tables at pinned versions, views, mirrors, change logs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import cached_property

from sqlglot import exp

from sparkivm.changes.change_log import ChangeLog, current_rows, field, unknown_operations
from sparkivm.changes.frontier import Frontier
from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import EngineError, RelationFacts
from sparkivm.errors import DeclarationError, ModelError, NotIncremental
from sparkivm.formats.state_format import StateFormat
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.table_references import TableReference, references_in, replace_references
from sparkivm.names import TableName, quoted
from sparkivm.refresh.changed_rows.run_memory import RunMemory
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.moments import moments_at, now
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.mirror import Mirror
from sparkivm.refresh.sources.pins import Pins


class Sources:
    """Facts of relations, each looked at once in a run.

    captures  whether a mirror is brought up to date at the first look; else it is read as it is
    """

    def __init__(
        self,
        engine: RecordingEngine,
        pins: Pins,
        declared: DeclaredSources,
        home: str,
        format: StateFormat,
        *,
        captures: bool = True,
    ) -> None:
        """
        home    the schema of mirrors, unless the project declares another
        format  of new mirrors
        """
        self._engine, self._declared, self._home, self._format = engine, declared, home, format
        self._pins_of_run = pins
        self._captures = captures
        self._ahead: dict[str, RelationFacts] = {}
        self._looked_at: set[str] = set()  # by this session, in this refresh
        self._logs: dict[str, TableName] = {}  # those that the model reads, by key
        self._spelled: set[TableName] = set()  # names that differ in case from those of the relations' facts

    @classmethod
    def of(
        cls, engine: RecordingEngine, pins: Pins, request: RefreshRequest, *, captures: bool = True
    ) -> Sources:
        home, format = request.view.schema, request.format_of_mirrors
        return cls(engine, pins, request.declared, home, format, captures=captures)

    @cached_property
    def current(self) -> tuple[str, ...]:
        """The session's catalog and schema."""
        return self._engine.namespace()

    @cached_property
    def _pins(self) -> Pins:
        return self._pins_of_run.in_catalog(self.current[0])

    def facts(self, name: TableName) -> RelationFacts | None:
        """A relation's facts, or its mirror's; None if there is no such relation.

        Raises: NotIncremental if it cannot be mirrored; DeclarationError.
        """
        if not name.schema:  # look at a relation once, under all of its names
            found = self._engine.describe(name)
            if found is None or found.temporary:
                return found
            name = found.name
        facts = self._pins.facts(name, self._look)
        if facts is None or not self._is_spelled_as(facts, name):
            return None
        if facts.kind == "iceberg" and name.key not in self._looked_at:
            self._looked_at.add(name.key)
            self._engine.invalidate(facts.name)
        return facts

    def _is_spelled_as(self, facts: RelationFacts, name: TableName) -> bool:
        """Whether a name belongs to a relation whose name differs at most in case; some catalogs have others.

        Raises: ModelError for another relation.
        """
        of_session = (name.catalog or self.current[0]) == "spark_catalog" and facts.kind != "iceberg"
        if name.parts == facts.source.parts or of_session or name in self._spelled:
            return True
        found = self._engine.describe(name)
        if found is None:
            return False
        if not _what_it_is(facts) or _what_it_is(found) != _what_it_is(facts):
            what = f"{name} and {facts.source} may be two tables: their names differ only in case"
            raise ModelError(name, what, "spell one table in one way, or rename one of them")
        self._spelled.add(name)
        return True

    def look_ahead(self, names: Iterable[TableName]) -> None:
        """Describe relations together that are going to be asked for one by one."""
        unseen = [name for name in names if not self._pins.has(name)]
        found = self._engine.describe_all(unseen)
        self._ahead = {
            name.key: facts for name, facts in zip(unseen, found, strict=True) if facts is not None
        }

    def known(self, name: TableName) -> RelationFacts | None:
        """Like `facts`; None also if the relation cannot be mirrored."""
        with suppress(NotIncremental):
            return self.facts(name)
        return None

    def seen(self, name: TableName) -> RelationFacts | None:
        """The facts that the run has already; None, without a look, if it has none."""
        return self.known(name) if self._pins.has(name) else None

    def look_again_for(self, name: TableName, known: str) -> None:
        """Look again: another driver saw a table or commit with this id, not the one the run saw."""
        if self._pins.forget_for(name, known):
            self._ahead.pop(name.key, None)

    def resolve(self, names: Mapping[str, str]) -> bool:
        """Whether names refer to the same relations as before, under the current catalog and schema.

        names  as in `Frontier.resolved`
        """
        calls = {name: name.removesuffix("()") for name in names if name.endswith("()")}
        if self._engine.foreign_functions(calls.values()):
            return False
        for name, then in names.items():
            if name in calls:
                continue
            if not name:
                if then != self.current[0]:
                    return False
                continue
            now = self.known(TableName("", name))
            if now is None or now.temporary or now.key != then:
                return False
        return True

    def forget(self, name: TableName) -> None:
        self._ahead.pop(name.key, None)
        self._pins.forget(name)

    @property
    def memory(self) -> RunMemory:
        """Rows of sources that the run keeps."""
        return self._pins.memory

    def moments(self, keys: Collection[str]) -> Mapping[str, str]:
        """Literals of some moments at the run's instant, by their keys."""
        return {key: self._moments[key] for key in sorted(keys)}

    def not_before(self, known: Mapping[str, str]) -> None:
        """Let the run's instant be the time now if a view knows a later one, from another driver's refresh.

        known  literals of moments, by their keys. Those of one key are in the order of their texts, except
               for local times when the clocks go back: then the time is only read once more.
        """
        if any(self._moments[key] < literal for key, literal in known.items()):
            self._pins.forget_instant()
            del self._moments

    @cached_property
    def _moments(self) -> Mapping[str, str]:
        return moments_at(self._engine, self._pins.instant(lambda: now(self._engine)))

    def _look(self, name: TableName) -> RelationFacts | None:
        self._looked_at.add(name.key)
        found = self._ahead.pop(name.key) if name.key in self._ahead else self._engine.describe(name)
        if found is None or not is_mirrored(found, self._declared):
            return found
        mirror = self.mirror(found)
        return mirror.captured() if self._captures else mirror.facts()

    def mirror(self, source: RelationFacts) -> Mirror:
        return Mirror(
            self._engine,
            self._declared.project,
            source,
            self._declared.mirror_name(source.name, self._home),
            self._declared.of(source.name),
            self._format,
        )

    # change logs

    def model_text(self, model: TableName, sql: str) -> str:
        """The model's SELECT with each declared change log replaced by the table that it describes.

        Raises: DeclarationError; ModelError if we cannot tell whether the model reads one.
        """
        text = sql.lower()
        logs = [key for key in self._declared.logs if key.rpartition(".")[2] in text]
        if not logs:
            return sql
        references = references_in(model, sql)
        if references is None:
            raise ModelError(
                model,
                f"its tables cannot be determined, and it may read the change log {logs[0]}",
                "simplify the SQL, or read the log in a separate model",
            )

        def text_of(reference: TableReference) -> str | None:
            *namespace, identifier = reference.parts
            *catalog, schema = namespace or self.current
            name = TableName(schema, identifier, catalog[0] if catalog else None)
            log = self._declared.of(name).log if name.key in logs else None
            if log is None or (not namespace and self._is_temporary(identifier)):
                return None
            if reference.fixed:
                raise ModelError(
                    model, f"{name} is a change log, which has no versions", "read it without a version"
                )
            self._logs[name.key] = name
            alias = "" if reference.aliased else f" as {quoted(identifier)}"
            return f"({self._current_rows(name, log)}){alias}"

        return replace_references(sql, references, text_of)

    def _is_temporary(self, identifier: str) -> bool:
        found = self._engine.describe(TableName("", identifier))
        return found is not None and found.temporary

    def _current_rows(self, name: TableName, log: ChangeLog) -> str:
        """Raises: DeclarationError for a column that the log does not have."""
        read = [
            *log.order,
            log.operation,
            *([f"{log.before}.{key}" for key in log.key] if log.before else []),
        ]
        images = [f"{field(log.after)}.*"] if log.after else [*map(quoted, log.columns)] or ["*"]
        items = [*images, *map(field, read)]
        try:
            fields = self._engine.schema_of(f"select {', '.join(items)} from {name.sql}")
        except EngineError as error:
            raise self._mistaken(name, items, error) from None
        hidden = {one.lower() for one in log.hidden}
        columns = [f.name for f in fields[: -len(read)] if f.name.lower() not in hidden]
        missing = [key for key in log.key if key.lower() not in map(str.lower, columns)]
        if missing:
            raise DeclarationError(
                name,
                f"the key {missing[0]} is not a column of the table that the log describes",
                f"it has {', '.join(columns)}",
            )
        return current_rows(log, name.sql, columns)

    def _mistaken(self, name: TableName, items: list[str], error: EngineError) -> DeclarationError:
        """The error that names the missing column."""
        for item in items:
            try:
                self._engine.schema_of(f"select {item} from {name.sql}")
            except EngineError as found:
                what = f"the log has no column {item.replace('`', '')}: {found}"
                return DeclarationError(name, what, "declare a column of the log")
        hint = "compare change_log (operation, order, before, after) with the columns of the log"
        return DeclarationError(name, f"the log cannot be read: {error}", hint)

    def check_operations(self, read: Mapping[str, RelationFacts], frontier: Frontier | None) -> None:
        """Raises: DeclarationError if a log that changed since has an undeclared operation.

        read  the relations that were looked up; a model that is not incremental may read more
        """
        for key in self._declared.logs:
            facts, known = read.get(key), frontier.sources.get(key) if frontier else None
            if facts is None and key in self._logs:
                facts = self.known(self._logs[key])
            if facts is None or (known and known.at == facts.at):
                continue
            log = self._declared.of(facts.source).log
            assert log is not None, f"{key} is declared as a log"
            if facts.at in self._pins.checked:
                continue
            table = facts.pinned
            found = [str(row["operation"]) for row in self._engine.query(unknown_operations(log, table))]
            if found:
                raise DeclarationError(
                    facts.source,
                    f"the log has the operation {', '.join(sorted(found))}, which is not declared",
                    "add it to change_log.upserts, deletes or ignored; after a truncation, begin a new log",
                )
            self._pins.checked.add(facts.at)


def is_mirrored(source: RelationFacts, declared: DeclaredSources) -> bool:
    """Whether the source keeps no history, or the project asks for a mirror. Raises: DeclarationError."""
    if source.temporary:
        return False
    asked = declared.of(source.name).mirrored
    if asked is not None:
        return asked
    return source.kind == "other" or (source.kind == "view" and _reads_files(source))


def _what_it_is(relation: RelationFacts) -> str:
    """What distinguishes a table or view from others, whatever its name; "" if nothing is known."""
    return relation.table_id or relation.view_text


def _reads_files(view: RelationFacts) -> bool:
    """Whether a view reads files by their path, which have no versions."""
    if "/" not in view.view_text:
        return False
    try:
        tree = parse_model(view.name, view.view_text)
    except (NotIncremental, ModelError):
        return False
    return any("/" in table.name for table in tree.find_all(exp.Table))
