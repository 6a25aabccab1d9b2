"""Each condition under which a function is proved from the invariants of its loops is needed: without it something false is.

That what a loop changes is known by its text is needed, too, and is not here: rounds that change more violate their frame.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from rdma_robust.contracts.language import loop_reader
from rdma_robust.contracts.language.contract_program import StateClause
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.language.spec_terms import SpecNumber
from rdma_robust.contracts.modular import modes
from rdma_robust.contracts.modular.barrier_check import BarrierCheck, Rounds
from rdma_robust.contracts.modular.modes import ModularEngine
from rdma_robust.contracts.runs.run_inputs import NARROW
from rdma_robust.contracts.runs.runs_engine import runs
from rdma_robust.limits import NO_LIMITS
from tests.support.contracts_oracle.interleavings import by_interleavings

FRAME: Final = """\
reg g
fun f(n)
contract collective {
  bounds g in 0..0;
  bounds n in 0..2;
  requires \\agree(n);
  assigns g;
  PROMISE
} {
  reg v, w
  HEAD
  contract loop rounds { INVARIANT } { BODY }
  AFTER
}
"""
FOR = "for i in 1..n"
COUNTED = "invariant \\agree(n);"


def frame(head: str, invariant: str, body: str, after: str = "", promise: str = "") -> str:
    put = {"HEAD": head, "INVARIANT": invariant, "BODY": body, "AFTER": after, "PROMISE": promise}
    text = FRAME
    for word, what in put.items():
        text = text.replace(word, what)
    return text


def nothing(*_: Any) -> Any:
    return iter(())


def true_clause(_name: str, _bounds: Any, span: Any, **_: Any) -> StateClause:
    return StateClause("requires", SpecNumber(1), None, span)


ASKS = frame(
    FOR,
    "invariant \\agree(n); quiet from \\others if PID == 0;",
    "if PID == 0 {\n for p in 1..NPROCS - 1 { recv v from any w }\n g = w } else { send i to 0 }",
    promise="quiet from \\others if PID == 0;",
)
GATHER = "if PID == 0 { for p in 1..NPROCS - 1 { recv v from any w } } else { send 1 to 0 }"

RULES: dict[str, tuple[Any, str, Any, str, int]] = {
    "rounds keep invariants": (
        ModularEngine, "_why_not", lambda *_: "", frame(FOR, COUNTED + " invariant v == 0;", "v = 1", "assert v == 0"), 1,
    ),
    "invariants at first": (
        BarrierCheck, "told", lambda *_: None, frame(FOR, COUNTED + " invariant v == 1;", "skip", "assert v == 1"), 1,
    ),
    "what is within bounds": (
        loop_reader, "typed_clause", true_clause,
        frame(FOR, COUNTED + " bounds v in 0..0; invariant g == 0;", "g = v\n v = 1", "assert g == 0"), 1,
    ),
    "nobody waited at first": (
        Rounds, "known_at_first", nothing, frame(FOR, COUNTED + " waitsfor \\all;", "skip", promise="waitsfor \\all;"), 2,
    ),
    "who is heard of in a round": (
        Rounds, "unknown_after", nothing,
        frame(FOR, COUNTED + " waitsfor \\all if i > 1;", "skip", promise="waitsfor \\all if n > 0;"), 2,
    ),
    "who is quiet in the next round": (Rounds, "disturbed_later", nothing, ASKS, 3),
    "a while ends": (
        modes, "ENDLESS", "", frame("while 1", "invariant 1;", "skip", "assert 0"), 1,
    ),
}  # fmt: skip


def proved(text: str, procs: int) -> bool:
    engine = ModularEngine(load_contracts(text, "a.mp"), runs, "auto", NO_LIMITS)
    return engine._proved("f", procs, NARROW, NO_LIMITS)[0]


@pytest.mark.parametrize("rule", RULES)
def test_each_condition_is_needed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, other, text, procs = RULES[rule]
    assert not proved(text, procs)
    monkeypatch.setattr(where, name, other)
    assert proved(text, procs)


@pytest.mark.parametrize("rule", [each for each in RULES if each != "a while ends"])
def test_what_would_be_proved_is_false(rule: str) -> None:
    text, procs = RULES[rule][3:]
    assert by_interleavings(load_contracts(text, "a.mp"), "f", procs, NO_LIMITS).verdict == "VIOLATED"


def test_interference_from_the_next_round() -> None:
    """A round that takes from anybody and tells nobody meets no contract, so nothing is proved of the loop."""
    assert not proved(frame(FOR, COUNTED, GATHER), 3)
    told = GATHER + "\n if PID == 0 { for p in 1..NPROCS - 1 { send 2 to p } } else { recv v from 0 }"
    assert proved(frame(FOR, COUNTED, told), 3)


def test_arrays_are_compared_in_contracts_and_not_in_programs() -> None:
    """`==` of two arrays is true in contracts, and a fault in programs: the condition of a loop is a program's."""
    text = frame("while x == y", "bounds x len 1..1 in 0..0; bounds y len 1..1 in 0..0; invariant 0; decreases 0;", "skip")
    text = text.replace("reg v, w", "reg x[1], y[1]")
    assert not proved(text, 1)
