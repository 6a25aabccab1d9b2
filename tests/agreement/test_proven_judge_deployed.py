"""The judge of counterexamples on any hardware agrees with the axioms of the tool: on runs at random, on counterexamples of
programs, and on mutations of them; it decides the axioms of any traces as they do; and it agrees with the judge that goes by
the rules of Lemma 3 on what both cover."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pytest

from rdma_robust.certify import proven_judge
from rdma_robust.certify.judge_account import Account, account_of
from rdma_robust.certify.judge_question import NotCovered, question_of
from rdma_robust.certify.violations import claimed_events
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable
from rdma_robust.model import Model, rdma
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT, Cli
from tests.support.accounts import Orders, decided, is_counterexample, trace_document
from tests.support.checker_search import platform_of
from tests.support.judged import answers, flawed_judge
from tests.support.mutated_accounts import mutated, shuffled
from tests.support.proven import without_completions_order
from tests.support.random_accounts import random_account
from tests.support.random_deployed import FAMILIES, mutants, named, random_deployed
from tests.support.random_programs import random_program
from tests.support.shares import chunks

VIOLATING = "violating"
SAID = {
    "refused: sc has no cycle",
    "refused: ib or ob has a cycle",
    "refused: event _ cannot stand there: no operation goes on so, or there is no completion, buffer or message",
    "refused: event _ reads another value than its source has written, or its operation goes on in another way",
    "refused: a read has not one source, a write of its cell",
}


@pytest.fixture(autouse=True)
def _table_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The development has the table of `order multipath`, and no order behind completions."""
    without_completions_order(monkeypatch)


def agreed(accounts: list[Account]) -> list[str]:
    """What the judge says of accounts; it says violating of those that the axioms call counterexamples."""
    said = answers([account.text() for account in accounts])
    for account, answer in zip(accounts, said, strict=True):
        assert (answer == VIOLATING) == is_counterexample(account), f"{answer}\n{account.text()}"
    return [re.sub(r"\d+\.\d+", "_", answer) for answer in said]


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_the_judge_says_violating_iff_the_axioms_do(chunk: int) -> None:
    rng = Random(f"judged accounts {chunk}")
    accounts = [random_account(rng) for _ in range(1500)]
    said = agreed(accounts)
    found = [account for account, answer in zip(accounts, said, strict=True) if answer == VIOLATING]
    assert len(found) > 40
    said += agreed([mutated(account, rng) for account in found for _ in range(8)])
    assert set(said) == {VIOLATING, *SAID}


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_the_axioms_are_decided_as_by_the_tool(chunk: int) -> None:
    rng = Random(f"judged deployed traces {chunk}")
    drawn = []
    for _ in range(1200):
        account = random_account(rng)
        orders = Orders(account.order, account.order, account.order)
        drawn.append(shuffled(account, rng) if rng.random() < 0.6 else (account, orders))
    said = answers([trace_document(*each) for each in drawn])
    for each, answer in zip(drawn, said, strict=True):
        assert answer == decided(*each), trace_document(*each)
    assert len(set(said)) == 4


BEHIND_STORES = """judge 2
cpu tso
atomics hca
order default
reads unordered
cells 0 0 0
thread
lW 0 1
nrW-inline s 0 2 1
P 0
lR 1 0
thread
lW 1 1
F
lR 0 0
rf i1 0.3 i0 1.2
events 0.2 0.3 1.0 1.1 1.2 0.0 0.1
end
"""


def test_a_polled_request_tells_that_earlier_stores_have_left_the_store_buffer() -> None:
    unpolled = BEHIND_STORES.replace("P 0\n", "").replace("0.3", "0.2").replace("events 0.2 0.2", "events 0.2")
    assert answers([BEHIND_STORES, unpolled]) == ["refused: ib or ob has a cycle", VIOLATING]


def accounts_of(programs: Iterable[tuple[Program, Model]]) -> Iterator[Account]:
    """The counterexamples that are found. The two judges agree on what both cover."""
    both = []
    for program, model in programs:
        outcome = decide(program, CheckOptions(hardware=model, max_states=30_000))
        if outcome.witness is None:
            continue
        platform = platform_of(model)
        claimed = claimed_events(program, trace_evidence(program, outcome.witness.trace)["events"])
        try:
            both.append(question_of(program, platform, claimed).text())
        except NotCovered:
            both.append("")
        try:
            account = account_of(program, platform, claimed)
        except NotCovered:  # what the development does not have: docs/assurance.md says what that is
            continue
        yield account
    assert set(answers(list(filter(None, both)))) <= {VIOLATING}


