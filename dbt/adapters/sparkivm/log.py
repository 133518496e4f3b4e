"""What the package writes into dbt's log."""

from __future__ import annotations

from dbt.adapters.events.logging import AdapterLogger

logger = AdapterLogger("SparkIvm")
