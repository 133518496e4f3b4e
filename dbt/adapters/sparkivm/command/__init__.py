"""The command `sparkivm`: one module per subcommand, and what they share."""

from __future__ import annotations

import click
from dbt.adapters.sparkivm.command.check import check
from dbt.adapters.sparkivm.command.run import run


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Incremental views for dbt on Spark."""


for _command in (check, run):
    main.add_command(_command)
