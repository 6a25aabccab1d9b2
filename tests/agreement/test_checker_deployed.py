"""The certificate checker's own rules for RDMA as deployed, against brute force over the axioms.

Its search decides the named programs, random ones of every family and mutations as brute force does; rules that are
switched off are noticed. And the certificates of these programs, ROBUST by that search and NOT ROBUST by the traces of
brute force, are valid.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from itertools import chain, count
from pathlib import Path

import pytest

from rdma_robust.certify.invariants import check_robust
from rdma_robust.certify.violations import check_not_robust
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.evidence.produce import checkers_evidence
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.robustness.by_axioms import witness_of
from rdma_robust.semantics.oracle.brute_force import OracleLimits, oracle_robust
from rdma_robust.semantics.trace import Trace
from tests.conftest import ROOT
from tests.support.checker_mutants_deployed import MUTANTS
from tests.support.checker_search import RNR, Search, platform_of
from tests.support.patches import mutated
from tests.support.random_deployed import FAMILIES, loaded, mutants, named, random_deployed

HERE = Path(__file__).parent

SMALL = OracleLimits(decisions=60_000, timeout=30.0)

NOTICED_BY = {
    "T1 a store in beta forces nothing": "deployed/T1-stores-force-nothing",
    "T1 a store in beta forces loads as well": "deployed/T1-stores-force-reads",
    "T2 no load forwards": "deployed/T2-reads-do-not-forward",
    "T2 a forwarded load is before the pivot": "deployed/T2-forwarding-reads-come-before-the-pivot",
    "T3 every store of the pivot's thread waits": "deployed/T2-forwarding-reads-come-before-the-pivot",
    "M1 a poisoned atomic cuts": "atomics/m1-poisoned-cas-cuts",
    "M1 an atomic that writes leaves no poison": "checker/deployed/M1-an-atomic-leaves-poison",
    "M3 the order of atomics forces nothing": "checker/deployed/M3-the-order-of-atomics-forces",
    "M3 the pivot's read begins nothing": "checker/deployed/M3-the-pivots-read-begins",
    "M3 a split atomic excludes no pivot": "atomics/m3-torn-keeps-reads-out",
    "M4 behind the pivot's read nothing is forced": "atomics/m3-torn-keeps-reads-out",
    "M4 the whole atomic is no pivot": "checker/deployed/M4-the-whole-atomic",
    "S1 what waits for beta is not forced": "messages/s1-poll",
    "S2 a polled send tells of no buffer": "messages/s2-poll",
    "S2 a fence tells of no buffer": "messages/s5-fence",
    "S3 taint does not go with messages": "messages/immediate",
    "a store tells nothing by a poll": "checker/deployed/a-store-tells-by-a-poll",
    "unsignaled operations force no poll": "deployed/unsignaled-operations-force-nothing",
    "completions give no order": "deployed/completions-give-no-order",
    "every poll tells of remote writes": "deployed/every-poll-tells-of-remote-writes",
    "every completion is ahead of remote writes": "deployed/every-completion-is-ahead-of-remote-writes",
    "atomics of one word keep no order": "deployed/words-keep-no-order",
    "atomics of all words are in order": "deployed/words-are-one",
    "a fetch is no atomic": "checker/deployed/a-fetch-is-an-atomic",
    "a polled atomic has read nothing": "checker/deployed/a-polled-atomic-has-read",
    "a polled atomic has written before it read": "checker/deployed/a-polled-atomic-writes-behind-its-read",
    "receive completions stay behind nothing": "messages/s1-poll",
}
"""For a mutant the program that is decided wrongly by it."""

NEEDLESS = {
    "T3 no store of the pivot's thread waits",
    "M4 no thread ends between the events",
    "M4 atomics do not wait for one that ended",
    "M4 the write alone is no pivot",
    "M4 the pivot's read opens no cycle",
    "M5 the two events are two vertices",
    "M6 no access chooses",
    "S3 a tainted buffer does not close the cycle",
}
"""Rules that no known program needs; smallest violations have another pivot then. They are kept: no proof says so."""


def brute_force(program: Program, model: Model) -> Trace | None:
    return oracle_robust(program, model, SMALL)


def compared(programs: Iterable[tuple[Program, Model]], enough: int, *, certified: bool = False) -> Counter[str]:
    """Compare the search with brute force on so many programs, and check the certificates that these answers have."""
    answers: Counter[str] = Counter()
    for program, model in programs:
        if answers["robust"] + answers["not-robust"] >= enough:
            break
        found = Search.of(program, platform_of(model)).verdict(20_000)
        try:
            trace = brute_force(program, model)
        except SizeLimitError:
            continue
        truth = "robust" if trace is None else "not-robust"
        answers[truth if found in ("robust", "not-robust") else found] += 1
        what = f"{program.file}, {model}: {found}, and not {truth}\n{program.source}"
        assert found == truth or found.startswith("("), what
        if certified:
            certify(program, model, trace, found)
    return answers


def certify(program: Program, model: Model, trace: Trace | None, found: str) -> None:
    """Make the certificate of a verdict as `check` does, and check it as `verify-certificate` does."""
    if trace is not None:
        evidence = trace_evidence(program, witness_of(trace, program, model).trace)
        assert check_not_robust(program, platform_of(model), json.loads(json.dumps(evidence)))
    elif found == RNR:
        with pytest.raises(SizeLimitError, match=r"rnr"):
            checkers_evidence(program, model, RECV_DEPTH, Limits(states=20_000))
    elif found == "robust":
        evidence = checkers_evidence(program, model, RECV_DEPTH, Limits(states=20_000))
        assert check_robust(program, platform_of(model), json.loads(json.dumps(evidence)))


@pytest.mark.ci
def test_named_programs() -> None:
    answers = compared(named(), 1_000)
    assert answers["robust"] > 30
    assert answers["not-robust"] > 20


def test_a_poll_gives_order_on_its_own_queue_pair_only() -> None:
    """The checker took the put before the poll for polled, and rejected the trace."""
    path = ROOT / "litmus/deployed/multipath-polled-elsewhere.rdma"
    case = load_program(path.read_text(encoding="utf-8"), path.name), Model(order="multipath")
    assert compared([case], 1, certified=True)["not-robust"] == 1


def test_certificates_of_named_programs() -> None:
    compared((each for i, each in enumerate(named()) if i % 5 == 1), 1_000, certified=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_random_programs(family: str) -> None:
    assert compared(random_deployed(family, range(900_000, 900_010)), 3, certified=True).total() >= 3


def test_mutations() -> None:
    assert compared(mutants(range(900_000, 900_040)), 15).total() >= 15


@pytest.mark.parametrize("name", NOTICED_BY)
def test_every_rule_is_needed(name: str) -> None:
    path = HERE / f"{NOTICED_BY[name]}.rdma"
    program, model = loaded(path.read_text(encoding="utf-8"), path.stem)
    truth = "robust" if brute_force(program, model) is None else "not-robust"
    with mutated(MUTANTS[name]):
        assert Search.of(program, platform_of(model)).verdict() == {"robust": "not-robust", "not-robust": "robust"}[truth]
    assert Search.of(program, platform_of(model)).verdict() in (truth, RNR)


def test_every_rule_is_noticed_or_listed() -> None:
    assert NOTICED_BY.keys() | NEEDLESS == MUTANTS.keys()
    assert not NOTICED_BY.keys() & NEEDLESS


@pytest.mark.ci
def test_all_certificates_of_named_programs() -> None:
    compared(named(), 1_000, certified=True)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(15))
@pytest.mark.parametrize("family", FAMILIES)
def test_long_random_programs(family: str, chunk: int) -> None:
    """200 programs a chunk, 3,000 of every family."""
    start = 50_000_000 + 10_000 * chunk
    assert compared(random_deployed(family, range(start, start + 1_000)), 200)["robust"] > 20


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(20))
def test_long_mutations(chunk: int) -> None:
    """400 programs a chunk, 8,000 in all."""
    start = 60_000_000 + 10_000 * chunk
    assert compared(mutants(range(start, start + 2_000)), 400)["robust"] > 100


@pytest.mark.long
@pytest.mark.parametrize("family", [*FAMILIES, "mutations"])
def test_long_certificates(family: str) -> None:
    """200 programs of every family, certified."""
    many = mutants(count(70_000_000)) if family == "mutations" else random_deployed(family, count(70_000_000))
    assert compared(chain(many), 200, certified=True)["robust"] > 20
