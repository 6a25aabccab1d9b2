"""The litmus programs with any number of clients: what is expected of them is certified, and the checker agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust import TOOL
from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import GZIP, read_document
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.envelope import write_document
from rdma_robust.evidence.produce import robustness_certificate
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT
from tests.support.certificates import document
from tests.support.shares import share
from tests.unit.certify.test_round_trip import SCHEMA

PROGRAMS = sorted((ROOT / "litmus/crowds").glob("*.rdma"))
STATES = 350
"""Markings of an invariant that is made in CI; of larger ones the long tests are about."""


def certified(path: Path, states: int) -> str:
    """Return the claim that is proved, '' where the proof has more markings."""
    text = path.read_text(encoding="utf-8")
    program = load_decidable(text, path.name, crowds=True)
    options = CheckOptions().on(program.hardware)
    try:
        made = robustness_certificate(decide(program, options), options, Limits(states=states), path.name)
    except SizeLimitError:
        return ""
    assert made is not None
    data = write_document(made, TOOL)
    if not data.startswith(GZIP):
        SCHEMA.validate(document(data))
    return verify(read_document(data), text, path.name).claim


def expected(path: Path) -> str:
    program = load_decidable(path.read_text(encoding="utf-8"), path.name, crowds=True)
    return "robust" if program.expect_robust else "not-robust"


@pytest.mark.parametrize("path", share(PROGRAMS[::5], 8), ids=lambda p: p.stem)
def test_litmus_crowds(path: Path) -> None:
    assert certified(path, STATES) in ("", expected(path))


@pytest.mark.long
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_long_litmus_crowds(path: Path) -> None:
    assert certified(path, 5_000) in ("", expected(path))
