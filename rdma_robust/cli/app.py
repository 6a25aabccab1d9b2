"""The command line: the list of commands. The command `NAME` is `NAME_command` of `cli/commands/NAME.py`: its options, what
it checks of them, and what it does."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, Final

import typer

from rdma_robust import VERSION_TEXT
from rdma_robust.cli.mistakes import is_mistake, mistyped_command, told
from rdma_robust.cli.options.help_page import HelpedCommand, HelpedGroup
from rdma_robust.cli.options.help_texts import COMMANDS, NESTED
from rdma_robust.cli.settings import Settings, settings_here
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.colour import choose
from rdma_robust.frame.shell.inputs import MESSAGES_SUFFIX, SUFFIX, TRENCHER_SUFFIX
from rdma_robust.frame.shell.stderr import error_line, warn
from rdma_robust.frame.shell.stop import listen
from rdma_robust.text import printable

APP_HELP = """Decide whether RDMA programs are robust.

A program is robust if everything it can do on RDMA hardware it can also do under sequential consistency.

\b
  rdma-robust FILE...           the same as: rdma-robust check FILE...
  rdma-robust COMMAND --help    what it does, its options, exit codes, examples
"""

HELP_ASKED: Final = ("--help", "-h", "--version")
WITH_COMMANDS: Final = ("messages", "contracts", "demo")
"""The commands that have commands of their own; the library lists them last."""

SHOW_SETTINGS: Final = "--show-settings"
WITHOUT_SETTINGS: Final = frozenset({"--help", "-h", "--version", "lsp", "completion"})
"""With one of these words there is no need for settings, and no harm in wrong ones."""


def with_command(arguments: list[str]) -> list[str]:
    """Return `arguments` with the default command in front unless they begin with a command or ask about the tool.

    Where all programs are message programs that is the one for these; `messages` and `contracts` have a default too.
    Raises UsageError if they begin with what is nearly a command and no file.
    """
    if arguments[:1] == ["--color"] and arguments[2:3] and arguments[2] in COMMANDS:
        arguments = [arguments[2], *arguments[:2], *arguments[3:]]
    if arguments and arguments[0] in NESTED:
        return _with_group_command(arguments)
    named = arguments[:1] == ["check"]
    if arguments[:1] and (named or arguments[0] not in (*COMMANDS, *HELP_ASKED)) and _all_messages(arguments):
        return ["messages", "check", *arguments[named:]]
    if not arguments or arguments[0] in (*COMMANDS, *HELP_ASKED):
        return list(arguments)
    if complaint := mistyped_command(arguments[0], tuple(COMMANDS)):
        raise UsageError(complaint)
    return ["check", *arguments]


def _with_group_command(arguments: list[str]) -> list[str]:
    """Return the arguments of `messages` or `contracts` with the default command, unless they name one or ask about it.

    Raises UsageError if they begin with what is nearly a command and no file.
    """
    group, *rest = arguments
    commands = NESTED[group]
    words = [each for each in rest if not each.startswith("-")]
    asks = any(each in HELP_ASKED for each in arguments)
    if words and words[0] not in commands and (complaint := mistyped_command(words[0], tuple(commands))):
        raise UsageError(complaint)
    return list(arguments) if not words or asks or words[0] in commands else [group, "check", *rest]


def _all_messages(arguments: Sequence[str]) -> bool:
    """Whether there are message programs among the arguments and no other programs or folders."""
    others = any(each.endswith((SUFFIX, TRENCHER_SUFFIX)) or os.path.isdir(each) for each in arguments)
    return not others and any(each.endswith(MESSAGES_SUFFIX) for each in arguments)


def command_line(wanted: Sequence[str] = tuple(COMMANDS)) -> typer.Typer:
    """Return the command line, where only the commands that are `wanted` have their options.

    To load and to describe them all takes as long as deciding, and the list of commands needs only their help texts.
    """
    app = typer.Typer(
        name="rdma-robust",
        cls=HelpedGroup,
        help=APP_HELP,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True, no_args_is_help=False)(_main)
    for name, text in COMMANDS.items():
        command = command_of(name) if name in wanted else _stub(name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, help=text, cls=HelpedGroup)
        else:
            app.command(name, help=text, cls=HelpedCommand)(command)
    return app


def command_of(name: str) -> Any:
    """Return the command `name` from its module: a function with its options, or a typer with commands of its own."""
    module = name.replace("-", "_")
    return getattr(import_module(f"rdma_robust.cli.commands.{module}"), f"{module}_command")


def _main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and the search kernel in use, and exit.")
    ] = False,
) -> None:
    if version:
        print(VERSION_TEXT)
        raise typer.Exit(Exit.OK)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(Exit.INVALID)


def _listed() -> None:
    """Stand for a command in the list of commands."""


def _stub(name: str) -> Any:
    """Return what stands for a command that is only listed; one with commands of its own stays in their order."""
    if name not in WITH_COMMANDS:
        return _listed
    group = typer.Typer()
    group.callback()(_listed)
    return group


def run(arguments: Sequence[str]) -> int:
    """Run the command line `arguments` (without the program's name) and return the exit code.

    Raises Stopped on Ctrl-C and BrokenPipeError; turns everything else into messages.
    """
    listen()
    choose("auto")
    plan: list[Callable[[], Exit]] = []
    settings = Settings()
    try:
        typed = [each for each in arguments if each != SHOW_SETTINGS]
        settings = Settings() if WITHOUT_SETTINGS.intersection(typed) else settings_here()
        if len(typed) < len(arguments):
            from rdma_robust.cli.shown_settings import show_settings  # noqa: PLC0415 - seldom asked

            return show_settings(with_command(typed or ["check"]), settings, command_line)
        code = _parse(with_command(typed), plan, settings)
        return plan[0]() if plan else code
    except ProgramError as error:
        warn(printable(error.render(), "\n"))
        return Exit.INVALID
    except UsageError as error:
        blamed = settings.blamed(with_command(typed)[0], str(error), typed) if settings.entries else None
        warn(error_line(str(error), error.code) if blamed is None else printable(blamed.render(), "\n"))
        return Exit.INVALID


def _defaults(command: str, settings: Settings) -> dict[str, Any]:
    """Return the defaults that settings give the options of a command; those of a group are for each of its commands."""
    found = settings.defaults(command)
    return dict.fromkeys(NESTED[command], found) if command in NESTED else found


def _parse(arguments: Sequence[str], plan: list[Callable[[], Exit]], settings: Settings) -> int:
    """Append to `plan` what `arguments` ask for; return the exit code if that is nothing. The parser has its own ideas about
    Ctrl-C and broken pipes, so what takes time is done after it.

    Raises UsageError, and ProgramError where it is a setting that an option does not take.
    """
    defaults = {name: _defaults(name, settings) for name in arguments[:1] if name in COMMANDS}
    try:
        code = command_line(arguments[:1])(args=list(arguments), obj=plan, standalone_mode=False, default_map=defaults)
    except Exception as error:
        if is_mistake(error):
            param = getattr(error, "param", None)
            if defaults and param is not None and not any(each.startswith(tuple(param.opts)) for each in arguments):
                refused = settings.refused(arguments[0], param.name or "", told(error, arguments[0]))
                if refused is not None:
                    raise refused from error
            raise UsageError(told(error, arguments[0])) from error
        raise
    return code if isinstance(code, int) else Exit.OK
