"""The installed command: `verify-certificate --proven`, with judges that are scripts, and the real one where it is built."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rdma_robust.certify import proven_judge
from rdma_robust.certify.hardware import USUAL, Platform
from rdma_robust.certify.judge_account import account_of
from rdma_robust.certify.judge_question import NotCovered, question_of
from rdma_robust.certify.proven_judge import MORE_COMPLETIONS, VARIABLE, find_judge
from rdma_robust.certify.violations import claimed_events
from rdma_robust.errors import UsageError
from rdma_robust.expr import VALUE, Binary, Const
from rdma_robust.language.flow.cfg import RemoteRmw
from rdma_robust.language.load import load_program
from tests.conftest import NOT_ROBUST, Cli


@pytest.fixture
def proofs(cli: Cli, programs: Path) -> Path:
    assert cli("check", "--quiet", "--certificate", "proofs", "sb.rdma", "calm.rdma").returncode == 1
    return programs / "proofs"


def script(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A judge that is a shell script, named in the environment."""
    path = folder / "judge.sh"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(path))
    return path


@pytest.mark.usefixtures("proofs")
def test_the_judge_is_asked_and_its_answer_counts(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, f"cat > {tmp_path}/asked; echo violating", monkeypatch)
    done = cli("verify-certificate", "--proven", "proofs/sb.rdma.json")
    assert (done.returncode, done.stdout) == (
        0,
        "proofs/sb.rdma.json: VALID: sb.rdma is not robust, proved by a trace of 6 events; the extracted checker agrees\n",
    )
    asked = (tmp_path / "asked").read_text("utf-8")
    assert asked.startswith("judge 1\norder default\nreads unordered\ncells 0 0 1 1\nthread\n")
    script(tmp_path, "cat > /dev/null; echo 'refused: edge 1 of the cycle is none'; exit 1", monkeypatch)
    done = cli("verify-certificate", "--proven", "proofs/sb.rdma.json")
    assert done.returncode == 1
    assert "INVALID: the extracted checker does not call it violating: refused: edge 1 of the cycle is none" in done.stdout


SEARCHED = {
    "robust: 12 states": (0, "; the proven search agrees, with 12 states"),
    "unclear: more than 200000 states": (3, "; not decided by the proven search: more than 200000 states"),
    MORE_COMPLETIONS: (3, "; not decided by the proven search: more completions than are counted may matter"),
    "not robust": (1, "INVALID: the proven search does not call it robust: not robust"),
    "refused: it says so": (3, "; not decided by the proven search: refused: it says so"),
    "violating": (1, "INVALID: the proven search does not call it robust: violating"),
}
"""What the search may answer; the exit code, and what is said."""


