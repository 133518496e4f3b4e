"""One statement's commit: metadata, transaction number, feed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sparkivm.engine import EngineError
from tests.fake_engine.delta_table import DeltaTable, Version
from tests.fake_engine.session import Session

Rows = Sequence[Mapping[str, Any]]
_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_APPLICATION = "spark.databricks.delta.write.txnAppId"
_NUMBER = "spark.databricks.delta.write.txnVersion"
_SAYS_CHANGE = "_change_type"


def transaction_of(session: Session) -> tuple[str, int] | None:
    application = session.settings.get(_APPLICATION)
    return (application, int(session.settings[_NUMBER])) if application else None


@contextmanager
def without_transaction(session: Session) -> Iterator[None]:
    """For statements whose commit has no transaction number: CLONE."""
    number = session.settings.pop(_APPLICATION, None)
    try:
        yield
    finally:
        if number is not None:
            session.settings[_APPLICATION] = number


def is_skipped(session: Session, table: DeltaTable) -> bool:
    """Delta treats a number not above the application's last one as a completed write."""
    transaction = transaction_of(session)
    return transaction is not None and transaction[1] <= table.transactions.get(transaction[0], -1)


def commit(
    session: Session, table: DeltaTable, operation: str, content: str | None = None, **what: Any
) -> Version:
    """Commit with the session's metadata. A change of rows also gets its transaction number."""
    transaction = transaction_of(session)
    if content is not None and transaction is not None:
        table.transactions[transaction[0]] = transaction[1]
    newest = table.versions[-1] if table.versions else None
    return table.add(
        operation,
        session.lake.tick(),
        content=content or (newest.content if newest else ""),
        fields=what.pop("fields", newest.fields if newest else ()),
        user_metadata=session.settings.get(_METADATA),
        **what,
    )


def feed_of(session: Session, parts: Mapping[str, str]) -> str:
    return session.lake.database.content(
        " union all ".join(
            f"select *, '{kind}' as {_SAYS_CHANGE} from ({rows})" for kind, rows in parts.items()
        )
    )


def count_rows(session: Session, content: str) -> int:
    return int(session.lake.database.rows(f"select count(*) as n from {content}")[0]["n"])


def refused(condition: str, text: str) -> EngineError:
    return EngineError(f"[{condition}] {text}", condition)
