"""Messages of several words: the search, brute force, both machines, certificates, and the matching of whole messages.

The language writes them out, word by word, and every engine knows words. `naive_long_messages` matches whole messages with
whole receives instead: that both say the same is the lemma of docs/theory-deployed.md, "Messages of several words".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.agreement.test_checker_deployed import compared as certified
from tests.agreement.test_deployed import Case, agreeing
from tests.agreement.test_lifetimes import same_outcomes
from tests.support.naive_long_messages import NaiveLongMessages
from tests.support.random_long_messages import random_long_messages
from tests.support.shares import chunks


def same_as_whole(cases: Iterable[Case], most: int) -> Counter[bool | None]:
    """Compare verdicts of brute force with those of whole messages; return how often each is."""
    found: Counter[bool | None] = Counter()
    for program, model in cases:
        robust = None if program.has_regions else NaiveLongMessages(program, model, most).robust()
        if robust is not None:
            assert robust == (oracle_robust(program, model) is None), f"{program.file}, {model}\n{program.source}"
        found[robust] += 1
    return found


def test_a_few_random_programs() -> None:
    assert agreeing(random_long_messages(range(8)), 1) >= 1


@pytest.mark.parametrize("chunk", chunks(1, 400))
def test_many_random_programs(chunk: int) -> None:
    assert agreeing(random_long_messages(range(10_000 + 60 * chunk, 10_060 + 60 * chunk)), 1) >= 5


@pytest.mark.parametrize("chunk", chunks(1, 50))
def test_many_outcomes(chunk: int) -> None:
    assert same_outcomes(random_long_messages(range(50_000 + 60 * chunk, 50_060 + 60 * chunk))) > 1


@pytest.mark.parametrize("chunk", chunks(1, 50))
def test_many_as_whole_messages(chunk: int) -> None:
    found = same_as_whole(random_long_messages(range(70_000 + 60 * chunk, 70_060 + 60 * chunk)), 600)
    assert found[True] + found[False] > 5


@pytest.mark.parametrize("chunk", chunks(1, 30))
def test_many_certificates(chunk: int) -> None:
    cases = random_long_messages(range(90_000 + 60 * chunk, 90_060 + 60 * chunk))
    assert certified(cases, 20, certified=True).total() >= 8
