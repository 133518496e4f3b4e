"""Finds nodes of a project that need the same name, before either is built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sparkivm.errors import ModelError
from sparkivm.names import TableName, reserved_names


@dataclass(frozen=True)
class Built:
    """What a project builds: a model, seed or snapshot by its unique_id, or the mirror of a source.

    incremental  whether it is an incremental view, which needs more names than its own
    """

    who: str
    name: TableName
    incremental: bool = False

    @property
    def needs(self) -> Mapping[str, str]:
        """All names that it needs, by their keys as Spark compares them, with their use."""
        return {self.name.key: "relation", **(reserved_names(self.name) if self.incremental else {})}


class NamesInProject:
    """All names that the nodes of a project need."""

    def __init__(self, built: Iterable[Built]) -> None:
        self.built = {one.who: one for one in built}
        self._needed: dict[str, list[tuple[str, str]]] = {}  # by the name: who needs it, and for what
        for one in self.built.values():
            for key, what in one.needs.items():
                self._needed.setdefault(key, []).append((one.who, what))

    def check(self, model: str) -> None:
        """Raises: ModelError if a model, by its unique_id, needs a name that another node needs too."""
        for key, what in self.built[model].needs.items():
            for who, other in self._needed[key]:
                if who != model:
                    raise ModelError(
                        self.built[model].name,
                        f"{key} would be its {what} and the {other} of {who}",
                        "give one of them another alias or schema",
                    )
