"""The guards that do not look at changes: why a view has to be rebuilt."""

from __future__ import annotations

from collections.abc import Mapping

from sparkivm.digest import digest
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.observation import Observation

_OF_COMPUTING = (Reason.NUMERIC_OVERFLOW.name, Reason.REFRESH_FAILED.name)  # not of compiling


def reason_to_rebuild(seen: Observation) -> Fallback | None:
    """The first reason that holds, None if the view may be refreshed from changes."""
    request, stored, compiled, settings = seen.request, seen.stored, seen.compiled, seen.settings
    frontier = stored.frontier
    if not stored.is_missing and (request.full_refresh or request.refresh_mode == "full"):
        return Fallback(Reason.FULL_REFRESH_REQUESTED)
    if stored.problem is not None:
        return stored.problem
    assert frontier is not None and stored.facts is not None, "a state without a problem has a frontier"
    if stored.facts.kind != request.layout.file_format:
        what = f"file_format is {request.layout.file_format}, but the state is in {stored.facts.kind.title()}"
        return Fallback(Reason.CONFIG_CHANGED, what)
    if compiled.fallback is not None:
        return compiled.fallback
    if dict(frontier.settings) != dict(settings):
        return Fallback(
            Reason.CONFIG_CHANGED, f"{', '.join(_different(frontier.settings, settings))} changed"
        )
    if frontier.auxiliaries and not request.may_keep_views:
        return Fallback(
            Reason.CONFIG_CHANGED, "auxiliary_views is never, but the state was computed from auxiliary views"
        )
    if compiled.decided is not None:
        return compiled.decided.reason
    if frontier.clones:
        return Fallback(Reason.QUERY_CHANGED, "the view was cloned, and it reads other views")
    if frontier.plan == compiled.plan_hash and frontier.kind != "full":
        return None
    if frontier.text != digest(request.sql):
        return Fallback(Reason.QUERY_CHANGED, "the model's SQL changed")
    if frontier.schemas.keys() == compiled.schemas.keys():
        if names := _different(frontier.schemas, compiled.schemas):
            return Fallback(Reason.SOURCE_SCHEMA_CHANGED, f"columns of {', '.join(names)} changed")
    elif names := sorted(compiled.schemas.keys() - frontier.schemas.keys()):
        return Fallback(Reason.QUERY_CHANGED, f"through its views, it now reads {', '.join(names)}")
    if names := _different(frontier.views, compiled.views):
        return Fallback(Reason.QUERY_CHANGED, f"the SQL of {', '.join(names)}, which it reads, changed")
    if frontier.reason in _OF_COMPUTING:
        return Fallback(Reason[frontier.reason], "at the last full refresh; the query is the same")
    return Fallback(Reason.QUERY_CHANGED)


def _different(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
