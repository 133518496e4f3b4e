"""`sparkivm server`: keeps a Spark for a project, which dbt uses instead of starting one.

tested  tests/adapter/test_local_server.py, tests/dbt/test_local_server.py
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from dbt.adapters.sparkivm.command.project import Project, project_options

_MINUTE_S = 60


@click.group()
def server() -> None:
    """Keep a Spark running, which dbt uses instead of starting one."""


@server.command()
@click.option(
    "--idle-minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=120,
    show_default=True,
    help="stop after this time without a dbt command",
)
@project_options
def start(project: Project, idle_minutes: float) -> None:
    """Start a Spark with the settings of the profile; it keeps running when this command ends."""
    from dbt.adapters.sparkivm.local_server.client import ask_server
    from dbt.adapters.sparkivm.local_server.lifetime import start_server
    from dbt.adapters.sparkivm.session_defaults import session_settings

    home, directory, credentials = _found(project)
    with _failing_in_words():
        settings = session_settings(credentials.server_side_parameters, directory, credentials.state_format)
        running = ask_server(directory, want="compare", settings=settings)
        if running is not None:
            click.echo(f"A server for {directory} is already running (process {running.record.pid}).")
            return
        begun = time.monotonic()
        pid = start_server(directory, settings, project=home, idle_s=idle_minutes * _MINUTE_S)
    click.echo(
        f"Spark started in {time.monotonic() - begun:.0f} s (process {pid}). dbt uses it from now on.\n"
        f"It ends {idle_minutes:g} minutes after its last use, or by `sparkivm server stop`."
    )


@server.command()
@project_options
@click.pass_context
def status(context: click.Context, project: Project) -> None:
    """Show whether the server runs, and who uses it. Exit code 1 if it does not run."""
    from dbt.adapters.sparkivm.local_server.client import ask_server

    _, directory, _ = _found(project)
    with _failing_in_words():
        found = ask_server(directory, want="status")
    if found is None:
        click.echo(f"No server is running for {directory}.")
        context.exit(1)
    about = found.answer
    users = ", ".join(map(str, about["clients"]))
    use = f"dbt processes {users}" if users else f"nobody for {_duration(about['idle_s'])}"
    for name, value in {
        "server": f"process {found.record.pid}, for {_duration(about['running_s'])}",
        "used by": use,
        "memory": f"{about['used_bytes'] >> 20} of {about['most_bytes'] >> 20} MiB",
        "ends after": f"{_duration(about['ends_after_idle_s'])} without use",
        "directory": directory,
    }.items():
        click.echo(f"{name:<11} {value}")


@server.command()
@click.option("--now", is_flag=True, help="even if dbt is using it; running statements fail")
@project_options
def stop(project: Project, now: bool) -> None:
    """Stop the server and its Spark."""
    from dbt.adapters.sparkivm.local_server.lifetime import stop_server

    _, directory, _ = _found(project)
    with _failing_in_words():
        ended = stop_server(directory, now=now)
    if ended is None:
        click.echo(f"No server is running for {directory}.")
    else:
        click.echo(f"The server has ended (process {ended.pid}).")


def _found(project: Project) -> tuple[Path, Path, Any]:
    """The directory of the project that dbt would use, that of its Spark, and its profile's credentials.

    Raises: click.ClickException unless its profile has `type: sparkivm` and `method: session`.
    """
    from dbt.adapters.sparkivm.credentials import SparkIvmCredentials

    home, credentials = project.found()
    if not isinstance(credentials, SparkIvmCredentials) or credentials.method != "session":
        raise click.ClickException(
            "a server needs a profile of `type: sparkivm` with `method: session`, "
            f"and this one has type: {credentials.type}, method: {getattr(credentials, 'method', None)}"
        )
    return home, credentials.directory_in(home), credentials


@contextmanager
def _failing_in_words() -> Generator[None, None, None]:
    from dbt.adapters.sparkivm.local_server.client import Refused
    from dbt_common.exceptions import DbtRuntimeError

    try:
        yield
    except (Refused, DbtRuntimeError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _duration(seconds: float) -> str:
    minutes = int(seconds) // _MINUTE_S
    if minutes == 0:
        return f"{seconds:.0f} s"
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
