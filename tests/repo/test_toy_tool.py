"""A tool of one file and one registration has everything that others have: commands, forms, editors, certificates."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rdma_robust.cli.app import run
from rdma_robust.cli.completion.answers import cursor_completions
from rdma_robust.cli.settings import Settings, settings_here
from rdma_robust.cli.watching import WatchedFiles
from rdma_robust.editing import opened_texts
from rdma_robust.editing.opened_texts import Deciding
from rdma_robust.frame import registry
from rdma_robust.frame.editor import Decision
from tests.conftest import ROOT
from tests.support.toy_tool import TOOL

GOOD = "let n = 2\nclaim n + 2 = 4\n"
BAD = 'let n = 2\nclaim n = 2\ninclude "part.toy"\nclaim n + n = 5\n'
PART = "claim 1 = 2\n"
PERCENT = "% 1 + 1 is 2\n"
WRONG = "let n = 2\nwhat\n"


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


Toy = Callable[..., Done]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Toy]:
    """Run commands beside files of the toy tool, which is registered meanwhile."""
    for name, text in (("good", GOOD), ("bad", BAD), ("part", PART), ("percent", PERCENT), ("wrong", WRONG)):
        (tmp_path / f"{name}.toy").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def done(*arguments: str) -> Done:
        capfd.readouterr()
        code = run(arguments)
        said = capfd.readouterr()
        return Done(code, said.out, said.err)

    with registry.registered(TOOL):
        yield done


def test_a_command_with_help_and_exit_codes(toy: Toy) -> None:
    found = toy("toy", "--help")
    assert (found.code, found.err) == (0, "")
    for said in (
        "Decide whether equations",
        "-n, --n VALUES",
        "--first",
        "--style <plain|fancy>",
        "--certificate DIR",
        "-D",
    ):
        assert said in found.out
    listed = toy("--help").out
    assert "Decide whether equations of sums hold" in listed
    assert listed.index("  toy ") < listed.index("Understand"), "in its group"
    codes = {name: toy("toy", f"{name}.toy").code for name in ("good", "bad", "percent", "wrong", "missing")}
    assert codes == {"good": 0, "bad": 1, "percent": 0, "wrong": 2, "missing": 2}
    assert toy("toy", "--style", "odd", "good.toy").code == 2
    assert "did you mean `toy`" in toy("toyy").err


def test_two_front_ends_of_one_suffix_are_chosen_by_the_text(toy: Toy) -> None:
    assert toy("toy", "percent.toy", "good.toy").out.count("holds") == 3
    assert toy("fmt", "--check", "good.toy").code == 0
    refused = toy("fmt", "percent.toy")
    assert (refused.code, "the front end percent" in refused.err) == (2, True)
    assert registry.front_end_of(PERCENT, "x.toy").name == "percent"
    assert registry.front_end_of(GOOD, "x.toy").name == "let"
    assert registry.front_end_of(GOOD, "x.rdma").name == "rdma"


def test_it_is_what_files_of_its_suffix_mean(toy: Toy) -> None:
    assert toy("--format", "jsonl", "good.toy", "percent.toy").out.count('"holds"') == 2
    assert "BROKEN" in toy("check", "bad.toy").out
    assert toy("good.toy").code == 0 and toy("bad.toy").code == 1


def test_inputs_of_several_files(toy: Toy) -> None:
    found = toy("toy", "--format", "concise", "bad.toy")
    assert found.out.splitlines() == [
        "part.toy:1:1: error: 1 is not 2 [RR016]",
        "bad.toy:4:1: error: 4 is not 5 [RR016]",
    ]
    places = [each["locations"][0]["physicalLocation"] for each in sarif(toy("toy", "--format", "sarif", "bad.toy").out)]
    assert [(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in places] == [
        ("bad.toy", 4),
        ("part.toy", 1),
    ]


def sarif(text: str) -> list[dict[str, list[dict[str, dict[str, dict[str, object]]]]]]:
    """Return the results of a log, by the files that they are in."""
    found = json.loads(text)["runs"][0]["results"]
    return sorted(found, key=lambda each: each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def test_configurations_of_one_input(toy: Toy) -> None:
    found = toy("toy", "-n", "2..4", "--format", "jsonl", "good.toy")
    rows = [json.loads(line) for line in found.out.splitlines()]
    assert [(each["file"], each["verdict"]) for each in rows] == [
        ("good.toy (n=2)", "holds"),
        ("good.toy (n=3)", "broken"),
        ("good.toy (n=4)", "broken"),
    ]
    assert toy("toy", "-D", "n=2", "good.toy").code == 0
    assert toy("toy", "-D", "n=3", "good.toy").code == 1


@pytest.mark.parametrize("form", ["text", "concise", "github", "json", "jsonl", "junit", "sarif"])
def test_every_form(toy: Toy, form: str) -> None:
    found = toy("toy", "--format", form, "good.toy", "bad.toy")
    assert (found.code, found.err) == (1, "")
    match form:
        case "json":
            report = json.loads(found.out)
            assert report["summary"]["broken"] == 1
            assert report["options"]["style"] == "plain"
        case "jsonl":
            assert len([json.loads(line) for line in found.out.splitlines()]) == 2
        case "junit":
            assert [case.get("name") for case in ET.fromstring(found.out).iter("testcase")] == ["good.toy", "bad.toy"]
        case "sarif":
            assert len(sarif(found.out)) == 2
        case _:
            assert "bad.toy" in found.out
    assert toy("toy", "--format", form, "-o", "made", "good.toy", "bad.toy").code == 1
    assert Path("made").read_text().splitlines()[:1] == found.out.splitlines()[:1]


def test_a_report_never_overwrites_its_programs(toy: Toy) -> None:
    assert toy("toy", "good.toy", "-o", "bad.toy").code == 2
    assert Path("bad.toy").read_text() == BAD


def test_settings(toy: Toy) -> None:
    Path("rdma-robust.toml").write_text("[toy]\nfirst = true\n")
    assert toy("toy", "bad.toy").code == 0
    assert re.search(r"^  first +true +rdma-robust.toml:2$", toy("toy", "--show-settings").out, re.MULTILINE)
    Path("rdma-robust.toml").write_text("[toy]\nfirst = 3\n")
    assert "expected: true or false" in toy("toy", "bad.toy").err
    Path("rdma-robust.toml").write_text("[toy]\nstyle = 'odd'\n")
    assert "rdma-robust.toml:2:1: error: `style` is odd: it is one of plain, fancy" in toy("toy", "bad.toy").err
    Path("rdma-robust.toml").write_text("first = true\ntimeout = 7\n")
    assert isinstance(settings_here(), Settings)
    assert settings_here().defaults("toy") == {"first": True, "timeout": 7}


@pytest.mark.usefixtures("toy")
def test_completion() -> None:
    def words(*typed: str) -> set[str]:
        return {each.value for each in cursor_completions(typed, len(typed))}

    assert "toy" in words("to")
    assert {"--first", "--style", "--n", "--certificate"} <= words("toy", "--")
    assert words("toy", "--style", "") == {"plain", "fancy"}
    assert words("toy", "") == {"good.toy", "bad.toy", "part.toy", "percent.toy", "wrong.toy"}
    assert "good.toy" in words("go")


@pytest.mark.parametrize("form", ["html", "md", "json", "jsonl", "csv", "junit", "sarif"])
def test_report(toy: Toy, form: str) -> None:
    Path("robust.rdma").write_text("node A { x }\nthread T on A { x = 1 }\n")
    found = toy(
        "report", "good.toy", "bad.toy", "robust.rdma", "--no-cache", "--claims", "0", "--format", form, "-o", "made"
    )
    assert found.code == 1
    assert "2 equations: 1 holds, 1 broken" in found.err
    assert "1 program" in found.err
    text = Path("made").read_text()
    assert "bad.toy" in text or (form == "html" and "4 is not 5" in text)
    if form == "json":
        assert [each["verdict"] for each in json.loads(text)["toy"]] == ["holds", "broken"]
    alone = toy("report", ".", "--no-cache", "--format", form)
    assert alone.code == 2, "wrong.toy is no input"


def test_watch_looks_at_all_files_of_an_input(toy: Toy, tmp_path: Path) -> None:
    del toy
    watched = WatchedFiles(["bad.toy"])
    assert watched.counts(None, str(tmp_path / "part.toy"))
    assert not watched.counts(None, str(tmp_path / "good.toy"))
    assert WatchedFiles(["."]).counts(None, os.path.realpath("new.toy"))


def test_certificates(toy: Toy) -> None:
    assert toy("toy", "--certificate", "proofs", "good.toy", "percent.toy").code == 0
    found = toy("verify-certificate", "proofs")
    assert (found.code, found.out.splitlines()) == (
        0,
        [f"proofs/{name}.toy.json: VALID: {name}.toy has equal sums, proved by addition" for name in ("good", "percent")],
    )
    file = Path("proofs/good.toy.json")
    file.write_text(file.read_text().replace("[4]", "[5]"))
    forged = toy("verify-certificate", "proofs/good.toy.json")
    assert (forged.code, "INVALID: another sum is on the right" in forged.out) == (1, True)


def test_explain(toy: Toy) -> None:
    found = toy("explain", "bad.toy")
    assert (found.code, found.out.splitlines()) == (1, ["line 2: 2 is 2", "line 1: 1 is not 2", "line 4: 4 is not 5"])
    assert toy("explain", "percent.toy").out == "line 1: 2 is 2\n"
    assert toy("explain", "good.toy", "--format", "json").out == '{"lines": 1}\n'
    assert toy("explain", "wrong.toy").code == 2


def test_the_language_server(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    del toy
    editor = registry.front_end_of(WRONG, "x.toy").editor
    assert editor is not None
    assert [(each.span.line, each.message) for each in editor().diagnostics(WRONG, "x.toy")] == [(2, "this is no equation")]
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from rdma_robust.frame import registry\n"
        "from tests.support.toy_tool import TOOL\nfrom rdma_robust.cli.app import run\n"
        "with registry.registered(TOOL):\n    sys.exit(run(sys.argv[1:]))"
    )
    monkeypatch.setattr(opened_texts, "own_command", lambda arguments: [sys.executable, "-c", code, *arguments])
    shown: list[str] = []
    decision = Decision()

    async def show() -> None:
        shown.append(decision.verdict)

    decide = editor().decide
    assert decide is not None
    asyncio.run(Deciding(decision, "% 1 is 2\n", None, 60.0, show).all(decide))
    assert shown == ["broken"]
    assert [(each.line, each.message) for each in decision.findings] == [(1, "it is not")]


def test_nothing_is_left_behind() -> None:
    assert "toy" not in registry.commands()
    assert ".toy" not in registry.folder_suffixes()


def test_every_place_that_tools_name_is_there() -> None:
    for tool in registry.tools():
        places = [each.place for command in tool.commands for each in (command, *command.below) if each.place]
        for place in [*places, *(each.verify for each in tool.certificates)]:
            assert callable(registry.at(place)) or hasattr(registry.at(place), "registered_commands"), place


def test_every_command_stands_at_one_place_of_one_group() -> None:
    places = [each.group for each in registry.commands().values()]
    assert len(set(places)) == len(places)
    assert {title for title, _ in places} <= set(registry.TITLES)
    ranks = [each.rank for each in registry.commands().values()]
    assert len(set(ranks)) == len(ranks)
