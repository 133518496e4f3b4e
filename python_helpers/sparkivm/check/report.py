"""What a check says of a project's models, as values and as JSON (docs/check.schema.json).

tested  tests/check/test_report.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from sparkivm.errors import DeclarationError, ModelError
from sparkivm.reasons import Fallback, Place

VERSION = 1  # of the JSON
NOT_CHECKED = "NOT_CHECKED"

Verdict = Literal["incremental", "full", "unknown"]


@dataclass(frozen=True)
class Cause:
    """Why a model would not be incremental, or why we do not know.

    code       a reason's name, or NOT_CHECKED
    line       of the compiled SQL, from 1, like column; None if the place is not known
    file_line  the same line in the model's file, if it is there as it is
    """

    code: str
    what: str
    do: str
    line: int | None = None
    column: int | None = None
    text: str = ""
    file_line: int | None = None

    def is_like(self, other: Cause | None) -> bool:
        """Whether it is the same cause, maybe at another place."""
        return other is not None and (self.code, self.what) == (other.code, other.what)


@dataclass(frozen=True)
class Edit:
    """Something in the model's file that an incremental view has no use for.

    lines  of the file, from 1; none if it is in the config
    """

    what: str
    do: str
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class ModelReport:
    """One model.

    model         dbt's unique_id
    materialized  what it is now
    verdict       what it would be as an incremental_view
    """

    model: str
    name: str
    path: str
    relation: str
    materialized: str
    verdict: Verdict
    cause: Cause | None = None
    edits: tuple[Edit, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> ModelReport:
        """From its JSON, which may have fields of a later version.

        Raises: KeyError, TypeError, AttributeError.
        """
        edits = tuple(Edit(**{**_known(Edit, one), "lines": tuple(one["lines"])}) for one in found["edits"])
        cause = None if found["cause"] is None else Cause(**_known(Cause, found["cause"]))
        parts = {"cause": cause, "edits": edits, "remarks": tuple(found["remarks"])}
        return cls(**{**_known(cls, found), **parts})


@dataclass(frozen=True)
class Report:
    """All models that were checked, by unique_id.

    package  version of sparkivm
    """

    project: str
    package: str
    models: tuple[ModelReport, ...]

    @property
    def counts(self) -> Mapping[Verdict, int]:
        return Counter(model.verdict for model in self.models)

    @property
    def json(self) -> dict[str, Any]:
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def of(cls, found: Any) -> Report:
        """From its JSON, which may have fields of a later version. Raises: ValueError."""
        try:
            if found["version"] != VERSION:
                raise ValueError(f"it has version {found['version']}, not {VERSION}")
            models = tuple(map(ModelReport.of, found["models"]))
            return cls(found["project"], found["package"], models)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it is not a report of sparkivm check: {error!r}") from None


def _known(kind: type[Cause | Edit | ModelReport], found: Mapping[str, Any]) -> dict[str, Any]:
    names = {one.name for one in fields(kind)}
    return {name: value for name, value in found.items() if name in names}


def cause_of(why: Fallback, compiled: str, raw: str) -> Cause:
    """A reason for full refreshes.

    compiled  the SQL in which its place is
    raw       the text of the model's file
    """
    what = why.detail or why.reason.happened
    return _at(why.place, Cause(why.reason.name, what, why.reason.way_out), compiled, raw)


def not_checked(error: ModelError | DeclarationError, compiled: str, raw: str) -> Cause:
    """An error that ends the check of a model."""
    place = error.place if isinstance(error, ModelError) else None
    what = error.what if isinstance(error, ModelError) else f"source {error.source}: {error.what}"
    return _at(place, Cause(NOT_CHECKED, what, error.do), compiled, raw)


def _at(place: Place | None, cause: Cause, compiled: str, raw: str) -> Cause:
    if place is None:
        return cause
    line = _in_file(place.line, compiled, raw)
    return Cause(cause.code, cause.what, cause.do, place.line, place.column, place.text, line)


def _in_file(line: int, compiled: str, raw: str) -> int | None:
    """The line of a model's file that is a line of its compiled SQL, if exactly one line is."""
    text = [one.strip() for one in compiled.splitlines()[line - 1 : line]]
    found = [number for number, one in enumerate(raw.splitlines(), 1) if [one.strip()] == text]
    return found[0] if len(found) == 1 else None
