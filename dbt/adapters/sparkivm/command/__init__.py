"""The command `sparkivm`: one module per subcommand, and what they share."""

from __future__ import annotations

import click
from dbt.adapters.sparkivm.command.changes import changes
from dbt.adapters.sparkivm.command.check import check
from dbt.adapters.sparkivm.command.explain import explain
from dbt.adapters.sparkivm.command.history import history
from dbt.adapters.sparkivm.command.leftovers import leftovers
from dbt.adapters.sparkivm.command.report import report
from dbt.adapters.sparkivm.command.run import run
from dbt.adapters.sparkivm.command.server import server
from dbt.adapters.sparkivm.command.status import status


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dbt-sparkivm")
def main() -> None:
    """Incremental views for dbt on Spark."""


for _command in (run, check, status, history, changes, explain, leftovers, report, server):
    main.add_command(_command)
