"""Help fits the terminal and its examples work; mistakes are told once, in our words, with the nearest right word."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer.main

from rdma_robust.cli.app import command_line, with_command
from rdma_robust.cli.mistakes import is_mistake, mistake_told
from rdma_robust.cli.options.help_page import EXAMPLES, Listing, blocks, command_page
from rdma_robust.frame import registry
from tests.conftest import Cli

LIBRARY = re.compile(
    r"Error:|Usage:|Try '|Invalid value|No such (option|command)|Missing (arg|opt|par)|unexpected extra|Value error|"
    r"not a valid|in the range|requires an|does not take|Traceback|typer|click|pydantic|lark|<class",
)
"""What the libraries would say."""

VALUES = ("", "x", "-1", "0", "1e400", "nan", "1.5", "99999999999999999999", "a b", "--", "ü\n\x1b[31m", "x" * 300)


GROUP: Any = typer.main.get_command(command_line())


def every_command(context: Any) -> Iterator[tuple[str, Any]]:
    """Yield the context of a command and of all below it, by their words."""
    yield context.command_path, context
    for name, command in getattr(context.command, "commands", {}).items():
        yield from every_command(command.make_context(name, [], parent=context, resilient_parsing=True))


PAGES = dict(every_command(GROUP.make_context("rdma-robust", [], resilient_parsing=True)))


def parsed(arguments: list[str]) -> str:
    """Return the complaint about a command line, '' if there is none; nothing is run."""
    try:
        GROUP.main(args=arguments, prog_name="rdma-robust", standalone_mode=False, obj=[])
    except Exception as error:
        return mistake_told(error) if is_mistake(error) else f"error: {error}"
    return ""


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_help_fits(path: str, width: int) -> None:
    lines = command_page(PAGES[path].command, PAGES[path], width)
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    for block in blocks(PAGES[path].command.help):
        for text in [block] if isinstance(block, str) else [what for _, what in block.rows]:
            assert text in words
    assert not LIBRARY.search(words.partition(" ")[2])


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_the_installed_command_prints_it(installed: Cli, columns: str) -> None:
    done = installed("verify", "--help", env={"COLUMNS": columns})
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= int(columns)


def test_commands_and_options_are_in_groups() -> None:
    named = [name for names in registry.groups().values() for name in names]
    assert len(set(named)) == len(named)
    assert not set(registry.commands()) - set(named), "every command has a group"
    lines = command_page(PAGES["rdma-robust"].command, PAGES["rdma-robust"], 80)
    assert [line for line in lines if line in registry.groups()] == list(registry.groups())
    path = "rdma-robust check"
    assert {"Model and search", "Limits", "Output", "Other"} <= set(command_page(PAGES[path].command, PAGES[path], 80))


@pytest.mark.parametrize("path", [path for path in PAGES if path != "rdma-robust"])
def test_every_command_has_examples_that_can_be_typed(path: str) -> None:
    examples = [
        term
        for block in blocks(PAGES[path].command.help)
        if isinstance(block, Listing) and block.title == EXAMPLES
        for term, _ in block.rows
    ]
    assert examples
    for example in examples:
        lexer = shlex.shlex(example, posix=True, punctuation_chars="|<>&")
        lexer.whitespace_split = True
        words = list(takewhile(lambda word: not re.fullmatch("[|<>&]+", word), lexer))
        assert words[0] == "rdma-robust"
        assert parsed(with_command(words[1:])) == "", example


def test_a_long_example_stays_one_command() -> None:
    lines = command_page(PAGES["rdma-robust reach"].command, PAGES["rdma-robust reach"], 60)
    at = next(k for k, line in enumerate(lines) if "--model sc" in line)
    typed = "\n".join(lines[at : at + 3]).partition("\n\n")[0]
    assert shlex.split(typed)[-1] == "T1 ended && T2 ended && T1.r == 0 && T2.r == 0"


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("chek sb.rdma", "there is no command or file chek; did you mean `check`?"),
        ("verifycertificate proofs", "there is no command or file verifycertificate; did you mean `verify-certificate`?"),
        ("help", "there is no command or file help; did you mean `--help`?"),
        (
            "--tiemout 5 sb.rdma",
            "there is no option --tiemout of check; did you mean `--timeout`? See rdma-robust check --help",
        ),
        ("check --timeout", "--timeout needs a value. See rdma-robust check --help"),
        ("check --expect=3 sb.rdma", "--expect takes no value. See rdma-robust check --help"),
        ("check --engine dff sb.rdma", "--engine dff: it is one of auto, bfs, dfs, karp-miller; did you mean `dfs`? See"),
        ("check --timeout abc sb.rdma", "--timeout abc: a number is needed. See"),
        ("check -j 0 sb.rdma", "--jobs 0: a whole number, 1 or more, is needed. See"),
        ("explore --port 99999999 sb.rdma", "--port 99999999: a whole number from 0 to 65535 is needed. See"),
        ("check", "check needs FILE. See rdma-robust check --help"),
        ("reach sb.rdma", "reach needs --target CONDITION. See rdma-robust reach --help"),
        ("explain sb.rdma calm.rdma", "explain takes no further argument: calm.rdma. See"),
        ("demo pccp", "demo has no pccp, it has pcp, abp, vass, finite; did you mean `pcp`? See rdma-robust demo --help"),
    ],
)
def test_mistakes_are_told_once_with_what_to_do(cli: Cli, typed: str, said: str) -> None:
    done = cli(*typed.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {said}")
    assert done.stderr.count("\n") == 1


def test_a_file_named_like_a_command_is_a_file(cli: Cli, programs: Path) -> None:
    (programs / "calm.rdma").rename(programs / "chek")
    assert cli("chek").returncode == 0


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.ci
def test_no_library_speaks_whatever_the_options_are_given(path: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = path.split()[1:]
    for param in PAGES[path].command.params:
        for name in [*param.opts, *param.secondary_opts] if param.param_type_name == "option" else []:
            if name in ("--help", "-h", "--version"):
                continue
            for value in VALUES:
                for typed in ([name, value], [f"{name}={value}"]) if name.startswith("--") else ([name, value],):
                    complaint = parsed([*words, "file", *typed])
                    assert not LIBRARY.search(complaint), (typed, complaint)
            assert not LIBRARY.search(parsed([*words, "file", name]))
    for typed in (["--nonsense"], ["-?"], ["a", "b", "c", "d"], ["--", "--help"], []):
        assert not LIBRARY.search(parsed([*words, *typed])), typed


def test_an_empty_file_is_warned_of(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty.rdma").write_text("")
    (tmp_path / "nodes.rdma").write_text("node A { x = 0 }\n")
    said = {"empty.rdma": "the file is empty", "nodes.rdma": "there is no `thread`"}
    for command in ("check", "verify", "outcomes", "explain", "fmt"):
        for file, what in said.items():
            warning = f"{file}: warning: {what}: nothing runs, and there is nothing to decide [RR706]"
            assert (warning in cli(command, file).stderr) is (command != "fmt"), (command, file)


SPEAKS = re.compile(
    LIBRARY.pattern + r"|Expecting|delimiter|Exceeds the limit|recursion|\(char |Error\b|internal error|invalid literal"
)
TEXTS = {
    "empty": "",
    "cut.json": '{"a": [1,',
    "list.json": "[]",
    "other.json": '{"format": "rdma-robust/check", "version": 7}',
    "deep.json": "[" * 100_000,
    "long.json": f'{{"version": {"1" * 5000}}}',
    "nan.json": '{"top": NaN, "bottom": ["a"]}',
    "more.json": '{"top": ["a"], "bottom": ["b"]} []',
    "words.json": '{"top": ["a"], "bottom": 3}',
    "bad.spec": "vars a\nrules\n a>=x ->\n",
}
ASKED = (
    ("compare", "FILE", "FILE"),
    ("verify-certificate", "FILE"),
    ("demo", "pcp", "FILE", "--pace", "0"),
    ("demo", "vass", "FILE", "--pace", "0"),
    ("demo", "finite", "FILE", "--pace", "0"),
    ("cover", "FILE"),
    ("check", "FILE"),
)


@pytest.mark.parametrize("file", TEXTS)
@pytest.mark.ci
def test_no_library_speaks_of_bad_files(cli: Cli, tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text(TEXTS[file])
    for asked in ASKED:
        done = cli(*(file if word == "FILE" else word for word in asked))
        said = done.stdout + done.stderr
        assert not SPEAKS.search(said), (asked, said)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    "asked",
    [
        "check --max-states 99999999999999999999999",
        "check --memory 99999999999999999999999",
        "check --timeout 1e308",
        "check --jobs 99999999999999999999999",
        "report --no-cache --executor dask://nonsense",
        "report --no-cache --executor dask://a:b:c",
        "reach -t ((",
        "reach -t T1.r==99999999999999999999999999",
        "repair --cost-flush 99999999999999999999",
        "explain --final-states 99999999999999999999",
        "outcomes --depth 99999999999999999999",
        "export --to dot --max-states 99999999999999999999",
        "explore --no-browser --state xyz",
        "check -D N",
    ],
)
def test_no_library_speaks_of_values_that_are_too_much(cli: Cli, asked: str) -> None:
    done = cli(*asked.split(), "calm.rdma")
    assert not SPEAKS.search(done.stdout + done.stderr), done.stdout + done.stderr
