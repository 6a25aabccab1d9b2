"""Every coverability engine on every net of the corpus and on random nets; runs are replayed, nothing is believed."""

from __future__ import annotations

import re
import time
from pathlib import Path
from random import Random

import pytest

from rdma_robust.certify.nets import check_unsafe
from rdma_robust.evidence.produce import invariant_evidence, run_evidence
from rdma_robust.limits import Limits
from rdma_robust.petri.cover import COVER_ENGINES, cover
from rdma_robust.petri.net import CoverResult, Net
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.questions.cover_question import expectation
from rdma_robust.reports.cover.cover_result import firing_sequence
from tests.conftest import ROOT
from tests.support.certificates import check_safe
from tests.support.flawed_tree import flawed_limits
from tests.support.naive_backward import below, coverable, dense, reaches, replay
from tests.support.random_nets import random_net, shrink
from tests.support.shares import share

CORPUS = sorted((ROOT / "tests/nets").glob("*.spec"))
ENGINES = tuple(dict.fromkeys(("auto", *COVER_ENGINES)))
HEADER = r"\ufeff?#[^\n]{20,}\n(#[^\n]*\n)*# Source: [^\n]+\n(#[^\n]*\n)*# expect: (safe|unsafe)\r?\n"
UNVERIFIED = {"big-guard-out-of-reach": "its backward basis has 10^30 elements; a + b never changes and is below the guard"}
"""Safe nets that are too much for both naive searches, and why they are safe."""
SECONDS = 20.0
"""What `auto` may take for a net."""
ALONE_SECONDS = 1.0
"""What a single engine may take: it decides nearly all of them in a tenth of that, the others not in a minute."""
COMPLETE = len(ENGINES) > 2
"""Whether `auto` is more than one engine; then it is to decide the nets, with no limit but time."""
STORED = 2000 if COMPLETE else 100
"""What a single engine may store."""


def net_of(path: Path) -> Net:
    return read_spec(path.read_text(encoding="utf-8"), path.name)


def limits(engine: str) -> Limits:
    stored = None if engine == "auto" and COMPLETE else STORED
    return Limits(time.monotonic() + (SECONDS if engine == "auto" else ALONE_SECONDS), stored, 2048)


def test_the_corpus_is_large_and_explained() -> None:
    assert len(CORPUS) >= 70
    for path in CORPUS:
        text = path.read_text(encoding="utf-8")
        assert re.match(
            r"\ufeff?#[^\n]{20,}\n(#[^\n]*\n)*# Source: [^\n]+\n(#[^\n]*\n)*# expect: (safe|unsafe)\r?\n", text
        ), path.name
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+\.spec", path.name), path.name
    verdicts = [expectation(path.read_text(encoding="utf-8")) for path in CORPUS]
    assert min(verdicts.count("safe"), verdicts.count("unsafe")) > 50


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.stem)
def test_expectations_are_what_naive_searches_say(path: Path) -> None:
    net = net_of(path)
    answers = {coverable(net, 110)} - {None} or {reaches(net)} - {None}
    expected = expectation(path.read_text(encoding="utf-8")) == "unsafe"
    assert answers <= {expected}
    if not answers and not expected:
        assert path.stem in UNVERIFIED


def check(net: Net, result: CoverResult) -> str:
    """Return the verdict of `result`, with its run replayed twice and its evidence accepted by the certificate checker."""
    assert (result.run is not None) + (result.invariant is not None) + bool(result.cut) == 1
    if result.invariant is not None:
        assert check_safe(net, invariant_evidence(net, result.invariant))
        return "safe"
    if result.run is None:
        return "unknown"
    assert check_unsafe(net, run_evidence(net, result.run.start, result.run.transitions, result.run.target))
    end = replay(net, result.run)
    view = firing_sequence(net, result.run, False)
    assert {t.place: t.tokens for t in view.end} == {p: n for p, n in zip(net.places, end, strict=True) if n}
    return "unsafe"


@pytest.mark.parametrize("engine", share(ENGINES))
def test_engines_agree_with_the_expectations(engine: str) -> None:
    wrong = {}
    for path in CORPUS:
        net, expected = net_of(path), expectation(path.read_text(encoding="utf-8"))
        verdict = check(net, cover(net, limits(engine), engine))
        undecided = verdict == "unknown" and (engine != "auto" or not COMPLETE)
        if verdict != expected and not undecided:
            wrong[path.name] = verdict
    assert not wrong


def disagreement(net: Net, engine: str) -> str:
    """Return how an engine contradicts the naive backward search on a net, or ''."""
    truth = coverable(net, 300)
    try:
        verdict = check(net, cover(net, limits(engine), engine))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if truth is None or verdict in ("unknown", "unsafe" if truth else "safe"):
        return ""
    return f"{engine} says {verdict}"


def compare(engine: str, number: int, seed: int) -> None:
    rng = Random(seed)
    for _ in range(number):
        net = random_net(rng)
        if said := disagreement(net, engine):
            small = shrink(net, lambda candidate: disagreement(candidate, engine) != "")
            pytest.fail(f"{said}; the smallest net: {small}")


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_with_the_naive_search_on_random_nets(engine: str) -> None:
    compare(engine, 60, seed=11)


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_with_the_naive_search_on_many_random_nets(engine: str) -> None:
    compare(engine, 3000, seed=12)


def test_random_nets_are_of_both_kinds() -> None:
    rng = Random(5)
    answers = [coverable(random_net(rng), 100) for _ in range(120)]
    assert min(answers.count(True), answers.count(False)) > 25


@pytest.mark.parametrize(("stem", "newest_first"), [("pruning-kept-leaf", True), ("pruning-kept-leaf-oldest-first", False)])
def test_the_pruning_nets_do_what_they_are_for(stem: str, newest_first: bool) -> None:
    """The published flawed tree misses the target of these nets."""
    net = net_of(ROOT / f"tests/nets/{stem}.spec")
    limits_found = flawed_limits(net, newest_first)
    target = dense(net.targets[0], len(net.places))
    assert not any(below(target, limit) for limit in limits_found)
    assert coverable(net) is True
