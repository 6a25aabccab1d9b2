"""Certificates of litmus programs and nets, forged in many ways: what proves nothing is refused, all of it."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import pytest

from rdma_robust.certify import checker
from rdma_robust.errors import SizeLimitError
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.petri.cover import cover as cover_net
from rdma_robust.petri.net import EnumeratedInvariant
from rdma_robust.petri.spec.reader import read_spec
from tests.conftest import ROOT
from tests.litmus.goldens import PROGRAMS, read_golden
from tests.support.certificates import cover, document, rejection, robustness
from tests.support.forgeries import all_forgeries
from tests.support.net_forgeries import changed_nets, made_out_for, weaker_proofs

NETS = sorted((ROOT / "tests/nets").glob("*.spec"))
SIZE = 120
"""States of an invariant that is forged in every run."""

SAMPLE = [p for i, p in enumerate(PROGRAMS) if i % 12 == 2 and read_golden(p)["pivot"]["states"] < SIZE]
OPEN = [p for p in PROGRAMS if read_golden(p)["pivot"]["verdict"] != read_golden(p)["pivot"]["ordered_reads"]][:2]
"""Programs that are robust if reads are ordered, and else not."""

DEPLOYED = [
    ROOT / f"tests/data/deployed/{name}.rdma"
    for name in (
        "forwarded-then-overwritten",
        "sb-mfence-both",
        "put-into-rmw",
        "two-faa",
        "lock-release-cas",
        "sherman",
        "credits-by-immediate",
        "immediates-in-order",
        "receive-and-get",
        "rmw-and-message-relaxed",
        "unsignaled-get",
    )
]
"""Programs for RDMA as deployed."""

EVERY_KIND = {
    "robust": {
        "a state left out",
        "a class left out",
        "a limit lowered",
        "a cell left out",
        "closed changed",
        "beta forgotten",
    },
    "not-robust": {"thread changed", "type changed", "read changed", "written changed", "reads from itself"},
}
COMMON = {"another program", "another text", "cut short", "claim turned round", "another network", "other order of reads"}


def forge(paths: list[Path], states: int, each: int) -> tuple[Counter[str], list[tuple[str, str]]]:
    """Return how many were forged in which way, of each way so many of a program at most, and which were accepted."""
    done: Counter[str] = Counter()
    accepted = []
    for path in paths:
        here: Counter[str] = Counter()
        text = path.read_text(encoding="utf-8")
        try:
            data = robustness(text, CheckOptions().on(load_program(text, path.name).hardware), states=states)
        except SizeLimitError:
            continue
        assert data is not None
        for what, forged, about in all_forgeries(data, text, Random(path.stem)):
            here[what] += 1
            if here[what] > each:
                continue
            done[what] += 1
            if not rejection(forged, about):
                accepted.append((path.stem, what))
    return done, accepted


@pytest.fixture(autouse=True)
def texts_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of the time would go into parsing the same text again."""
    monkeypatch.setattr(checker, "load_program", cache(load_program))


@pytest.mark.ci
def test_all_forged_certificates_are_refused() -> None:
    done, accepted = forge([*SAMPLE, *OPEN], SIZE, 3)
    assert accepted == []
    assert set(done) >= COMMON | EVERY_KIND["robust"] | EVERY_KIND["not-robust"], done
    assert done.total() > 1_000


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(20))
def test_long_all_forged_certificates_are_refused(chunk: int) -> None:
    """Every litmus program with an invariant of at most 2,000 states."""
    done, accepted = forge(PROGRAMS[chunk::20], 2_000, 1_000)
    assert accepted == []
    assert done.total() > 2_000


ENGINES = {"upward": "backward", "upward-with-traps": "state-equation", "downward": "forward", "linear": "state-equation"}
"""For each kind of proof an engine that finds it."""


def forge_nets(kind: str, paths: list[Path], each: int) -> tuple[Counter[str], list[tuple[str, str]]]:
    """As :func:`forge`, for the proofs of this kind that an engine finds for nets."""
    done: Counter[str] = Counter()
    accepted = []
    for path in paths:
        here: Counter[str] = Counter()
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        net, rng = read_spec(text, path.name), Random(path.stem)
        result = cover_net(net, Limits(states=300), ENGINES[kind])
        if result.invariant is None or isinstance(result.invariant, EnumeratedInvariant):
            continue
        certificate = document(cover(text, result))
        if certificate["evidence"]["kind"] != kind:
            continue
        assert rejection(certificate, text) == ""
        forged = [(what, false, text) for what, false in weaker_proofs(certificate)]
        unsafe = [other for other in changed_nets(net, rng) if cover_net(other, Limits(states=300), "forward").run]
        forged += [("another net", *made_out_for(certificate, other)) for other in unsafe]
        for what, false, about in forged:
            here[what] += 1
            if here[what] <= each:
                done[what] += 1
                if not rejection(false, about):
                    accepted.append((path.stem, what))
    return done, accepted


@pytest.mark.parametrize(("kind", "least", "step"), [("upward", 100, 3), ("upward-with-traps", 70, 1), ("linear", 100, 6)])
def test_all_forged_certificates_of_nets_are_refused(kind: str, least: int, step: int) -> None:
    done, accepted = forge_nets(kind, NETS[::step], 5)
    assert accepted == []
    assert "another net" in done
    assert done.total() > least, done


@pytest.mark.long
@pytest.mark.parametrize("kind", ENGINES)
def test_long_all_forged_certificates_of_nets_are_refused(kind: str) -> None:
    done, accepted = forge_nets(kind, NETS, 200)
    assert accepted == []
    assert done.total() > 150, done


@pytest.mark.ci
def test_all_forged_certificates_of_rdma_as_deployed_are_refused() -> None:
    done, accepted = forge(DEPLOYED, 600, 3)
    assert accepted == []
    assert set(done) >= {"other cpu", "other order", "another program", "stores_in_beta forgotten", "split forgotten"}, done
    assert set(done) >= {"peer changed", "completion changed", "posted lost", "arrived lost", "posted in the other part"}
    assert done.total() > 400
