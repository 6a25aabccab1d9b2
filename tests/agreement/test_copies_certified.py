"""The certificate checker's own steps of crowds, against P(0), P(1), ... and the search that decides for any number.

Its search gives the same verdict for random templates, and certificates of it are valid. Rules for copies that are switched
off are noticed: a program is decided wrongly, and if it is then taken for robust, its certificate is refused.
"""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from rdma_robust.certify.copies_invariants import check_robust_copies
from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.of_copies import copies_evidence
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.options import RECV_DEPTH, CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT
from tests.support.checker_search import platform_of
from tests.support.copies_certificates import by_own_search, certificate_of, checked, first_bad
from tests.support.copies_mutants import MUTANTS
from tests.support.copies_programs import EXAMPLES
from tests.support.patches import mutated
from tests.support.random_copies import random_copies
from tests.support.random_crowds import SHAPES, random_crowd
from tests.support.random_deployed import model_of
from tests.support.shares import chunks

NOTICED_BY = {
    "no copy of the hero's thread": "store buffers",
    "no fresh copy in beta": "IRIW",
    "no copy starts beta": "store buffers",
    "the hero has not begun": "a hero that has begun",
    "the hero has begun": "store buffers",
    "the copy that starts is the hero": "IRIW",
    "a copy is cut as the hero is": "store buffers",
    "a copy stays where it was": "guard",
    "polls of copies fail": "polled puts",
    "no copy loses its store": "a store that another one overwrites",
    "a copy has no share of forwarding": "a store that is read from the buffer",
    "a copy has no share of beta": "mailbox",
    "a copy has no share of cpu": "store buffers, fenced",
    "a copy has no share of stores": "store buffers, fenced",
    "a copy has no share of tainted_threads": "store buffers",
    "a copy has no share of written": "a relay of own words",
    "a copy has no share of under_way": "IRIW, polled, order none",
    "a copy has no share of poisoned": "a copy that reads the pivot",
    "a copy has no share of settled": "acknowledged flags",
    "a copy has no share of on_words": "accumulates of one word",
    "a copy has no share of trails": "a flag beside a card",
    "a copy has no share of behind": "data and flag behind a card",
}
"""For a mutant the program that is decided wrongly by it."""

NEEDLESS = {
    # Where the pivot is on an own word, the first of beta is of the same thread, and closes the cycle by itself.
    "own cells of two copies are one",
    # What a tainted event of a copy has accessed alone, only later events of the copy access, which are tainted anyway.
    "a copy has no share of tainted_reads",
    "a copy has no share of tainted_writes",
    # No text lets a copy have remote atomics on its own words.
    "a copy has no share of atomics",
    # Where a copy may write a word of its own before its card has read it, one copy alone seems to make a violation.
    "a copy has no share of read",
    # No program is known, as for the rules that they stand for in programs with so many threads.
    "a copy that ended holds no word",
    "a copy has no share of forced",
    "a copy has no share of overtaken",
    "a copy has no share of poison_carried",
    "a copy has no share of poison_taken",
}
"""Rules that no known program needs. They are kept."""


def compared(text: str, explicit: int, certified: bool, states: int) -> str:
    """Compare the verdicts about a program; return what was found, or in parentheses why nothing."""
    program = load_decidable(text, "random.rdma", crowds=True)
    model = model_of(program)
    try:
        found = by_own_search(program, model, Limits(states=states))
    except SizeLimitError:
        return "(cut)"
    if found.startswith("("):
        return found
    outcome = decide(program, CheckOptions(hardware=model, max_states=20_000))
    assert outcome.verdict.value in (found, "unknown"), text
    first, known = first_bad(program, model, explicit, 20_000)
    if not known.startswith("("):
        assert known == found or (found == "not-robust" and is_larger(outcome, explicit)), text
    if certified:
        about = outcome if outcome.verdict is not Verdict.UNKNOWN else first
        if found == "robust" or (about is not None and about.copies is not None):
            assert checked(certificate_of(program, model, None if found == "robust" else about), program).claim == found
    return found


def is_larger(outcome: Outcome, explicit: int) -> bool:
    return outcome.copies is not None and sum(number for _, number in outcome.copies.numbers) > explicit


def compared_many(numbers: range, explicit: int, certify: int, states: int = 1_500) -> Counter[str]:
    """Half of the programs each from two generators; one in so many gets a certificate."""
    shapes = list(SHAPES.values())
    found: Counter[str] = Counter()
    for seed in numbers:
        rng = Random(f"certified {seed}")
        if seed % 2:
            text = random_copies(rng, deployed=seed % 3 > 0, loops=seed % 5 == 0)
        else:
            text = random_crowd(rng, shapes[seed // 2 % len(shapes)])
        found[compared(text, explicit, seed % certify == 0, states)] += 1
    return found


def test_copies_fetch_what_nobody_writes() -> None:
    assert compared(EXAMPLES["a fetch of what nobody writes"].text, 2, True, 1_500) == "robust"


@pytest.mark.ci
def test_operands_and_memory_behind_a_card_are_certified() -> None:
    told = ROOT / "litmus/crowds/accelerator-told-flushed.rdma"
    assert compared(told.read_text(encoding="utf-8"), 1, True, 1_500) == "robust"
    assert compared(TAKEN, 2, True, 1_500) == "robust"


TAKEN = """node S { lock }
node CN[*] { free = 0, mine = 1, got }
thread C[*] on CN[*] {
  get got = cas(S.lock, free, mine)
  poll S
  free = 1
}
"""


def test_few_random_templates() -> None:
    found = compared_many(range(700, 712), 2, 2, 60)
    assert found["robust"] >= 4
    assert found["not-robust"] >= 1


@pytest.mark.parametrize("chunk", chunks(1, 65))
def test_random_templates(chunk: int) -> None:
    """40 programs a chunk, 2,600 in all."""
    found = compared_many(range(1_000 + 40 * chunk, 1_040 + 40 * chunk), 3, 3)
    assert found["robust"] > 10
    assert found["not-robust"] > 2
    assert found["robust"] + found["not-robust"] >= 25, found


SLOW = {"a copy that reads the pivot", "a store that another one overwrites", "store buffers, fenced", "guard"}
CASES = [pytest.param(m, marks=[pytest.mark.ci] if name in SLOW else []) for m, name in NOTICED_BY.items()]


@pytest.mark.ci
@pytest.mark.parametrize("name", CASES)
def test_every_rule_for_copies_is_needed(name: str) -> None:
    example = EXAMPLES[NOTICED_BY[name]]
    program, model = example.program, model_of(example.program)
    truth = "robust" if example.least is None else "not-robust"
    with mutated(MUTANTS[name]):
        assert by_own_search(program, model, NO_LIMITS) == {"robust": "not-robust", "not-robust": "robust"}[truth]
        evidence = copies_evidence(program, model, RECV_DEPTH, NO_LIMITS) if truth == "not-robust" else None
    if evidence is not None:
        with pytest.raises(InvalidCertificate, match=r"the invariant (is not inductive|contains a violation)"):
            check_robust_copies(program, platform_of(model), json.loads(json.dumps(evidence)))


def test_every_rule_for_copies_is_noticed_or_listed() -> None:
    assert NOTICED_BY.keys() | NEEDLESS == MUTANTS.keys()
    assert not NOTICED_BY.keys() & NEEDLESS
