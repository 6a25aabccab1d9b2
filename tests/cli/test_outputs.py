"""The installed commands: one rule for `-o` and `--format`, for every command that has them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import typer.main

from rdma_robust.cli.app import command_line
from rdma_robust.cli.destinations import SUFFIXES
from tests.conftest import COMMAND, NOT_ROBUST, ROBUST, Cli
from tests.support.shares import share

REPORTS: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ("check", "calm.rdma"): ("text", "json", "jsonl", "junit", "sarif"),
    ("cover", "safe.spec"): ("text", "json", "jsonl"),
    ("verify", "calm.rdma"): ("text", "json", "jsonl", "junit", "sarif"),
    ("reach", "-t", "1 == 0", "calm.rdma"): ("text", "json", "jsonl", "junit", "sarif"),
    ("prove", "calm.rdma"): ("text", "json", "jsonl", "junit", "sarif"),
    ("lint", "clean.rdma"): ("text", "json", "jsonl"),
    ("outcomes", "calm.rdma"): ("text", "json"),
    ("needs", "calm.rdma"): ("text", "json", "jsonl", "junit", "sarif", "md", "csv"),
    ("races", "clean.rdma"): ("text", "json", "jsonl", "junit", "sarif", "md", "csv"),
    ("models", "calm.rdma"): ("text", "json"),
    ("hardware", "show", "own.toml"): ("text", "json"),
    ("scale", "-D", "N=1..3", "sizes.rdma"): ("text", "json", "csv", "svg", "html"),
    ("explain", "calm.rdma"): ("text", "json", "dot", "html"),
    ("compare", "old.json", "new.json"): ("text", "json", "md"),
    ("messages", "check", "relay.mp"): ("text", "json", "jsonl", "junit", "sarif"),
    ("messages", "matches", "relay.mp"): ("text", "json"),
    ("messages", "explain", "relay.mp"): ("text", "json", "dot", "svg", "html"),
    ("contracts", "check", "same.mp"): ("text", "json", "jsonl", "junit", "sarif"),
    ("contracts", "explain", "--procs", "1", "same.mp"): ("text", "json", "html"),
    ("contracts", "infer", "--procs", "1", "same.mp"): ("text", "json"),
    ("report", "--no-cache", "-q", "calm.rdma"): ("html", "md", "json", "jsonl", "csv", "junit", "sarif"),
}
"""Commands that report, each with the forms it writes; the suffixes of the others it refuses."""

MADE: Final = {
    ("repair", "calm.rdma"): "calm.rdma",
    ("fmt", "calm.rdma"): "calm.rdma",
    ("export", "--to", "promela", "calm.rdma"): "calm.rdma",
    ("new", "mailbox"): "",
    ("import", "trencher", "one.trencher"): "one.trencher",
    ("messages", "trace", "relay.mp"): "relay.mp",
    ("demo", "pcp", "--pace", "0"): "",
    ("demo", "abp", "--length", "0", "--pace", "0"): "",
    ("demo", "vass", "--pace", "0", "safe.spec"): "safe.spec",
    ("demo", "finite", "--pace", "0", "local.rdma", "--target", "T1 ended"): "local.rdma",
}
"""Commands that make a program or a model, each with its input."""

NESTED: Final = ("contracts", "demo", "messages")
"""Commands with commands of their own."""

INTO_FOLDERS: Final = {("synthesise",)}
"""Commands whose output is a folder: tests/cli/test_synthesise.py."""

OF_RUNS: Final = {("record",), ("messages", "record")}
"""Commands that run a program, which a compiler makes: tests/cli/test_record.py."""

BEGINNINGS: Final = {
    "json": ("{",),
    "jsonl": (
        '{"file": "calm.rdma"',
        '{"file": "same.mp"',
        '{"file": "clean.rdma"',
        '{"file": "safe.spec"',
        '{"file": "relay.mp"',
    ),
    "html": ("<!DOCTYPE html>", "<!doctype html>"),
    "md": ("# RDMA robustness", "## RDMA robustness", "## What programs rely on", "## Data races"),
    "csv": ("file,", "N,verdict"),
    "junit": ("<?xml",),
    "sarif": ('{"$schema"', '{\n "$schema"'),
    "dot": ("digraph", "// "),
}
SUFFIX: Final = {"text": ".txt", "junit": ".xml"}


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> Path:
    (tmp_path / "calm.rdma").write_text(ROBUST)
    (tmp_path / "sb.rdma").write_text(NOT_ROBUST)
    (tmp_path / "clean.rdma").write_text("node A { x }\nthread T on A { x = 1 }\noutcome A.x == 1 : allowed under sc\n")
    (tmp_path / "sizes.rdma").write_text("const N = 1\nnode A { x[N] }\nthread T on A { x[0] = 1 }\n")
    (tmp_path / "one.trencher").write_text("thread t\ninitial a\ntransition a b write 1 0\nend\n")
    (tmp_path / "local.rdma").write_text("node A { x }\nthread T1 on A { x = 1 }\n")
    (tmp_path / "relay.mp").write_text("proc P { send 1 to Q }\nproc Q { reg v; recv v; assert v == 1 }\n")
    (tmp_path / "same.mp").write_text("fun f(x) contract collective { bounds x in 0..0; } { return x }\n")
    (tmp_path / "own.toml").write_text('name = "own"\ntitle = "of ours"\nbased-on = "default"\n')
    (tmp_path / "safe.spec").write_text("vars p\nrules\np >= 1 -> p' = p-1;\ninit p=0\ntarget p>=1\n")
    report = {"format": "rdma-robust/check", "version": 1, "interrupted": False, "tool": {"version": "0"}, "results": []}
    for name in ("old.json", "new.json"):
        (tmp_path / name).write_text(json.dumps(report))
    return tmp_path


def _with_output(command: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    found = [path] if any("--output" in each.opts for each in command.params) else []
    return found + [
        each for name, below in getattr(command, "commands", {}).items() for each in _with_output(below, (*path, name))
    ]


def test_every_command_with_an_output_is_in_a_table() -> None:
    found = set(_with_output(typer.main.get_command(command_line()), ()))
    tried = {each[: 2 if each[0] in NESTED else 1] for each in (*REPORTS, *MADE)}
    assert found == tried | INTO_FOLDERS | OF_RUNS


@pytest.mark.ci
@pytest.mark.parametrize("command", share(REPORTS, whole=True), ids=lambda c: " ".join(c[:2]) if c[0] in NESTED else c[0])
def test_the_suffix_picks_the_form_and_an_older_report_is_replaced(cli: Cli, files: Path, command: tuple[str, ...]) -> None:
    for form in REPORTS[command]:
        path = files / f"r{SUFFIX.get(form, f'.{form}')}"
        path.write_text("an older report")
        done = cli(*command, "-o", path.name)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        text = path.read_text()
        assert text.startswith(BEGINNINGS.get(form, text[:1])), form
        assert form != "text" or not text.startswith(("{", "<", "#"))
        named = cli(*command, "-o", "named", *(("--format", form) if form != REPORTS[command][0] else ()))
        assert named.returncode == 0, named.stderr
        assert (files / "named").read_text()[:5] == text[:5]


@pytest.mark.parametrize("command", REPORTS, ids=lambda c: " ".join(c[:2]) if c[0] in NESTED else c[0])
def test_contradictions_and_unknown_suffixes_are_refused_before_the_work(
    cli: Cli, files: Path, command: tuple[str, ...]
) -> None:
    forms = REPORTS[command]
    wrong = [
        (("-o", "r.doc"), "the suffix of r.doc says no form; name it with --format"),
        (("-o", "r.csv", "--format", "json"), "--format json and the suffix of r.csv, which means csv, contra"),
        (
            ("-o", "r.json", "--format", next(f for f in forms if f != "json")),
            "r.json, which means json, contradict each other",
        ),
        (("-o", "other.rdma", "--format", "json"), "other.rdma is a program; a report never overwrites one"),
        (("-o", "own.toml", "--format", "json"), "own.toml is a table, of an order or of settings; a report never"),
        (("-o", "nowhere/r.json"), "cannot write to nowhere/r.json: its folder does not exist"),
    ]
    foreign = [s for s, meant in SUFFIXES.items() if meant[0] not in (*forms, "svg")]
    wrong += [(("-o", f"r{suffix}"), "which this command does not write") for suffix in foreign]
    if command[0] != "report":
        wrong.append((("-o", ".", "--format", "json"), "cannot write to .: it is a directory"))
    before = sorted(files.rglob("*"))
    for arguments, says in wrong:
        done = cli(*command, *arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert says in done.stderr, arguments
    assert sorted(files.rglob("*")) == before


@pytest.mark.parametrize("command", REPORTS, ids=lambda c: " ".join(c[:2]) if c[0] in NESTED else c[0])
def test_no_report_is_written_over_an_input(cli: Cli, files: Path, command: tuple[str, ...]) -> None:
    name = command[-1]
    (files / "link.json").symlink_to(name)
    before = (files / name).read_text()
    for path in (name, f"./{name}", "link.json"):
        done = cli(*command, "-o", path, "--format", "json")
        assert done.returncode == 2
        assert (
            any(f"is a {what}" in done.stderr for what in ("program", "table"))
            or "is one of the inputs, which are never overwritten" in done.stderr
        )
    assert (files / name).read_text() == before


@pytest.mark.parametrize("command", share(REPORTS, whole=True), ids=lambda c: " ".join(c[:2]) if c[0] in NESTED else c[0])
def test_standard_output_and_special_files(cli: Cli, command: tuple[str, ...]) -> None:
    printed = cli(*command)
    assert printed.stdout
    assert cli(*command, "-o", "-").stdout[:20] == printed.stdout[:20]
    done = cli(*command, "-o", "/dev/null")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.ci
@pytest.mark.parametrize("command", share(MADE, whole=True), ids=lambda c: " ".join(c[:2]))
def test_what_is_made_goes_into_a_new_file_as_it_is(cli: Cli, files: Path, command: tuple[str, ...]) -> None:
    done = cli(*command, "-o", "made.json")
    assert done.returncode == 0, done.stderr
    made = (files / "made.json").read_text()
    assert made
    (files / "made.json").write_text("edited by hand")
    refused = cli(*command, "-o", "made.json")
    assert refused.returncode == 2
    assert "made.json is there already; --force replaces it" in refused.stderr
    assert (files / "made.json").read_text() == "edited by hand"
    assert cli(*command, "-o", "made.json", "--force").returncode == 0
    assert (files / "made.json").read_text() == made
    assert "it is a directory" in cli(*command, "-o", ".").stderr or command[0] == "demo"
    assert "its folder does not exist" in cli(*command, "-o", "nowhere/made").stderr
    assert cli(*command, "-o", "/dev/null").returncode == 0


@pytest.mark.parametrize("command", [c for c in MADE if MADE[c]], ids=lambda c: " ".join(c[:2]))
def test_what_is_made_spares_the_input_even_by_force(cli: Cli, files: Path, command: tuple[str, ...]) -> None:
    name = MADE[command]
    before = (files / name).read_text()
    for arguments in (("-o", name), ("-o", f"./{name}", "--force")):
        done = cli(*command, *arguments)
        assert done.returncode == 2
        assert f"{name} is one of the inputs, which are never overwritten" in done.stderr
    assert (files / name).read_text() == before


def test_pages_of_demos_are_reports(cli: Cli, files: Path) -> None:
    (files / "p.html").write_text("an older page")
    demo = ("demo", "pcp", "--pace", "0", "--html")
    assert cli(*demo, "p.html").returncode == 0
    assert "an older page" not in (files / "p.html").read_text()
    assert "--html and the suffix of p.json, which means json, contradict each other" in cli(*demo, "p.json").stderr
    assert "p.rdma is a program" in cli(*demo, "p.rdma").stderr


def test_fmt_writes_one_program(cli: Cli, files: Path) -> None:
    assert cli("fmt", "-", "-o", "new.rdma", stdin="node A{x}\nthread T on A{x=1}\n").returncode == 0
    assert (files / "new.rdma").read_text() == cli("fmt", "new.rdma").stdout
    assert "takes one program, and there are 2" in cli("fmt", "calm.rdma", "sb.rdma", "-o", "both.rdma").stderr
    assert "exclude one another" in cli("fmt", "calm.rdma", "--write", "-o", "both.rdma").stderr


def test_a_dump_is_no_report(cli: Cli) -> None:
    for arguments in (("-o", "r.txt"), ("--format", "json")):
        assert "--dump-after prints" in cli("check", "calm.rdma", "--dump-after", "parse", *arguments).stderr


def test_links_in_a_folder_of_reports_are_not_followed(cli: Cli, files: Path) -> None:
    """Nobody has named them: a checkout of somebody else may have brought them."""
    (files / "precious").write_text("precious")
    (files / "out").mkdir()
    for name in ("report.md", "report.html", "report.json"):
        (files / "out" / name).symlink_to("../precious")
    (files / "kept").mkdir()
    (files / "kept/calm.rdma.json").symlink_to("../precious")
    forms = ("--format", "md", "--format", "html", "--format", "json")
    assert cli("report", "calm.rdma", "-o", "out/", *forms, "--no-cache").returncode == 0
    assert cli("check", "calm.rdma", "--certificate", "kept").returncode == 0
    assert (files / "precious").read_text() == "precious"
    assert not any(each.is_symlink() for folder in ("out", "kept") for each in (files / folder).iterdir())


@pytest.mark.parametrize(
    "command", ["report calm.rdma --no-cache --format md -o", "check calm.rdma --certificate", "demo abp --pace 0 -o"]
)
def test_a_folder_that_is_a_link_is_not_written_into(command: str, cli: Cli, files: Path) -> None:
    (files / "elsewhere").mkdir()
    (files / "out").symlink_to("elsewhere")
    done = cli(*command.split(), "out/")
    assert done.returncode == 2
    assert "it is a link; name the folder that it leads to" in done.stderr
    assert not list((files / "elsewhere").iterdir())


@pytest.mark.parametrize("command", [*REPORTS, *MADE, ("synthesise", "--timeout", "5")], ids=" ".join)
def test_no_name_and_a_named_pipe_are_refused_before_the_work(cli: Cli, files: Path, command: tuple[str, ...]) -> None:
    """Who opens a pipe that has no reader waits forever."""
    os.mkfifo(files / "pipe")
    for name, says in (("", "''"), ("pipe", "it is a named pipe, which may have no reader")):
        done = cli(*command, "-o", name)
        assert (done.returncode, done.stdout) == (2, ""), name
        assert says in done.stderr or command[0] == "synthesise", name


def test_a_pipe_of_the_shell_is_written_to(files: Path) -> None:
    """`-o >(COMMAND)`: /dev/fd/N, which has a reader."""
    reading, writing = os.pipe()
    command = [COMMAND, "check", "calm.rdma", "--format", "json", "-o", f"/dev/fd/{writing}"]
    done = subprocess.run(command, cwd=files, pass_fds=[writing], capture_output=True, text=True, check=False)
    os.close(writing)
    with open(reading, encoding="utf-8") as stream:
        assert json.load(stream)["results"][0]["verdict"] == "robust", done.stderr
