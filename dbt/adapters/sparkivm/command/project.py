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

    def found(self) -> Found:
        """Where dbt finds the project, and the profile's credentials.

        Raises: NotStarted if dbt would not find or accept them.
        """
        from dbt.cli.flags import Flags
        from dbt.cli.types import Command
        from dbt.config.runtime import load_profile
        from dbt.flags import set_flags
        from dbt_common.exceptions import DbtBaseException

        given = {
            "project_dir": self.project_dir,
            "profiles_dir": self.profiles_dir,
            "profile": self.profile,
            "target": self.target,
        }
        try:
            flags = Flags.from_dict(Command.PARSE, {k: v for k, v in given.items() if v is not None})
            set_flags(flags)
            profile = load_profile(flags.PROJECT_DIR, flags.VARS, flags.PROFILE, flags.TARGET)
        except (DbtBaseException, click.UsageError) as error:
            raise NotStarted(str(error)) from error
        return Found(Path(flags.PROJECT_DIR), profile.credentials)

    def operation(self, macro: str, arguments: Mapping[str, object]) -> str:
        """What a macro prints, run as `dbt run-operation` does.

        Raises: click.ClickException with dbt's message.
        """
        from dbt.cli.main import dbtRunner

        printed: list[str] = []

        def listen(event: Any) -> None:
            if event.info.name == "PrintEvent":
                printed.append(event.info.msg)

        command = ["--log-level", "none", "run-operation", macro, "--args", json.dumps(dict(arguments))]
        done = dbtRunner(callbacks=[listen]).invoke([*command, *self.options()])
        if done.exception is not None:
            raise NotStarted(str(done.exception))
        if not done.success:
            failed: Any = done.result
            raise click.ClickException("\n".join(str(one.message) for one in failed.results))
        return "\n".join(printed)


@dataclass(frozen=True)
class Found:
    """A project's directory, and the credentials of its profile and target."""

    directory: Path
    credentials: Any


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