def confirmed(accounts: list[Account], rng: Random) -> None:
    """The judge calls all of them violating, and mutations iff the axioms do."""
    assert set(agreed(accounts)) == {VIOLATING}
    said = agreed([mutated(account, rng) for account in accounts for _ in range(8)])
    assert len(said) / 10 < sum(answer == VIOLATING for answer in said) < len(said) * 0.7


@pytest.mark.parametrize("chunk", chunks(1, 30))
def test_counterexamples_of_random_programs_are_violating(chunk: int) -> None:
    rng = Random(f"judged deployed programs {chunk}")
    programs = [(load_decidable(random_program(rng), "random"), rdma(rng.random() < 0.5)) for _ in range(30)]
    seeds = range(chunk * 25, chunk * 25 + 25)
    for family in FAMILIES:
        programs += random_deployed(family, seeds)
    programs += mutants(range(chunk * 60, chunk * 60 + 60))
    accounts = list(accounts_of(programs))
    assert len(accounts) > 60
    confirmed(accounts, rng)


@pytest.mark.ci
def test_counterexamples_of_the_named_programs_are_violating() -> None:
    accounts = list(accounts_of(named()))
    assert len(accounts) > 30
    confirmed(accounts, Random("named accounts"))


SUITE = {"litmus": 160, "litmus/deployed": 100, "litmus/crowds": 35}
"""Of how many programs of a folder the judge agrees, at least."""
NOT_COVERED = "not covered by the extracted checker: "
"""What the development does not have is listed in docs/assurance.md."""


@pytest.mark.ci
@pytest.mark.parametrize("folder", SUITE)
def test_every_counterexample_of_the_suite_is_judged(folder: str, cli: Cli) -> None:
    """All programs that are not robust, those with any number of copies too: by the rules, or by all axioms."""
    answers([])
    texts = {path: path.read_text("utf-8") for path in sorted((ROOT / folder).glob("*.rdma"))}
    paths = [path for path, text in texts.items() if "expect not robust" in text]
    assert len(paths) > SUITE[folder]
    assert cli("check", "--quiet", "--certificate", "proofs", *map(str, paths)).returncode == 1
    done = cli("verify-certificate", "--proven", "proofs")
    lines = [line for line in re.sub(r"\n +", " ", done.stdout).splitlines() if line]
    others = [line for line in lines if not line.endswith("the extracted checker agrees")]
    assert [line for line in others if NOT_COVERED not in line] == []
    assert len(lines) == len(paths)
    assert len(lines) - len(others) > SUITE[folder]


SWITCHED_OFF = {
    "connected": "true",
    "follows": "true",
    "begins": "true",
    "rf_fine": "true",
    "fitting": "true",
    "has_read": "true",
    "has_write": "true",
    "of_one_operation": "false",
    "observed": "Never0",
    "issued": "Never0",
    "lost": "false",
    "pf": "false",
    "sm": "false",
    "rpf": "false",
    "received": "false",
    "rb": "false",
    "own": "false",
    "flushed": "false",
    "in_turn": "false",
    "posted_behind": "false",
    "unfinished": "true",
    "section_start": "O",
    "sc_step": "Initial O",
    "overtakes": "false",
    "instantaneous": "true",
}
"""Functions of the judge, and what they answer where they test nothing, or relate nothing."""


@pytest.mark.long
@pytest.mark.parametrize("name", SWITCHED_OFF)
def test_a_judge_without_one_of_its_tests_is_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(proven_judge.VARIABLE, str(flawed_judge(tmp_path, name, SWITCHED_OFF[name])))
    with pytest.raises(AssertionError):
        test_a_polled_request_tells_that_earlier_stores_have_left_the_store_buffer()
        for chunk in range(4):
            test_the_axioms_are_decided_as_by_the_tool(chunk)
            test_the_judge_says_violating_iff_the_axioms_do(chunk)
