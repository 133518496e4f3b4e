"""An adapter plugin with only macros, and a function that makes the Spark adapters depend on it."""

from __future__ import annotations

from functools import cache
from typing import Any

from dbt.adapters.base.plugin import AdapterPlugin
from dbt.adapters.contracts.connection import Credentials
from dbt.adapters.factory import AdapterContainer
from dbt.include import sparkivm

_NAME = "incremental_view"


class OnlyMacros:
    """A placeholder for the plugin's adapter; no profile has this type."""

    @classmethod
    def type(cls) -> str:
        """Also the prefix of macros that `adapter.dispatch` finds before dbt's defaults."""
        return _NAME


Plugin = AdapterPlugin(
    adapter=OnlyMacros,  # type: ignore[arg-type]
    credentials=Credentials,  # type: ignore[type-abstract]
    include_path=sparkivm.PACKAGE_PATH,
    project_name="dbt_sparkivm",
)


def extend(factory: AdapterContainer) -> None:
    """Give the loaded adapters for Spark the methods and macros of incremental views.

    dbt loads a profile's plugins again in each invocation. We do not change the plugins themselves: the
    factory gets new ones instead.
    """
    from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin

    factory.load_plugin(_NAME)
    for name in ("spark", "databricks"):
        plugin = factory.plugins.get(name)
        if plugin is None or issubclass(plugin.adapter, IncrementalViewMixin):
            continue
        # Databricks' plugin depends on Spark's, and dbt accepts each package only once.
        macros = [_NAME] if name == "spark" else []
        factory.plugins[name] = AdapterPlugin(
            adapter=_extended(plugin.adapter),
            credentials=plugin.credentials,
            include_path=plugin.include_path,
            dependencies=[*plugin.dependencies, *macros],
            project_name=plugin.project_name,
        )


@cache
def _extended(adapter: Any) -> Any:
    from dbt.adapters.sparkivm.borrowed import BorrowingMixin

    # dbt finds the adapter's version by its class name.
    return type(adapter)(adapter.__name__, (BorrowingMixin, adapter), {})
