"""Certificates for RDMA as deployed: of litmus programs, valid as written, and where there is none."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from rdma_robust.certify.document import GZIP, InvalidCertificate
from rdma_robust.certify.hardware import USUAL
from rdma_robust.certify.invariants import check_robust
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.evidence import checkers_search
from rdma_robust.evidence.produce import checkers_evidence
from rdma_robust.language.load import load_program
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.model import RDMA, Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT
from tests.support.certificates import check, document, robustness
from tests.support.checker_search import platform_of
from tests.support.shares import share
from tests.unit.certify.test_round_trip import SCHEMA

PROGRAMS = sorted((ROOT / "litmus/deployed").glob("*.rdma"))
MINUTES = "operands-loop-tail"
"""Its certificate takes two minutes to check."""

UNREADY = """node A { x }
node B { b }
thread T on A { send 1 to U }
thread U on B { recv b from T }
"""

POSTING = """node A { x }
node B { b }
thread T on A { loop { assume x == 2; send 1 to U } }
thread U on B { loop { recv b from T } }
"""


@pytest.mark.parametrize(
    "path",
    [
        *share([p for p in PROGRAMS if p.stem != MINUTES], 24),
        pytest.param(ROOT / f"litmus/deployed/{MINUTES}.rdma", marks=pytest.mark.long),
    ],
    ids=lambda p: p.stem,
)
def test_litmus_verdicts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    program = load_program(text, path.name)
    data = robustness(text, CheckOptions().on(program.hardware))
    assert data is not None
    if not data.startswith(GZIP):
        SCHEMA.validate(document(data))
    assert check(data, text).claim == ("robust" if program.expect_robust else "not-robust")


def test_where_a_message_finds_no_buffer_nothing_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The producer says so; and the checker finds it in evidence that does not."""
    program = load_program(UNREADY, "unready.rdma")
    with pytest.raises(SizeLimitError, match=r"\(rnr\), and ROBUST then has no proof: line 3"):
        checkers_evidence(program, RDMA, 8, NO_LIMITS)
    with monkeypatch.context() as patch:
        patch.setattr(checkers_search._Exploration, "_refuse_unready", lambda *_arguments: None)
        evidence = json.loads(json.dumps(checkers_evidence(program, RDMA, 8, NO_LIMITS)))
    with pytest.raises(InvalidCertificate, match=r"\(rnr\).* line 3"):
        check_robust(program, USUAL, evidence)


def test_receive_queues_without_end_have_no_proof() -> None:
    with pytest.raises(SizeLimitError, match="more than 8 receives of one connection can be outstanding: line 4"):
        checkers_evidence(load_program(POSTING, "posting.rdma"), RDMA, 8, NO_LIMITS)


LOOPING = sorted([*(ROOT / "litmus").glob("*loop*.rdma"), *(ROOT / "litmus").glob("polls-*.rdma")])
HARDWARE = [Model(cpu="tso"), Model(order="multipath")]


@pytest.mark.parametrize(
    ("path", "hardware"), share(product(LOOPING, HARDWARE), 20), ids=lambda each: getattr(each, "stem", "")
)
def test_loops_on_other_hardware(path: Path, hardware: Model) -> None:
    """Completions without bounds: what the search decides, the checker's rules prove, or find a violation of."""
    program = load_program(path.read_text(encoding="utf-8"), path.name)
    verdict = decide(program, CheckOptions(hardware=hardware)).verdict
    if verdict is Verdict.ROBUST:
        evidence = json.loads(json.dumps(checkers_evidence(program, hardware, 8, Limits(states=20_000))))
        assert check_robust(program, platform_of(hardware), evidence)
    else:
        with pytest.raises(InternalError, match="the checker's rules find a violation"):
            checkers_evidence(program, hardware, 8, Limits(states=20_000))