@pytest.mark.usefixtures("proofs")
@pytest.mark.parametrize("answer", SEARCHED)
def test_the_search_is_asked_about_robust_programs(
    answer: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(
        tmp_path,
        f"cat >> {tmp_path}/asked; echo '{answer}'; case '{answer}' in robust*) exit 0;; *) exit 1;; esac",
        monkeypatch,
    )
    done = cli("verify-certificate", "--proven", "proofs/calm.rdma.json")
    code, said = SEARCHED[answer]
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout
    assert ("VALID: calm.rdma is robust, proved by" in done.stdout) == (code != 1)
    asked = (tmp_path / "asked").read_text("utf-8")
    assert asked.startswith(
        "program 1\ncpu sc\norder default\nreads unordered\ncells 0 0\ncounters 2\nstates 200000\nthread "
    )
    assert asked.count("program 1") == (4 if answer == MORE_COMPLETIONS else 1)


@pytest.mark.usefixtures("programs")
def test_what_it_does_not_cover_is_said(cli: Cli, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "node A { x = 0 }\nnode B { w = 0 }\nthread T on A {\n  get x = cas(B.w, 0, 1)\n}\n"
    (programs / "remote.rdma").write_text(text, "utf-8")
    assert cli("check", "--quiet", "--certificate", "proofs", "remote.rdma").returncode == 0
    script(tmp_path, "cat > /dev/null; echo violating", monkeypatch)
    done = cli("verify-certificate", "--proven", "proofs/remote.rdma.json")
    assert done.returncode == 3
    assert "remote.rdma is robust" in done.stdout
    assert "; not covered by the extracted checker: remote atomics" in done.stdout


@pytest.mark.usefixtures("proofs")
def test_without_a_judge_the_command_says_what_to_do(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proven_judge, "BUILT", tmp_path / "nowhere")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    done = cli("verify-certificate", "--proven", "proofs/sb.rdma.json")
    assert done.returncode == 2
    assert "--proven needs the program rdma-judge" in done.stderr and "make proofs" in done.stderr
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    done = cli("verify-certificate", "--proven", "proofs/sb.rdma.json")
    assert done.returncode == 2
    assert "which is no program that can be run" in done.stderr


@pytest.mark.usefixtures("proofs")
def test_a_program_that_is_no_judge_is_told(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, "echo 'rdma-judge: line 1: no' >&2; exit 2", monkeypatch)
    done = cli("verify-certificate", "--proven", "proofs/sb.rdma.json")
    assert done.returncode == 2
    assert "does not answer as rdma-judge does (rdma-judge: line 1: no); build it again with `make proofs`" in done.stderr


@pytest.mark.usefixtures("proofs")
def test_the_real_judge_agrees(cli: Cli) -> None:
    try:
        find_judge()
    except UsageError:
        pytest.skip("NOT RUN: the extracted checker is not built (make proofs)")
    assert cli("verify-certificate", "--proven", "proofs/sb.rdma.json").returncode == 0


def event(thread: str, position: int, kind: str, **more: object) -> dict[str, object]:
    """An event of a certificate."""
    given = {"thread": thread, "position": position, "line": 1, "type": kind, "remote": None, "cell": None}
    return given | {"read": None, "written": None, "reads_from": None} | more


SB = [
    event("T2", 1, "lR", cell="B.y", read=0, reads_from="initial"),
    event("T1", 0, "nrW", remote="B", cell="B.y", written=1),
    event("T1", 1, "lR", cell="A.x", read=0, reads_from="initial"),
    event("T2", 0, "nrW", remote="A", cell="A.x", written=1),
]
"""Store buffering, with puts that the CPU reads."""


def test_what_is_asked() -> None:
    program = load_program(NOT_ROBUST, "sb")
    lines = question_of(program, USUAL, claimed_events(program, SB)).text().splitlines()
    assert lines[3:] == [
        "cells 0 0 1 1",
        "thread",
        "b nrW-inline s 0 1 1",
        "b lR 0 0",
        "thread",
        "b nrW-inline s 0 0 1",
        "a lR 1 0",
        "alpha",
        "pivot 1.1",
        "beta 0.0 0.1 1.0",
        "cycle 3 po 0 rb 1 po 2 rb",
        "end",
    ]


@pytest.mark.parametrize(
    ("platform", "changed", "why"),
    [
        (Platform(cpu="tso"), {}, "store buffers"),
        (USUAL, {"type": "naR"}, "remote atomics"),
        (USUAL, {"peer": "T2", "buffer": None, "completion": "signaled"}, "messages"),
        (USUAL, {"joined": True}, "locked sections"),
    ],
)
def test_what_the_rules_do_not_cover_is_left_to_the_other_judge(
    platform: Platform, changed: dict[str, object], why: str
) -> None:
    program = load_program(NOT_ROBUST, "sb")
    with pytest.raises(NotCovered, match=why):
        question_of(program, platform, claimed_events(program, [SB[0] | changed, *SB[1:]]))


STORES = """hardware cpu tso
node A { x, y }
node B { z }
thread T1 on A { reg r; x = 1; r = y; send r to U inline }
thread T2 on A { reg r; y = 1; get x = faa(B.z, 2); mfence; r = x }
thread U on B { posted z from T1 }
"""

STORED = [
    event("T1", 1, "lR", cell="A.y", read=0, reads_from="initial"),
    event("T2", 0, "lW", cell="A.y", written=1),
    event("T2", 1, "naR", remote="B", cell="B.z", read=0, reads_from="initial"),
    event("T1", 0, "lW", cell="A.x", written=1),
    event("T1", 2, "nrW", remote="B", cell="B.z", written=0, peer="U", buffer=None, completion="signaled"),
]
"""The start of a run in which everything but a store takes effect in program order."""


def test_what_is_asked_about_other_hardware() -> None:
    program = load_program(STORES, "stores")
    platform = Platform("tso", "glob", "relaxed", ordered_reads=True)
    lines = [dict(each, line=number) for each, number in zip(STORED, (4, 5, 5, 4, 4), strict=True)]
    ranked = account_of(program, Platform("tso"), claimed_events(program, lines)).text().splitlines()
    assert ranked == [
        *("judge 2", "cpu tso", "atomics hca", "order default", "reads unordered", "cells 0 0 0", "posted 2 0 2"),
        *("thread", "lW 0 1", "lR 1 0", "send-inline s 0 2 2 0", "thread", "lW 1 1", "naR 0 2 faa 2", "thread"),
        *("rf i1 0.1 i2 1.1", "events 0.1 1.0 1.1 0.0 0.2", "end"),
    ]
    lines[2] |= {"type": "nA", "written": 2}
    at_once = account_of(program, platform, claimed_events(program, lines), {"B.z": [4, 2], "A.x": [3], "A.y": [1]})
    assert at_once.text().splitlines()[1:5] == ["cpu tso", "atomics glob", "order relaxed", "reads ordered"]
    assert "nA 0 2 faa 2" in at_once.text().splitlines()
    assert at_once.text().splitlines()[-2:] == ["mo 0.2 1.1 0.0 1.0", "end"]


def test_an_operation_that_the_judge_does_not_know_is_refused() -> None:
    program = load_program(STORES, "stores")
    thread = program.threads[1]
    step, op = next((step, step.op) for _, _, step in thread.edges if isinstance(step.op, RemoteRmw))
    for changed in (replace(op, new=Binary("*", VALUE, Const(2))), replace(op, when=Binary("<", VALUE, Const(1)))):
        edges = tuple((a, b, replace(s, op=changed) if s is step else s) for a, b, s in thread.edges)
        other = replace(program, threads=(program.threads[0], replace(thread, edges=edges), program.threads[2]))
        lines = [dict(each, line=number) for each, number in zip(STORED, (4, 5, 5, 4, 4), strict=True)]
        with pytest.raises(NotCovered, match="no compare-and-swap, fetch-and-add or swap"):
            account_of(other, Platform("tso"), claimed_events(program, lines))


def test_an_order_in_three_parts_is_refused() -> None:
    program = load_program(NOT_ROBUST, "sb")
    events = [event("T1", at, "lR", cell="A.x", read=0, reads_from="initial") for at in (2, 1, 0)]
    with pytest.raises(NotCovered, match="not made of alpha, a pivot and beta"):
        question_of(program, USUAL, claimed_events(program, events))


def in_program_order(certificate: dict[str, Any]) -> dict[str, Any]:
    """The certificate of the same trace, its events one thread after the other."""
    events, mo = certificate["evidence"]["events"], certificate["evidence"]["mo"]
    order = sorted(range(len(events)), key=lambda n: (events[n]["thread"], events[n]["position"]))
    new = {-1: -1} | {old: number for number, old in enumerate(order)}
    moved = [events[n] | {"reads_from": new.get(events[n]["reads_from"])} for n in order]
    evidence = certificate["evidence"] | {"events": moved, "mo": {cell: [new[n] for n in mo[cell]] for cell in mo}}
    return certificate | {"evidence": evidence}


def test_events_in_another_order_than_they_take_effect_are_judged_by_all_axioms(
    cli: Cli, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = "node A { v = 0 }\nnode B { d = 0 }\nthread S on A {\n  put B.d = v\n  v = 1\n}\n"
    (programs / "late.rdma").write_text(late, encoding="utf-8")
    assert cli("check", "--quiet", "--certificate", "proofs", "late.rdma").returncode == 1
    path = programs / "proofs" / "late.rdma.json"
    certificate = json.loads(path.read_text("utf-8"))
    moved = in_program_order(certificate)
    assert moved != certificate
    path.write_text(json.dumps(moved), encoding="utf-8")
    assert cli("verify-certificate", "proofs/late.rdma.json").returncode == 0
    script(tmp_path, f"cat > {tmp_path}/asked; echo violating", monkeypatch)
    assert "the extracted checker agrees" in cli("verify-certificate", "--proven", "proofs/late.rdma.json").stdout
    assert (tmp_path / "asked").read_text("utf-8").startswith("judge 2\n")
    monkeypatch.delenv(VARIABLE)
    if proven_judge.BUILT.exists():
        assert "the extracted checker agrees" in cli("verify-certificate", "--proven", "proofs/late.rdma.json").stdout
