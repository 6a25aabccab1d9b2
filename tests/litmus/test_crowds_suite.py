"""The programs of litmus/crowds: verdicts for any number, smallest numbers, and what small numbers of copies say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.language.load import load_program
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT
from tests.support.shares import share

PROGRAMS: Final = sorted((ROOT / "litmus/crowds").glob("*.rdma"))
SLOW: Final = ("refcount", "barrier-counter", "ticket-lock-data", "work-queue-results", "rpc-slot", "announce-")
QUICK: Final = [path for path in PROGRAMS if not path.stem.startswith(SLOW)]
REST: Final = [pytest.param(path, marks=pytest.mark.ci) for path in PROGRAMS if path not in QUICK]
MOST: Final = 3
"""Copies of each template up to which P(n) is decided by itself."""


def load(path: Path) -> Program:
    return load_program(path.read_text(encoding="utf-8"), str(path))


def first(path: Path) -> int | None:
    """Return the copies that a violation needs in all, as the program expects it."""
    found = re.search(r"^expect not robust when (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return sum(map(int, re.findall(r">= (\d+)", found[1]))) if found else None


def test_there_are_enough_of_every_kind() -> None:
    assert len(PROGRAMS) >= 40
    assert {load(path).expect_robust for path in PROGRAMS} == {True, False}
    assert {2, 3, 4} <= {first(path) for path in PROGRAMS}


@pytest.mark.parametrize("path", [*share(QUICK, 4), *REST], ids=lambda p: p.stem)
def test_the_verdict_is_the_expected_one(path: Path) -> None:
    program = load(path)
    outcome = decide(program, CheckOptions(timeout=120))
    assert outcome.verdict is (Verdict.ROBUST if program.expect_robust else Verdict.NOT_ROBUST)
    if outcome.verdict is Verdict.NOT_ROBUST:
        assert outcome.witness is not None and outcome.copies is not None and outcome.copies.least
        assert sum(n for _, n in outcome.copies.numbers) == first(path)


@pytest.mark.ci
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_small_numbers_of_copies_say_the_same(path: Path) -> None:
    """Robust for any number is robust for each; else the first number with a violation is the one that is said."""
    program = load(path)
    names = [thread.name for thread in program.crowds]
    needed = first(path)
    wanted = MOST + 1 if needed is None else -(-needed // len(names))
    for n in range(wanted if needed is None else wanted + 1):
        verdict = decide(copies_of(program, dict.fromkeys(names, n)), CheckOptions(timeout=120)).verdict
        assert verdict is (Verdict.ROBUST if n < wanted else Verdict.NOT_ROBUST), n
