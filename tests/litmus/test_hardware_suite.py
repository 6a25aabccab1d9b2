"""The programs of litmus/hardware and litmus/own-tables: each names who says so, and another table decides it otherwise."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT
from tests.litmus.test_deployed_suite import expected, load, model_of

PROGRAMS: Final = sorted(path for name in ("hardware", "own-tables") for path in (ROOT / "litmus" / name).glob("*.rdma"))
SOURCE: Final = re.compile(r"[a-z]#[0-9]+|[a-z]\([1-9]\)|[a-z0-9]\.[ch]\b")
"""An issue, a page of a manual, or a file of libfabric."""

OTHERS: Final = ("default", "none", "relaxed-mr", "fi-verbs", "fi-psm3", "ooo-dp")
SAME: Final = {"buffers-one-at-a-time"}
"""What is about a choice that makes no difference."""


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_first_comment_names_a_source(path: Path) -> None:
    said = re.match(r"(?://.*\n)+", path.read_text(encoding="utf-8"))
    assert said and SOURCE.search(said[0])


@pytest.mark.ci
def test_two_tables_tell_each_program_apart() -> None:
    """At least thirty programs, each with a verdict under its own table and the other one under another."""
    apart = set[str]()
    for path in PROGRAMS:
        model, wanted = model_of(load(path)), expected(path)
        other = Verdict.NOT_ROBUST if wanted is Verdict.ROBUST else Verdict.ROBUST
        asked = (CheckOptions(hardware=replace(model, order=order)) for order in OTHERS)
        if any(decide(load(path), options).verdict is other for options in asked):
            apart.add(path.stem)
    assert apart == {path.stem for path in PROGRAMS} - SAME
    assert len(apart) >= 30
