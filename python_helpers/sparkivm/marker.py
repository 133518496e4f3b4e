"""The marker of each table and view that the package makes: whose it is, and what it is for.

It is stored in the relation's properties. A relation without a marker, or with another owner's, belongs to
somebody else: we never replace, rename, alter or drop it.

tested  tests/unit/test_marker.py, tests/refresh/test_ownership.py, tests/spark/test_ownership.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from sparkivm.names import AUXILIARY_SUFFIX, STATE_SUFFIX, STEP_SUFFIX, TableName, stem_of

_PROJECT, _MODEL, _VIEW, _ROLE = PROPERTIES = tuple(
    f"sparkivm.{name}" for name in ("project", "model", "view", "role")
)
STATE_CATALOG = (
    "sparkivm.catalog"  # of a public view: the catalog of its state, if it differs from the view's
)


class Role(Enum):
    """The purpose of a relation; the value is its name in messages and properties."""

    STATE = "state"
    PUBLIC_VIEW = "public view"
    AUXILIARY_STATE = "state of an auxiliary view"
    AUXILIARY_VIEW = "auxiliary view"
    STEP = "step of a refresh"
    MIRROR = "mirror"
    PUT_ASIDE = "put aside"  # somebody else's relation that had the view's name


# Spark does not show a property whose key or value contains one of these (spark.redaction.regex,
# spark.sql.redaction.options.regex), such as `hourly`. We write such a value as hexadecimal digits.
_REDACTED = re.compile(r"url|secret|password|token|access[.]?key|credential", re.IGNORECASE)
_HEX = "hex:"
_NAMED_OTHERWISE = (Role.MIRROR, Role.PUT_ASIDE)  # not after the view to which they belong
STATES = (Role.STATE, Role.AUXILIARY_STATE)
# What follows the view's name.
_SUFFIXES = {
    Role.STATE: STATE_SUFFIX,
    Role.PUBLIC_VIEW: "",
    Role.AUXILIARY_STATE: rf"{AUXILIARY_SUFFIX}[0-9]+{STATE_SUFFIX}",
    Role.AUXILIARY_VIEW: rf"{AUXILIARY_SUFFIX}[0-9]+",
    Role.STEP: rf"{STEP_SUFFIX}[0-9a-f_]+",
}


@dataclass(frozen=True)
class Owner:
    """The model for which relations are kept.

    project  name of the dbt project that runs
    model    dbt's unique_id of the model; for a mirror, the key of its source
    view     key of the view that users read
    """

    project: str
    model: str
    view: str

    def __str__(self) -> str:
        return f"{self.model} of project {self.project}, built as {self.view}"


def owner_of(project: str, model: str, view: TableName) -> Owner:
    return Owner(project, model, view.key)


@dataclass(frozen=True)
class Marker:
    """Owner and role of one relation."""

    owner: Owner
    role: Role

    @property
    def properties(self) -> dict[str, str]:
        """The relation properties that store it."""
        values = (self.owner.project, self.owner.model, self.owner.view, self.role.value)
        return dict(zip(PROPERTIES, map(shown, values), strict=True))

    def fits(self, name: TableName) -> bool:
        """Whether the package gives a relation with this marker this name.

        Otherwise the relation is a copy or was renamed, and belongs to somebody else.
        """
        if self.role in _NAMED_OTHERWISE:
            return True
        identifier, view = name.identifier.lower(), f".{self.owner.view}"
        schema = f".{name.schema.lower()}."
        if (stem := stem_of(identifier)) != identifier:  # it may have a hash in place of its end
            return schema + stem in view
        found = re.fullmatch(f"(.*){_SUFFIXES[self.role]}", identifier)
        return found is not None and view.endswith(schema + found[1])

    def __str__(self) -> str:
        return f"the {self.role.value} of {self.owner}"


def read_marker(properties: Mapping[str, str]) -> Marker | None:
    """The marker in a relation's properties; None if it is missing or incomplete."""
    values = [as_written(properties.get(name)) for name in PROPERTIES]
    project, model, view, role = values
    if project is None or model is None or view is None or role not in {one.value for one in Role}:
        return None
    return Marker(Owner(project, model, view), Role(role))


def shown(value: str) -> str:
    """The text of a property, which Spark shows as it is. `as_written` reads it."""
    return _HEX + value.encode().hex() if _REDACTED.search(value) else value


def state_catalog(properties: Mapping[str, str]) -> str | None:
    """The catalog of a public view's state; None for the view's own."""
    return as_written(properties.get(STATE_CATALOG))


def as_written(text: str | None) -> str | None:
    """The value of a property that `shown` made."""
    if text is None or not text.startswith(_HEX):
        return text
    try:
        return bytes.fromhex(text.removeprefix(_HEX)).decode()
    except ValueError:  # not ours
        return text
