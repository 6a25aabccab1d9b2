"""The commands in a Python as a browser has it: no processes, no timer, no kernels, and none of the libraries in C."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import pytest

from rdma_robust.cli import page_worker
from rdma_robust.language.load import load_decidable
from rdma_robust.teaching.explorer.session import Session
from rdma_robust.teaching.playground.page_questions import TABS, Tab, TabQuestion
from tests.conftest import ROOT

LITMUS = ROOT / "litmus"
BCAST = "contracts/bcast.mp"
RELAY = "messages/collectives/send-in-between.mp"

AS_IN_A_BROWSER = """
import os, signal, sys

def lacking(*_args, **_named):
    raise OSError(52, "Function not implemented")

LACKING = ("resource", "fcntl", "multiprocessing", "_multiprocessing", "termios", "z3", "highspy", "numpy", "pysat",
           "pygraphviz", "clang", "rich", "uvicorn", "textual", "sympy")
KERNELS = sys.argv[1].split(",")
sys.modules.update(dict.fromkeys((*LACKING, *KERNELS)))
sys.platform = "emscripten"
os.fork = signal.setitimer = lacking
from rdma_robust.cli.app import run
sys.exit(run(sys.argv[2:]))
"""


def kernels() -> str:
    """The modules that are compiled."""
    found = [path.relative_to(ROOT).with_suffix("") for path in (ROOT / "rdma_robust").rglob("*.pyx")]
    return ",".join(".".join(path.parts) for path in found)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (("check", "mailbox-plain.rdma"), 1, "NOT ROBUST"),
        pytest.param(("check", "mailbox-polled.rdma"), 0, "robust", marks=pytest.mark.ci),
        pytest.param(("explain", "mailbox-plain.rdma"), 1, "before itself", marks=pytest.mark.ci),
        pytest.param(("outcomes", "mailbox-plain.rdma"), 0, "only RDMA", marks=pytest.mark.ci),
        pytest.param(("models", "mailbox-plain.rdma"), 1, "first to break it", marks=pytest.mark.ci),
        pytest.param(("lint", "mailbox-plain.rdma"), 1, "RR722", marks=pytest.mark.ci),
        pytest.param(("verify", "mailbox-plain.rdma"), 0, "3 hold", marks=pytest.mark.ci),
        pytest.param(("prove", "mailbox-plain.rdma"), 0, "safe", marks=pytest.mark.ci),
        pytest.param(("messages", RELAY), 1, "DEADLOCK", marks=pytest.mark.ci),
        pytest.param(("messages", "explain", "--format", "svg", RELAY), 1, "<svg", marks=pytest.mark.ci),
        pytest.param(("contracts", "check", "contracts/bcast.mp"), 0, "verified", marks=pytest.mark.ci),
        pytest.param(("explain", "--format", "svg", "mailbox-plain.rdma"), 1, "NIC to B", marks=pytest.mark.ci),
        pytest.param(("fmt", "mailbox-plain.rdma"), 0, "put B.d = v", marks=pytest.mark.ci),
    ],
)
def test_a_command_needs_nothing_that_a_browser_lacks(arguments: tuple[str, ...], exit_code: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AS_IN_A_BROWSER, kernels(), *arguments],
        cwd=LITMUS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (exit_code, ""), done.stderr
    assert said in done.stdout


def asked_of_the_worker(tab: Tab, question: TabQuestion, words: tuple[str, ...]) -> dict[str, Any]:
    kind, name = (
        ("rdma", "mailbox-plain.rdma") if question is tab.rdma else ("mp", BCAST if tab.name == "contracts" else RELAY)
    )
    program = {f"program.{kind}": (LITMUS / name).read_text(encoding="utf-8")}
    asked = {"arguments": [*words, *program], "files": program, "read": [tab.writes] if tab.writes else []}
    found: dict[str, Any] = json.loads(page_worker.ask(json.dumps(asked)))
    return found


ASKED = [
    pytest.param(tab, question, words, id=" ".join(words), marks=() if tab.writes else pytest.mark.ci)
    for tab in TABS
    for question in (tab.rdma, tab.mp)
    if question and not tab.explored
    for form in question.forms
    for words in (form.words, *([] if "--format" in form.words else [(*form.words, "--format", "json")]))
]


@pytest.mark.parametrize(("tab", "question", "words"), ASKED)
def test_what_a_tab_asks_has_an_answer_outside_of_the_page_too(
    tab: Tab, question: TabQuestion, words: tuple[str, ...]
) -> None:
    """Commands that work in processes of their own where there are any would give the answer to nobody."""
    answer = asked_of_the_worker(tab, question, words)
    if words[0] == "contracts" and "svg" in words:
        assert (answer["exit"], answer["out"]) == (2, "") and "no contract is violated" in answer["err"]
        return
    assert answer["exit"] in (0, 1) and answer["out"]
    assert "Traceback" not in answer["err"] and ("json" not in words or json.loads(answer["out"])["tool"])
    assert list(answer["files"]) == ([tab.writes] if tab.writes else [])


def test_mistakes_of_the_command_line_do_not_name_the_program_that_loaded_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["loader"])
    answers = [
        page_worker.ask(json.dumps({"arguments": each, "files": {}, "read": []})) for each in (["check", "--none"], [])
    ]
    assert "See rdma-robust check --help" in answers[0] and "Usage: rdma-robust " in answers[1]
    assert "loader" not in "".join(answers)


def test_a_search_that_takes_all_memory_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_: object) -> int:
        raise MemoryError

    monkeypatch.setattr(page_worker, "run", run)
    answer = json.loads(page_worker.ask(json.dumps({"arguments": ["check", "a.rdma"], "files": {}, "read": []})))
    assert answer == {"exit": 3, "out": "", "err": "unknown: the memory of this tab is used up\n", "files": {}}


def test_reports_are_as_wide_as_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    program = {"program.rdma": (LITMUS / "mailbox-plain.rdma").read_text(encoding="utf-8")}
    asked = {"arguments": ["explain", *program], "files": program, "read": []}

    def widest(**more: int) -> int:
        return max(map(len, json.loads(page_worker.ask(json.dumps({**asked, **more})))["out"].splitlines()))

    assert widest(columns=60) <= 60 < widest()


def test_the_explorer_is_answered_as_by_its_server() -> None:
    """What the page asks step by step, and the same by the session that the server has; mistakes are told, not raised."""
    text = (LITMUS / "mailbox-plain.rdma").read_text(encoding="utf-8")
    program = {"text": text, "file": "program.rdma", "options": {}, "seconds": 10}

    def asked(path: str, **body: object) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(page_worker.explored(json.dumps({**program, "path": path, "body": body})))
        return found

    assert asked("api/program")["value"]["threads"] == ["Sender", "Receiver"]
    verdict = asked("api/verdict")["value"]
    assert (verdict["verdict"], verdict["steps"], verdict["broken"]) == ("not-robust", 6, 3)
    shown = asked("api/view", address=verdict["address"], do=["go", "rdma", 3])["value"]
    own = Session(load_decidable(text, "program.rdma"))
    assert shown == json.loads(json.dumps(asdict(own.seen(verdict["address"], ["go", "rdma", 3]))))
    assert shown["broken"]["step"] == 3
    assert "belongs to another program" in asked("api/view", address="p=00000000&mode=follow&rdma=&at=0")["error"]
    program["options"] = {"cpu": "tso"}
    assert "belongs to another program" not in asked("api/view", address=verdict["address"]).get("error", "")
    program["text"] = text.replace("put B.d = v", "put B.d = w")
    assert "`w`" in asked("api/program")["error"]


def test_findings_and_hovers_are_placed_by_characters() -> None:
    text = "// 𝄞\n" + (LITMUS / "mailbox-plain.rdma").read_text(encoding="utf-8").replace("put B.d = v", "put B.d = w")
    found = json.loads(page_worker.findings(text, "program.rdma"))
    assert [(each["severity"], text[each["from"] : each["to"]], each["message"][-7:]) for each in found] == [
        ("error", "w", "[RR201]")
    ]
    said = json.loads(page_worker.hover_at(text, "program.rdma", text.index("await")))
    assert text[said["from"] : said["to"]] == "await f == 2" and "Waits until" in said["text"]
    assert page_worker.hover_at(text, "program.rdma", 0) == "null"
