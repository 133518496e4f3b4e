"""The dbt project that a subcommand works on: its options, and what an operation of it prints.

tested  tests/adapter/test_command_over_dbt.py, tests/dbt/test_command.py
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import click
from dbt.cli.options import MultiOption

_Command = TypeVar("_Command", bound=Callable[..., Any])

NOT_STARTED = 2  # dbt's exit code for a command that could not start
VIEWS = "config.materialized:incremental_view"  # a selector

_PLACE = "\n  \n  > in macro"  # what dbt adds to the message of an error
_ERRORS = ("RunningOperationCaughtError", "RunningOperationUncaughtError")

select_option = click.option(
    "--select", "-s", cls=MultiOption, multiple=True, type=tuple, help="views, in dbt's selection syntax"
)


@dataclass(frozen=True)
class Project:
    """Where the project and its profile are, as for dbt; None: where dbt looks for them."""

    project_dir: str | None = None
    profiles_dir: str | None = None
    profile: str | None = None
    target: str | None = None
    vars: str | None = None

    @property
    def directory(self) -> Path:
        """Where dbt looks for the project: it may be in a parent directory."""
        from dbt.cli.resolvers import default_project_dir

        return Path(self.project_dir or _variable("PROJECT_DIR") or default_project_dir())

    @property
    def target_path(self) -> Path:
        """Where dbt writes its artifacts. Raises: NotStarted."""
        own = _variable("TARGET_PATH") or self._rendered(self.described().get("target-path") or "target")
        return self.directory / own

    @property
    def name(self) -> str:
        """As in its dbt_project.yml."""
        return str(self.described()["name"])

    def described(self) -> dict[str, Any]:
        """Its dbt_project.yml as it is written. Raises: NotStarted."""
        from dbt.clients.yaml_helper import load_yaml_text
        from dbt_common.exceptions import DbtBaseException

        path = self.directory / "dbt_project.yml"
        try:
            found = load_yaml_text(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeError) as error:
            raise NotStarted(f"{self.directory} has no dbt_project.yml that can be read: {error}") from error
        except DbtBaseException as error:
            raise NotStarted(f"{path} is not YAML: {_first_line(error)}") from error
        if not isinstance(found, dict) or "name" not in found:
            raise NotStarted(f"{path} does not name the project")
        return found

    def _rendered(self, text: str) -> str:
        """A text of dbt_project.yml as dbt renders it. Raises: NotStarted."""
        from dbt.config.renderer import DbtProjectYamlRenderer
        from dbt_common.exceptions import DbtBaseException

        if "{{" not in text and "{%" not in text:  # then a report needs no profile
            return text
        flags, profile = self._flags_and_profile()
        try:
            return str(DbtProjectYamlRenderer(profile, flags.VARS).render_value(text))
        except DbtBaseException as error:
            raise NotStarted(f"dbt_project.yml of {self.directory}: {_first_line(error)}") from error

    def options(self, *, with_project: bool = True) -> list[str]:
        """The same as options of a dbt command."""
        given = self._given if with_project else replace(self, project_dir=None)._given
        return [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value)]

    @property
    def _given(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    def found(self) -> tuple[Path, Any]:
        """The directory in which dbt finds the project, and the profile's credentials.

        Raises: NotStarted if dbt would not find or accept them.
        """
        flags, profile = self._flags_and_profile()
        return Path(flags.PROJECT_DIR), profile.credentials

    def _flags_and_profile(self) -> tuple[Any, Any]:
        """Raises: NotStarted."""
        from dbt.cli.flags import Flags
        from dbt.cli.types import Command
        from dbt.config.runtime import load_profile
        from dbt.flags import set_flags
        from dbt_common.context import set_invocation_context
        from dbt_common.exceptions import DbtBaseException

        set_invocation_context(os.environ)  # where `env_var` looks
        try:
            flags = Flags.from_dict(Command.PARSE, dict[str, Any](self._given))
            set_flags(flags)
            profile = load_profile(flags.PROJECT_DIR, flags.VARS, flags.PROFILE, flags.TARGET)
        except (DbtBaseException, click.UsageError) as error:
            raise NotStarted(str(error)) from error
        return flags, profile

    def operation(
        self,
        macro: str,
        arguments: Mapping[str, object],
        as_printed: Callable[[str], None] = lambda text: None,
    ) -> list[str]:
        """The texts that a macro prints, run as `dbt run-operation` does. Other macros may print some too.

        as_printed  gets each text when it is printed
        Raises: click.ClickException with dbt's message.
        """
        printed: list[str] = []
        errors: list[str] = []

        def listen(event: Any) -> None:
            if event.info.name == "PrintEvent":
                printed.append(event.info.msg)
                as_printed(event.info.msg)
            elif event.info.name in _ERRORS:
                errors.append(event.data.exc.partition(_PLACE)[0].strip())

        command = ["run-operation", macro, "--args", json.dumps(dict(arguments))]
        if not self.dbt(command, listen).success:
            raise click.ClickException("\n".join(errors) or f"{macro} failed; see dbt's log")
        return printed

    def answer(self, macro: str, arguments: Mapping[str, object]) -> Any:
        """The JSON that a macro prints last.

        Raises: click.ClickException.
        """
        printed = self.operation(macro, arguments)
        answers = (found for text in reversed(printed) if (found := json_in(text)) is not None)
        if (answer := next(answers, None)) is None:
            raise click.ClickException(f"{macro} printed no answer; does the project replace this macro?")
        return answer

    def models(self, *selection: str) -> list[str]:
        """The unique_ids of the models that `dbt list` finds with these options.

        Raises: click.ClickException.
        """
        command = ["list", "--resource-types", "model", "--output", "json", "--output-keys", "unique_id"]
        listed: Any = self.dbt([*command, *selection]).result
        return [json.loads(line)["unique_id"] for line in listed or ()]

    def views(self, select: Sequence[str]) -> list[str]:
        """The unique_ids of the incremental views that a selection contains.

        Raises: click.ClickException.
        """
        return self.models("--select", *views_of(select))

    def dbt(self, command: Sequence[str], *listeners: Callable[[Any], None]) -> Any:
        """The result of a dbt command that prints nothing, and leaves the results of the last run alone.

        Raises: NotStarted.
        """
        from dbt.cli.main import dbtRunner

        done = dbtRunner(callbacks=list(listeners)).invoke(
            ["--log-level", "none", "--print", "--no-write-json", *command, *self.options()]
        )
        if done.exception is not None:
            raise NotStarted(str(done.exception))
        return done


def _variable(name: str) -> str | None:
    """An environment variable of dbt, which since 1.11 prefers those with ENGINE in their names."""
    return os.environ.get(f"DBT_ENGINE_{name}") or os.environ.get(f"DBT_{name}")


def views_of(select: Sequence[str]) -> list[str]:
    """A selection in dbt's syntax, limited to incremental views.

    dbt splits each value at blanks, so each part needs the limit. An empty part selects nothing.
    """
    return [f"{part},{VIEWS}" for one in select for part in one.split(" ")]


def json_in(text: str) -> Any:
    """The list or mapping that a printed text is; None for any other text."""
    with suppress(ValueError):
        found = json.loads(text)
        return found if isinstance(found, (dict, list)) else None
    return None


def _first_line(error: Exception) -> str:
    """What an error of dbt says, without an excerpt of the text and without its own kind of error."""
    lines = str(getattr(error, "msg", None) or error).splitlines()
    return lines[0].strip() if lines else type(error).__name__


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
        vars: str | None,
        **options: Any,
    ) -> Any:
        project = Project(project_dir, profiles_dir, profile, target, vars)
        return command(*args, project=project, **options)

    result: Any = update_wrapper(with_project, command)  # with the options that the command has so far
    for name in ("vars", "target", "profile", "profiles-dir", "project-dir"):
        result = click.option(f"--{name}", help="as in dbt")(result)
    return result  # type: ignore[no-any-return]
