"""The command line, made of the commands that tools register (`frame/registry.py`): each is a function with its options,
which checks them and appends what is to be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import typer

from rdma_robust import VERSION_TEXT
from rdma_robust.cli.mistakes import TOOL, is_mistake, mistake_told, mistyped_command
from rdma_robust.cli.options.help_page import HelpedCommand, HelpedGroup
from rdma_robust.cli.settings import Settings, settings_here
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.frame import registry
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.colour import choose
from rdma_robust.frame.shell.inputs import Missing, UnreadableError
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
SHOW_SETTINGS: Final = "--show-settings"
WITHOUT_SETTINGS: Final = frozenset({"--help", "-h", "--version", "lsp", "mcp", "completion"})
"""With one of these words there is no need for settings, and no harm in wrong ones."""


def with_command(arguments: list[str]) -> list[str]:
    """Return `arguments` with the default command in front unless they begin with a command or ask about the tool.

    Where all files are of front ends with a default of their own it is that; so have commands that have commands.
    Raises UsageError if they begin with what is nearly a command and no file.
    """
    commands = registry.commands()
    if arguments[:1] == ["--color"] and arguments[2:3] and arguments[2] in commands:
        arguments = [arguments[2], *arguments[:2], *arguments[3:]]
    one = commands.get(arguments[0]) if arguments else None
    if one is not None and one.is_group:
        return _with_group_command(one, arguments)
    if one is not None and arguments[1:2] and arguments[1] in one.passes_on:
        return [arguments[0], "--", *arguments[1:]]
    named = arguments[:1] == ["check"]
    known = (*commands, *HELP_ASKED)
    if arguments[:1] and (named or arguments[0] not in known) and (meant := registry.default_command(arguments)):
        return [*meant, *arguments[named:]]
    if not arguments or arguments[0] in known:
        return list(arguments)
    if complaint := mistyped_command(arguments[0], tuple(commands)):
        raise UsageError(complaint)
    return ["check", *arguments]


def _with_group_command(command: registry.CommandEntry, arguments: list[str]) -> list[str]:
    """Return the arguments of a command with commands with the default one, unless they name one or ask about it.

    Raises UsageError if they begin with what is nearly a command and no file.
    """
    group, *rest = arguments
    commands = [each.name for each in command.below]
    words = [each for each in rest if not each.startswith("-")]
    asks = any(each in HELP_ASKED for each in arguments)
    if words and words[0] not in commands and (complaint := mistyped_command(words[0], commands)):
        raise UsageError(complaint)
    return list(arguments) if not words or asks or words[0] in commands else [group, command.default, *rest]


def command_line(wanted: Sequence[str] | None = None) -> typer.Typer:
    """Return the command line, where only the commands that are `wanted` have their options; None are all.

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
    for name, one in registry.commands().items():
        command = command_of(one) if wanted is None or name in wanted else _stub(one)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, help=one.help, cls=HelpedGroup)
        else:
            app.command(name, help=one.help, cls=HelpedCommand)(command)
    return app


def command_of(command: registry.CommandEntry) -> Any:
    """Return a command from where it is: a function with its options, or a typer with commands of its own."""
    if command.question is not None:
        from rdma_robust.cli.question_command import question_command  # noqa: PLC0415 - each command loads what it needs

        return question_command(command)
    return _group(command) if command.is_group else registry.at(command.place)


def _group(command: registry.CommandEntry) -> typer.Typer:
    """Return the typer of a command that has commands of its own, and shows its help without one."""
    group = typer.Typer(invoke_without_command=True, no_args_is_help=False)
    for each in command.below:
        group.command(each.name, help=each.help, cls=HelpedCommand)(command_of(each))
    group.callback(invoke_without_command=True)(_help_without_command)
    return group


def _help_without_command(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(Exit.INVALID)


def _main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and the search kernel in use, and exit.")
    ] = False,
) -> None:
    if version:
        print(VERSION_TEXT)
        raise typer.Exit(Exit.OK)
    _help_without_command(context)


def _listed() -> None:
    """Stand for a command in the list of commands."""


def _stub(command: registry.CommandEntry) -> Any:
    """Return what stands for a command that is only listed; the library lists those with commands of their own last."""
    if not command.below:
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
    except UnreadableError as error:
        warn(Missing(error.name, str(error)).message())
        return Exit.INVALID
    except UsageError as error:
        blamed = settings.blamed(with_command(typed)[0], str(error), typed) if settings.entries else None
        warn(error_line(str(error), error.code) if blamed is None else printable(blamed.render(), "\n"))
        return Exit.INVALID


def _defaults(command: str, settings: Settings) -> dict[str, Any]:
    """Return the defaults that settings give the options of a command; those of a group are for each of its commands."""
    found, one = settings.defaults(command), registry.commands()[command]
    return dict.fromkeys([each.name for each in one.below], found) if one.is_group else found


def _parse(arguments: Sequence[str], plan: list[Callable[[], Exit]], settings: Settings) -> int:
    """Append to `plan` what `arguments` ask for; return the exit code if that is nothing. The parser has its own ideas about
    Ctrl-C and broken pipes, so what takes time is done after it.

    Raises UsageError, and ProgramError where it is a setting that an option does not take.
    """
    defaults = {name: _defaults(name, settings) for name in arguments[:1] if name in registry.commands()}
    more: dict[str, Any] = {"prog_name": TOOL, "standalone_mode": False}
    try:
        code = command_line(arguments[:1])(args=list(arguments), obj=plan, default_map=defaults, **more)
    except Exception as error:
        if is_mistake(error):
            param = getattr(error, "param", None)
            if defaults and param is not None and not any(each.startswith(tuple(param.opts)) for each in arguments):
                refused = settings.refused(arguments[0], param.name or "", mistake_told(error, arguments[0]))
                if refused is not None:
                    raise refused from error
            raise UsageError(mistake_told(error, arguments[0])) from error
        raise
    return code if isinstance(code, int) else Exit.OK
