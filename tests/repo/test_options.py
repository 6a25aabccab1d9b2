"""An option that several commands have is the same in all of them, and a command is found under its name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from rdma_robust.cli.app import command_line
from rdma_robust.frame import registry
from tests.conftest import ROOT
from tests.repo.test_layering import imports

CLI = ROOT / "rdma_robust" / "cli"

DEMOS = ("demo pcp", "demo abp", "demo vass", "demo finite")
OTHERWISE = {
    ("--instrumentation", ("export",)): "none is a question of its own, and the default depends on the form",
    ("--engine", ("cover",)): "the engines for nets",
    ("--self-check", ("messages check", "messages record")): "all engines for messages",
    ("--self-check", ("contracts check", "contracts explain")): "other ways to the answers of contracts",
    ("--engine", ("prove",)): "the engines for safety",
    ("--engine", ("messages check", "messages record", "messages matches", "messages explain")): "the engines for messages",
    ("--model", ("explain", "prove")): "several, and more of them",
    ("--model", ("repair",)): "those in which something can be made to wait",
    ("--dump-after", ("prove",)): "there is one pass",
    ("--order", ("needs",)): "what guarantees are asked for, not the hardware that decides",
    ("--threads", ("synthesise",)): "threads of the programs, not of the search",
    ("--timeout", ("hardware",)): "of one of its commands",
    ("--port", ("playground",)): "links lead there, so it is always the same",
    ("--timeout", ("explore",)): "a page that is open must answer soon",
    ("--timeout", ("synthesise",)): "of everything together",
    ("--timeout", ("lsp",)): "somebody is typing",
    ("--timeout", ("demo pcp", "demo vass", "demo finite")): "an audience waits",
    ("--max-states", ("export",)): "states written, not stored",
    ("--max-states", ("demo vass",)): "states written, not stored",
    ("--strict", ("compare",)): "what counts against the exit code is what is new or missing there",
    ("--expect", ("cover",)): "nets say in comments what is expected",
    (
        "--format",
        ("check", "record", "reach", "verify", "prove", "messages check", "messages record", "contracts check"),
    ): "answers go to other tools too",
    ("--format", ("needs", "races")): "answers go to other tools too, and a matrix of programs and tables",
    ("--format", ("cover",)): "JSON lines, for many nets",
    ("--format", ("lint",)): "JSON lines, for many programs, and lines for editors and logs",
    ("--format", ("repair",)): "text, JSON and SARIF fixes",
    ("--engine", ("contracts check", "contracts explain")): "the engines for contracts",
    ("--format", ("contracts explain",)): "drawings, a page, and diagrams for wikis",
    ("--format", ("explain", "messages explain")): "drawings and a page",
    ("--format", ("report",)): "several forms in one run",
    ("--format", ("compare",)): "Markdown, for a comment on a change",
    ("--buffer", ("messages trace",)): "one run has one",
    ("--buffer", ("explore",)): "one run has one, and a state has it already",
    ("--output", ("new", "fmt", "export", "import", "repair", "messages trace")): "a program or model, written as it is",
    ("--output", ("synthesise",)): "a folder with the programs",
    ("--format", ("scale",)): "charts and rows",
    ("--output", ("report",)): "a folder for several forms",
    ("--output", DEMOS): "the programs that are shown, or a folder with them",
    ("--quiet", ("report",)): "the report is a file; nothing else is printed",
    (
        "-D",
        (
            *(
                "check",
                "models",
                "needs",
                "races",
                "scale",
                "report",
                "reach",
                "verify",
                "prove",
                "lint",
                "messages check",
                "messages matches",
            ),
            "contracts check",
        ),
    ): "several values: instances, as many programs",
    ("--expect", ("needs",)): "other lines",
    ("--write", ("repair",)): "the program that is repaired, not laid out anew",
    ("--of", ("export",)): "other graphs than those of an explanation",
    ("--buffer", ("contracts check", "contracts explain", "contracts infer")): "one of two, not each of them",
    ("--orders", ("needs", "report")): "every table of the tool, and a table has a column",
    ("--target", ("demo finite",)): "optional, and of the program that is translated",
    (
        "--max-states",
        ("outcomes", "reach", "verify"),
    ): "they search states one by one, with a limit",
}
"""Why commands declare an option otherwise than the other commands that have it."""

Declaration = tuple[object, ...]


def _options(command: Any, path: str) -> Iterator[tuple[str, str, Declaration]]:
    """Yield (option, command, what is declared) for a command and all below it."""
    for each in command.params:
        if each.param_type_name == "option" and each.name != "help":
            kind = getattr(each.type, "choices", None) or (each.type.name, getattr(each.type, "min", None))
            says = (tuple(each.opts), tuple(each.secondary_opts), each.help, each.metavar, tuple(kind), str(each.default))
            yield max(each.opts, key=len), path, says
    for name, below in getattr(command, "commands", {}).items():
        yield from _options(below, f"{path} {name}".strip())


def _declared() -> dict[str, dict[str, Declaration]]:
    found: dict[str, dict[str, Declaration]] = defaultdict(dict)
    for option, command, says in _options(typer.main.get_command(command_line()), ""):
        found[option][command] = says
    return found


def test_an_option_is_the_same_in_every_command() -> None:
    """Same names, help, metavar, type and default, but for the exceptions, each of which is one."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for option, declared in _declared().items():
        ways: dict[Declaration, list[str]] = defaultdict(list)
        for command, says in declared.items():
            ways[says].append(command)
        groups[option] = [tuple(commands) for commands in ways.values()]
    for option, commands in OTHERWISE:
        assert commands in groups[option], f"{option} is not declared otherwise by {commands}"
        groups[option].remove(commands)
        assert groups[option], f"all declarations of {option} are exceptions"
    assert {option: left for option, left in groups.items() if len(left) > 1} == {}


def test_options_do_not_import_commands() -> None:
    for path in (CLI / "options").glob("*.py"):
        assert not [each for each in imports(path) if each.startswith("rdma_robust.cli.commands")], path


@pytest.mark.parametrize("name", registry.commands())
def test_a_command_is_in_the_module_of_its_name(name: str) -> None:
    command = registry.commands()[name]
    for path, one in [(f"{name} {each.name}", each) for each in command.below if each.place] or [(name, command)]:
        function = registry.at(one.place)
        callback = getattr(function, "registered_callback", None)
        module = (function if callback is None else callback.callback).__module__
        assert module == f"rdma_robust.cli.commands.{path.replace('-', '_').replace(' ', '_')}"


@pytest.mark.parametrize("wanted", registry.commands())
def test_only_the_wanted_command_is_described(wanted: str) -> None:
    """The others are listed with their help and have no options; the one that is wanted is as in the whole command line."""
    whole: Any = typer.main.get_command(command_line())
    one: Any = typer.main.get_command(command_line([wanted]))
    assert list(one.commands) == list(whole.commands)
    for name, command in one.commands.items():
        assert command.get_short_help_str(200) == whole.commands[name].get_short_help_str(200)
        assert name != wanted or dict(_of(command)) == dict(_of(whole.commands[name]))
        assert name == wanted or not list(_of(command))


def _of(command: Any) -> Iterator[tuple[tuple[str, str], Declaration]]:
    return (((option, path), says) for option, path, says in _options(command, ""))
