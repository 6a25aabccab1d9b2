"""Each constraint of the checker's formula left out, and a program whose proof is lost then: none is there for nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rdma_robust.certify.messages import proved_formulas
from rdma_robust.certify.messages.match_formula import MatchFormula
from rdma_robust.certify.messages.proved_formulas import Circles, SafeClaim
from rdma_robust.certify.messages.unfolded_terms import TooMuch
from rdma_robust.errors import InternalError
from rdma_robust.evidence.of_message_proofs import proof_of
from rdma_robust.limits import Limits
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import Buffer
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageQuestions
from tests.support.named_messages import NAMED

FIGURE_1 = NAMED["figure 1"].text
ARRAY = NAMED["all of an array"].text
BUFFERED = NAMED["a buffer lets another be first"].text
HALF = "proc P { send 1 to Q; assert 0 == 1 } proc Q { skip }"
POSTED = """
proc P { reg v; send 1 to Q; recv v from D }
proc Q { reg x, y; recv x; recv y; assert x == 1 }
proc D { send 9 to P; send 2 to Q }
"""
FOLLOWED = """
proc Q { reg x, y; recv x; send 0 to P; recv y; assert x == 7 }
proc P { reg v; recv v from Q; send 8 to Q }
proc R { send 7 to Q }
"""
CHOSEN = """
port c
proc C { choose { send 1 to Q on c } or { send 2 to Q on c } }
proc P {
  req h[4]
  h[0] = isend 10 to Q tag 1; h[1] = isend 11 to Q tag 1; h[2] = isend 20 to Q tag 2; h[3] = isend 21 to Q tag 2
}
proc Q { reg t, x; recv t from C on c; recv x from P tag t; assert x == 10 * t }
"""
ANSWERED = "proc P { send 1 to Q } proc Q { reg v; recv v; assert v == 1 }"


def _nothing(*_: object) -> None:
    """Stand for what adds clauses."""


def _always(name: str) -> Callable[[MatchFormula], None]:
    """Return what says how far processes get where all operations of a kind were matched."""
    original = MatchFormula._progress

    def progress(self: MatchFormula) -> None:
        matched = getattr(self, name)
        setattr(self, name, [1] * len(matched))
        original(self)
        setattr(self, name, matched)

    return progress


def _without(way: int) -> Callable[..., Iterator[Any]]:
    original = Circles._ways

    def ways(self: Circles, a: Any, b: Any) -> Iterator[Any]:
        yield from (each for at, each in enumerate(original(self, a, b)) if at != way)

    return ways


LEFT_OUT: dict[str, tuple[Any, str, Any, str, Buffer, SafeClaim]] = {
    "MP": (MatchFormula, "_issued", _nothing, FIGURE_1, "zero", "holds"),
    "W": (MatchFormula, "_progress", _always("received"), ARRAY, "infinite", "holds"),
    "Z": (MatchFormula, "_progress", _always("sent"), HALF, "zero", "holds"),
    "NS and NR": (MatchFormula, "_order", _nothing, CHOSEN, "infinite", "holds"),
    "nothing to match": (proved_formulas, "_nothing_to_match", _nothing, ANSWERED, "infinite", "deadlock-free"),
    "a wait for a receive before a send": (Circles, "_ways", _without(0), FOLLOWED, "infinite", "holds"),
    "a wait for a send before a send": (Circles, "_ways", _without(1), FIGURE_1, "zero", "holds"),
    "a wait for a receive before a receive": (Circles, "_ways", _without(2), BUFFERED, "zero", "deadlock-free"),
    "a wait for a send before a receive": (Circles, "_ways", _without(3), POSTED, "zero", "holds"),
}
"""What is switched off: the class or module, its attribute, what stands for it; and what has no proof then.

Not here, as nothing was found that notices: that all of one side are matched if all of the other are, and dropped pairs,
which only make proofs shorter; and NS and NR as links of circles.
"""


def proved(text: str, buffer: Buffer, claim: SafeClaim) -> bool:
    try:
        proof_of(load_messages(text, "p.mp"), buffer, claim, 8, Limits())
    except (InternalError, TooMuch):
        return False
    return True


@pytest.mark.parametrize("name", LEFT_OUT)
def test_proofs_need_every_constraint(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    room, attribute, other, text, buffer, claim = LEFT_OUT[name]
    answer = by_states(load_messages(text, "p.mp"), buffer, MessageQuestions(), Limits())
    assert (answer.violated if claim == "holds" else answer.deadlocked) == "no"
    assert proved(text, buffer, claim)
    monkeypatch.setattr(room, attribute, other)
    assert not proved(text, buffer, claim)
