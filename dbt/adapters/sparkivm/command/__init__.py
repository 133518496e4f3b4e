"""The command `sparkivm`: one module per subcommand, and what they share."""

from __future__ import annotations

import click
from dbt.adapters.sparkivm.command.run import run
from dbt.adapters.sparkivm.command.server import server


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Incremental views for dbt on Spark."""


for _command in (run, server):
    main.add_command(_command)
