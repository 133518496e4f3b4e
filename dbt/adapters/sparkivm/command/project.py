"""The dbt project that a subcommand works on: its options, and what an operation of it prints."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])

NOT_STARTED = 2  # dbt's exit code for a command that could not start
QUIETLY = ("--log-level", "none", "--no-write-json")  # the results of the last run stay in target/
_FAILED = ("RunningOperationCaughtError", "RunningOperationUncaughtError")


@dataclass(frozen=True)
class Project:
    """Where the project and its profile are, as for dbt; None: where dbt looks for them."""

    project_dir: str | None = None
    profiles_dir: str | None = None
    profile: str | None = None
    target: str | None = None

    @property
    def directory(self) -> Path:
        return Path(self.project_dir or ".")

    def options(self, *, with_project: bool = True) -> list[str]:
        """The same as options of a dbt command."""
        parts = {
            "--project-dir": self.project_dir if with_project else None,
            "--profiles-dir": self.profiles_dir,
            "--profile": self.profile,
            "--target": self.target,
        }
        return [part for name, value in parts.items() if value is not None for part in (name, value)]

    def operation(
        self,
        macro: str,
        arguments: Mapping[str, object],
        as_printed: Callable[[str], None] = lambda text: None,
    ) -> str:
        """What a macro prints, run as `dbt run-operation` does.

        as_printed  gets each text when it is printed
        Raises: click.ClickException with dbt's message.
        """
        from dbt.cli.main import dbtRunner

        printed: list[str] = []
        errors: list[str] = []

        def listen(event: Any) -> None:
            if event.info.name == "PrintEvent":
                printed.append(event.info.msg)
                as_printed(event.info.msg)
            elif event.info.name in _FAILED:  # the operation's result has no message
                errors.append(event.data.exc)

        command = [*QUIETLY, "run-operation", macro, "--args", json.dumps(dict(arguments))]
        done = dbtRunner(callbacks=[listen]).invoke([*command, *self.options()])
        if done.exception is not None:
            raise NotStarted(str(done.exception))
        if not done.success:
            raise click.ClickException("\n".join(errors))
        return "\n".join(printed)


class NotStarted(click.ClickException):
    """The command could not start."""

    exit_code = NOT_STARTED


def project_options(command: _Command) -> _Command:
    """Add dbt's options for the project and the profile to a subcommand, which gets a `Project`."""

    def with_project(
        *args: Any,
        project_dir: str | None,
        profiles_dir: str | None,
        profile: str | None,
        target: str | None,
        **options: Any,
    ) -> Any:
        return command(*args, project=Project(project_dir, profiles_dir, profile, target), **options)

    result: Any = update_wrapper(with_project, command)  # with the options that the command has so far
    for name in ("target", "profile", "profiles-dir", "project-dir"):
        result = click.option(f"--{name}", help="as in dbt")(result)
    return result  # type: ignore[no-any-return]
