"""The programs of litmus/prove: every `expect` line, and the goldens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.litmus.prove_goldens import PROGRAMS, is_large, load, measured, read_goldens
from tests.support.shares import share

GOLDENS = read_goldens()
SLOW = {"swap-by-sums"}
"""Few states, and many questions to z3."""


def parameters() -> list[object]:
    small = [path for path in PROGRAMS if not is_large(GOLDENS[path.stem]) and path.stem not in SLOW]
    return share(small, 5) + [pytest.param(path, marks=pytest.mark.long) for path in PROGRAMS if path not in small]


def test_there_is_a_golden_for_every_program() -> None:
    assert set(GOLDENS) == {path.stem for path in PROGRAMS}
    assert len(PROGRAMS) >= 60


@pytest.mark.parametrize("path", parameters(), ids=lambda p: p.stem)
def test_answers_are_as_expected_and_searches_as_large_as_before(path: Path) -> None:
    program = load(path)
    found = measured(program)
    expected = {e.model: "unsafe" if e.negated else "safe" for e in program.expectations if e.kind == "safe"}
    assert {model: answer for model, (answer, _, _) in found.items()} == expected
    assert found == GOLDENS[path.stem], "make promote rewrites the goldens"
