"""What a refresh reports: the console's status and an entry of run_results.json."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Optional

from dbt.adapters.contracts.connection import AdapterResponse

from sparkivm.refresh.result import RefreshResult


@dataclass
class RefreshResponse(AdapterResponse):
    """dbt's response with details of a refresh; flat, so that run_results.json reads like a table."""

    mode: str = ""
    reason: Optional[str] = None  # a code of sparkivm.reasons
    reason_text: Optional[str] = None
    rows_inserted: Optional[int] = None
    rows_updated: Optional[int] = None
    rows_deleted: Optional[int] = None
    apply_form: str = ""
    statements: int = 0
    strategies: str = "{}"  # JSON: operator -> strategy
    sources: str = "[]"  # JSON: name, from_version, to_version of each
    compile_s: float = 0.0
    explanation: str = ""

    @classmethod
    def of(cls, result: RefreshResult) -> RefreshResponse:
        counts = (result.rows_inserted, result.rows_updated, result.rows_deleted)
        return cls(
            _message=_status(result),
            code=result.mode.upper(),
            rows_affected=sum(n or 0 for n in counts) if any(n is not None for n in counts) else None,
            mode=result.mode,
            reason=result.fallback.reason.name if result.fallback else None,
            reason_text=str(result.fallback) if result.fallback else None,
            rows_inserted=result.rows_inserted,
            rows_updated=result.rows_updated,
            rows_deleted=result.rows_deleted,
            apply_form=result.apply_form,
            statements=len(result.statements),
            strategies=json.dumps(dict(result.strategies)),
            sources=json.dumps([vars(source) for source in result.sources]),
            compile_s=round(result.compile_s, 4),
            explanation=result.explanation,
        )


def _status(result: RefreshResult) -> str:
    """`INCREMENTAL +3 -1 ~2, 1 of 2 sources changed`; on one line, without quotes."""
    parts = [result.mode.upper()]
    if result.fallback:
        parts.append(str(result.fallback))
    if result.mode == "incremental":
        counts = (("+", result.rows_inserted), ("-", result.rows_deleted), ("~", result.rows_updated))
        parts += [f"{sign}{n}" for sign, n in counts if n is not None]
        changed = sum(source.from_version != source.to_version for source in result.sources)
        parts[-1] += f", {changed} of {len(result.sources)} sources changed"
    return re.sub(r"[\s]+", " ", re.sub(r"[\"'`\\]", "", " ".join(parts)))
