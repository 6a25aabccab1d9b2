"""`rdma-robust explain`: forms, exit codes, and files that are not written over."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import NOT_ROBUST, ROOT, Cli

FORMS = ("text", "json", "dot", "svg", "html")
GOLDEN = ROOT / "tests/cli/golden"


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_every_verdict(cli: Cli, programs: Path, form: str) -> None:
    assert programs
    for file, code, words in (("calm.rdma", 0, "robust"), ("sb.rdma", 1, "not robust")):
        answer = cli("explain", file, "--format", form)
        assert answer.returncode == code
        assert words in answer.stdout or (form == "svg" and code == 1)
        assert not answer.stderr


@pytest.mark.parametrize("name", ["sb-put-polled", "mailbox-polled"])
def test_the_text_is_as_agreed(cli: Cli, tmp_path: Path, name: str) -> None:
    """Goldens; `PROMOTE=1` rewrites them."""
    (tmp_path / f"{name}.rdma").write_text((ROOT / f"litmus/{name}.rdma").read_text())
    answer = cli("explain", f"{name}.rdma", "--width", "100")
    golden = GOLDEN / f"explain-{name}.txt"
    if os.environ.get("PROMOTE") == "1":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(answer.stdout)
    assert answer.stdout == golden.read_text()
    assert not answer.stderr


@pytest.mark.ci
def test_the_same_under_every_hash_seed(installed: Cli, programs: Path) -> None:
    assert programs
    answers = {installed("explain", "sb.rdma", "--format", "html", env={"PYTHONHASHSEED": s}).stdout for s in ("1", "2")}
    assert len(answers) == 1


def test_json_follows_the_schema_and_says_the_exit_code(cli: Cli, programs: Path) -> None:
    assert programs
    schema = json.loads((ROOT / "rdma_robust/schema/explain.schema.json").read_text())
    for file in ("calm.rdma", "sb.rdma"):
        answer = cli("explain", file, "--format", "json")
        value = json.loads(answer.stdout)
        Draft202012Validator(schema).validate(value)
        assert value["exit_code"] == answer.returncode


def test_unknown_says_what_is_known(cli: Cli, programs: Path) -> None:
    assert programs
    answer = cli("explain", "sb.rdma", "--max-states", "1")
    assert answer.returncode == 3
    assert "Undecided: reached the limit of 1 states" in answer.stdout
    assert "nothing is known" in answer.stdout


def test_out_of_time_is_unknown(cli: Cli, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert programs

    def never(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("rdma_robust.pipeline.check_program", never)
    answer = cli("explain", "sb.rdma")
    assert answer.returncode == 3
    assert "Undecided: out of memory" in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.rdma"], "no such file"),
        (["bad.rdma"], "error: "),
        ([], "explain needs FILE"),
        (["sb.rdma", "--format", "pdf"], "pdf"),
        (["sb.rdma", "calm.rdma"], "takes no further argument"),
        (["sb.rdma", "-o", "nowhere/out.txt"], "its folder does not exist"),
        (["sb.rdma", "-o", "sb.rdma"], "is a program; a report never overwrites one"),
        (["*.rdma"], "explain takes one program"),
        (
            ["sb.rdma", "-o", "k.html", "--format", "text"],
            "--format text and the suffix of k.html, which means html, contra",
        ),
        (["sb.rdma", "-o", "k.pdf"], "the suffix of k.pdf says no form; name it with --format text|json|dot|svg|html"),
    ],
)
def test_mistakes(cli: Cli, programs: Path, arguments: list[str], words: str) -> None:
    before = (programs / "sb.rdma").read_text()
    answer = cli("explain", *arguments)
    assert answer.returncode == 2
    assert words in answer.stderr
    assert not answer.stdout
    assert (programs / "sb.rdma").read_text() == before == NOT_ROBUST


def test_a_page_replaces_an_older_one(cli: Cli, programs: Path) -> None:
    target = programs / "out.html"
    target.write_text("mine")
    assert cli("explain", "sb.rdma", "-o", "out.html").returncode == 1
    assert target.read_text().startswith("<!DOCTYPE html>")
    assert sorted(p.name for p in programs.iterdir()) == ["bad.rdma", "calm.rdma", "out.html", "sb.rdma"]


@pytest.mark.parametrize(
    ("file", "form"),
    [
        ("k.html", "html"),
        ("k.HTM", "html"),
        ("k.json", "json"),
        ("k.gv", "dot"),
        ("k.svg", "svg"),
        ("k.txt", "text"),
        ("k", "text"),
    ],
)
def test_the_suffix_says_the_form(cli: Cli, programs: Path, file: str, form: str) -> None:
    assert cli("explain", "sb.rdma", "-o", file).returncode == 1
    by_suffix = (programs / file).read_text()
    cli("explain", "sb.rdma", "--format", form, "-o", file)
    clock = re.compile(r'"time_s": [0-9.e-]+|[0-9.]+ s\b')
    assert clock.sub("", (programs / file).read_text()) == clock.sub("", by_suffix)
    starts = {"html": "<!DOCTYPE html>", "json": "{", "dot": "// `sb`", "svg": "<svg", "text": "`sb` is not robust"}
    assert by_suffix.startswith(starts[form])


def test_a_form_that_is_named_goes_into_files_of_any_other_suffix(cli: Cli, programs: Path) -> None:
    assert cli("explain", "sb.rdma", "-o", "k.page", "--format", "html").returncode == 1
    assert (programs / "k.page").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.ci
@pytest.mark.parametrize("name", ["mailbox-polled", "credit-counter-loop-polled", "abp-polled", "bakery-owned"])
def test_check_and_explain_say_the_same_engine_and_states(cli: Cli, tmp_path: Path, name: str) -> None:
    (tmp_path / "p.rdma").write_text((ROOT / f"litmus/{name}.rdma").read_text())
    checked = json.loads(cli("check", "p.rdma", "--format", "json").stdout)["results"][0]
    told = json.loads(cli("explain", "p.rdma", "--format", "json").stdout)
    assert (told["engine"], told["states"]) == (checked["engine"], checked["states"])
    text = " ".join(cli("explain", "p.rdma").stdout.split())
    table = " ".join(cli("check", "p.rdma").stdout.split())
    states = f"{checked['states']:,} state"
    if checked["engine"] != "none":
        assert f"engine {checked['engine']}" in text and states in text
    only_faults = f"The search (engine {checked['engine']}, {states}"
    assert (only_faults in text) == (only_faults in table) == (checked["states"] > 0 and "without a search" in text)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device: a full disk was not tried")
def test_a_full_disk_is_told(cli: Cli, programs: Path) -> None:
    assert programs
    answer = cli("explain", "sb.rdma", "-o", "/dev/full")
    assert answer.returncode == 2
    assert "cannot write to /dev/full: No space left on device" in answer.stderr


@pytest.mark.ci
def test_names_that_are_no_text(installed: Cli, programs: Path) -> None:
    name = b"<b>'\"&\xff\x1b.rdma".decode("utf-8", "surrogateescape")
    (programs / name).write_text(NOT_ROBUST.replace("program sb\n", ""))
    answer = installed("explain", name, "--format", "svg")
    assert answer.returncode == 1
    assert "\x1b" not in answer.stdout
    ElementTree.fromstring(answer.stdout)


def test_options_of_check_count(cli: Cli, programs: Path) -> None:
    (programs / "corr.rdma").write_text((ROOT / "litmus/corr-get.rdma").read_text())
    (programs / "spin.rdma").write_text((ROOT / "litmus/barrier-two-spin.rdma").read_text())
    assert cli("explain", "corr.rdma").returncode == 1
    assert cli("explain", "corr.rdma", "--ordered-reads").returncode == 0
    assert cli("explain", "spin.rdma").returncode == 1
    assert cli("explain", "spin.rdma", "--await-loops").returncode == 0
    assert "New outcome" not in cli("explain", "sb.rdma", "--final-states", "0").stdout


def test_without_graphviz_lanes_are_columns(cli: Cli, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert programs
    monkeypatch.setitem(__import__("sys").modules, "pygraphviz", None)
    answer = cli("explain", "sb.rdma", "--format", "svg")
    assert (answer.returncode, answer.stderr) == (1, "")
    drawn = "".join(ElementTree.fromstring(answer.stdout).itertext())
    assert "execution graph of sb" in drawn and "NIC to B" in drawn and drawn.count("rb") >= 2
