"""Certificates for any number of copies, forged in many ways: what proves nothing is refused, all of it, with a reason."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from rdma_robust.errors import SizeLimitError
from rdma_robust.limits import Limits
from tests.support.certificates import document
from tests.support.copies_certificates import by_own_search, certificate_of, checked, first_bad, refusal
from tests.support.copies_forgeries import all_forgeries
from tests.support.copies_programs import EXAMPLES, Example
from tests.support.random_copies import random_copies
from tests.support.random_deployed import model_of

EVERY = {
    "a marking left out",
    "a control state left out",
    "a class left out",
    "all pivots left out",
    "any number made finite",
    "a number of copies lowered",
    "copies left out",
    "a copy elsewhere",
    "another value of a copy",
    "a copy with fewer completions",
    "a copy without marks",
    "beta of a copy forgotten",
    "taint of a copy forgotten",
    "closed changed",
    "the hero left out",
    "the hero elsewhere",
    "another value",
    "another copy has not begun",
    "another pivot",
    "another program",
    "one of each thread",
    "claim turned round",
    "numbers of copies changed",
    "copies of another thread",
    "thread changed",
    "other cpu",
}


def forge(example: Example, seed: object, each: int) -> tuple[Counter[str], list[tuple[str, str]]]:
    """Return how many were forged in which way, of each way so many at most, and which were accepted."""
    program, model = example.program, model_of(example.program)
    outcome, _ = first_bad(program, model, example.least) if example.least is not None else (None, "")
    data = certificate_of(program, model, outcome)
    assert checked(data, program)
    done: Counter[str] = Counter()
    accepted = []
    for what, forged, about in all_forgeries(document(data), program, Random(f"{seed}")):
        done[what] += 1
        if done[what] <= each:
            reason = refusal(json.dumps(forged).encode(), about)
            if len(reason) < 15:
                accepted.append((what, json.dumps(forged)))
    return done, accepted


FEW = ("store buffers", "puts")
MANY = (
    "puts",
    "store buffers",
    "2 copies",
    "3 copies",
    "store buffers, fenced",
    "guard",
    "mailbox",
    "IRIW",
    "lock, not flushed",
)
LARGE = ("lock", "IRIW, polled", "a copy that reads the pivot")


@pytest.mark.parametrize("name", FEW)
def test_forged_certificates_are_refused(name: str) -> None:
    done, accepted = forge(EXAMPLES[name], name, 3)
    assert not accepted
    assert done.total() > 10


@pytest.mark.long
def test_all_forged_certificates_are_refused() -> None:
    done: Counter[str] = Counter()
    for name in MANY:
        here, accepted = forge(EXAMPLES[name], name, 3)
        assert not accepted, name
        done += here
    assert set(done) >= EVERY, EVERY - set(done)
    assert done.total() > 300


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_long_forged_certificates_are_refused(name: str) -> None:
    assert not forge(EXAMPLES[name], name, 3)[1]


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_long_forged_certificates_of_random_programs_are_refused(chunk: int) -> None:
    """Of 20 programs a chunk, robust and not."""
    forged = 0
    for seed in range(1_000_000 + 1_000 * chunk, 1_000_000 + 1_000 * chunk + 60):
        text = random_copies(Random(seed), deployed=seed % 2 == 1)
        example = Example(text, None)
        program, model = example.program, model_of(example.program)
        try:
            found = by_own_search(program, model, Limits(states=400))
        except SizeLimitError:
            continue
        if found == "not-robust":
            outcome, _ = first_bad(program, model, 3)
            if outcome is None or outcome.copies is None:
                continue
            example = Example(text, sum(number for _, number in outcome.copies.numbers))
        elif found != "robust":
            continue
        done, accepted = forge(example, seed, 3)
        assert not accepted, text
        forged += done.total()
    assert forged > 500
