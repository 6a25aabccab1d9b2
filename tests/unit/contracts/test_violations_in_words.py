"""What is said of violations: the values, the call of a callee that asks for something, and where processes wait."""

from __future__ import annotations

from typing import Final

import pytest

from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.contract_answers import Counterexample
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.limits import NO_LIMITS
from tests.support.contract_mutations import FOLDER
from tests.support.shares import share

SAID: Final[dict[tuple[str, int], str]] = {
    ("assert-fails", 2): "the assertion is false",
    ("allgather-other-order", 2): "process 1 enters bcast where process 0 enters gather",
    ("requests-overtaken", 3): "process 0 waits at line 13 for a message from process 1",
    ("bcast-last-left-out", 3): "process 2 waits at line 16 for a message from process 0",
    ("gather-last-left-out", 1): "`ensures` is false for process 0, which returns [0]",
    ("gather-sends-twice", 2): "process 0 never takes 11, which process 1 sends",
    ("requests-left-posted", 1): "process 0 leaves while a request is active, that of line 9",
    ("figure_7_5-printed", 1): "process 0 changes a from [0, 1, 2, 3] to [2, 1, 2, 1]",
    ("gather-nobody-waits", 2): "process 1 leaves before process 0 has entered",
    ("bcast-acknowledged", 3): "process 1 sends 0 to process 0 before process 2 has entered",
    ("gather_w-not-quiet", 3): "process 0 can take a message that process 1 sends after it has left",
    ("local-requires", 1): "`requires` of half is false for process 0, which gives it x = 1",
    ("scatter-called-with-other-roots", 2): (
        "`requires` of scatter is false for process 0, which gives it buf = [0, 1], root = 0"
    ),
    ("allgather-message-across", 2): "process 0 sends 10 to process 1, which has not taken it when it enters gather",
    ("gather_w-then-send", 2): "process 1 sends 11 with tag 7 to process 0, which has not left gather_w, called at line 32",
}
CALLED: Final = {"local-requires": 15, "scatter-called-with-other-roots": 28, "gather_w-then-send": 32}
AT: Final = {"gather_w-not-quiet": 18, "bcast-last-left-out": 16}


def violated(name: str, procs: int) -> Counterexample:
    program = load_contracts((FOLDER / f"{name}.mp").read_text(encoding="utf-8"), f"{name}.mp")
    for answer in checked(program, Checking((procs,), "inlined"), NO_LIMITS):
        for each in answer.answers:
            if each.counterexample is not None:
                return each.counterexample
    raise AssertionError(f"nothing is violated in {name}")


@pytest.mark.parametrize(("name", "procs"), share(SAID, 2))
def test_what_is_said(name: str, procs: int) -> None:
    found = violated(name, procs)
    assert found.text == SAID[name, procs]
    assert name not in CALLED or found.call.line == CALLED[name]
    assert name not in AT or found.span.line == AT[name]


def test_where_all_processes_are() -> None:
    """Those that wait at one place are told together."""
    text = """fun f() contract collective { } {
  reg v
  if PID == 0 { halt }
  recv v from 0 tag 2
}"""
    program = load_contracts(text, "a.mp")
    (answer,) = checked(program, Checking((3,)), NO_LIMITS)
    found = answer.answers[0].counterexample
    assert found is not None
    waits = "process 1 and process 2 wait at line 4 for a message with tag 2 from process 0"
    assert found.text == f"process 0 halts at line 3; {waits}"
    assert [(each.process, each.next, each.peer, each.tag) for each in found.ends] == [
        (0, "halted", None, None),
        (1, "recv", 0, 2),
        (2, "recv", 0, 2),
    ]
