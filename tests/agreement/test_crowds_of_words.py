"""Any number of copies with operands in memory, memory behind a card, lanes, other tables, against P(0), P(1), ..., and
brute force over the axioms of these."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.crowds import decide_any
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.unconfirmed import UNCONFIRMED
from rdma_robust.semantics.oracle.brute_force import OracleLimits, oracle_robust
from tests.support.crowd_agreement import loaded, numbers_up_to
from tests.support.crowds_of_words import crowds_of_words
from tests.support.shares import chunks

MOST = 3
"""Copies in all up to which P(n) is decided explicitly."""

SMALL = OracleLimits(decisions=20_000, timeout=5.0)


def check(text: str, order: str | None) -> Verdict:
    """Compare the verdict for any number with those of P(n), and these with brute force."""
    program = loaded(text)
    if order is not None:
        program = replace(program, hardware=replace(program.hardware, order=order))
    options = CheckOptions(max_states=20_000, timeout=8).on(program.hardware)
    outcome, known = decide(program, options), True
    for numbers in numbers_up_to(program, MOST):
        single = copies_of(program, numbers)
        found = decide(single, replace(options, timeout=3))
        known = known and found.verdict is not Verdict.UNKNOWN
        if found.verdict is Verdict.NOT_ROBUST:
            assert outcome.verdict is not Verdict.ROBUST, f"{numbers}, {order}\n{text}"
            break
        if known and sum(numbers.values()) <= 2:
            assert _none_by_axioms(single, options), f"{numbers}, {order}\n{text}"
    if outcome.verdict is Verdict.NOT_ROBUST and outcome.copies is not None and known:
        total, least = sum(number for _, number in outcome.copies.numbers), sum(numbers.values())
        single_is_bad = found.verdict is Verdict.NOT_ROBUST
        assert total >= least if single_is_bad else total > MOST, f"{order}\n{text}"
        assert not outcome.copies.least or not single_is_bad or total == least, f"{order}\n{text}"
    return outcome.verdict


def _none_by_axioms(program: Program, options: CheckOptions) -> bool:
    """Whether brute force finds no violation, or gives up."""
    try:
        return oracle_robust(program, options.model, SMALL) is None
    except SizeLimitError:
        return True


def test_few_random_crowds() -> None:
    found = [check(text, order) for text, order in crowds_of_words(range(5))]
    assert {Verdict.ROBUST, Verdict.NOT_ROBUST} <= {*found}


@pytest.mark.parametrize("chunk", chunks(1, 150))
def test_many_random_crowds(chunk: int) -> None:
    """6,000 programs in `make test-long`."""
    found = [check(text, order) for text, order in crowds_of_words(range(40 * chunk, 40 * (chunk + 1)))]
    assert found.count(Verdict.UNKNOWN) < 0.25 * len(found)


BESIDE = """node H { f }
node G via H { x }
node Client[*] { one = 1 }
thread C[*] on Client[*] {
  put G.x = one
  put H.f = one
}
thread D on H {
  reg p, q
  p = f
  assume p == 1
  q = G.x
}
"""


def test_a_target_alone_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory lies behind a card a reached target need be no violation: if the smallest number of copies is not found,
    some P(n) has the counterexample, or it is not known."""
    none = SimpleNamespace(run=None, cut="states", target=-1)
    monkeypatch.setattr(decide_any, "smallest", lambda *_: none)
    outcome = decide(loaded(BESIDE), CheckOptions())
    assert outcome.verdict is Verdict.NOT_ROBUST and outcome.checked_by == ("axioms",)
    monkeypatch.setattr(decide_any, "MOST_EXPLICIT", 0)
    monkeypatch.setattr(decide_any, "MOST_CUT_OFF", 0)
    outcome = decide(loaded(BESIDE), CheckOptions())
    assert outcome.verdict is Verdict.UNKNOWN and outcome.reason == UNCONFIRMED
