"""The examples of the public repository of Trencher, from the folder that TRENCHER_EXAMPLES names; without it, not run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.trencher_examples import examples, expected_robust
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import RepairOptions
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide

FOLDER = os.environ.get("TRENCHER_EXAMPLES")
TSO = CheckOptions(hardware=Model(cpu="tso"), timeout=120.0)


@pytest.mark.long
@pytest.mark.skipif(FOLDER is None, reason="not run: TRENCHER_EXAMPLES names no folder")
@pytest.mark.parametrize("path", examples(FOLDER) if FOLDER else [Path("none")], ids=lambda p: p.name)
def test_an_example(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    program = load_program(text, path.name)
    outcome = decide(program, TSO)
    if outcome.verdict is Verdict.UNKNOWN:
        assert outcome.reason.startswith("values grow beyond")
        return
    expected = expected_robust(path.name, text)
    assert expected in (None, outcome.verdict is Verdict.ROBUST)
    if outcome.verdict is Verdict.NOT_ROBUST:
        answer = repair(text, path.name, RepairOptions(timeout=120.0), TSO)
        assert (answer.status == "repaired" and answer.optimal) or "values grow beyond" in answer.reason


def test_comments_say_what_is_expected() -> None:
    assert expected_robust("a.txt", "#\n# IS robust.\n") is True
    assert expected_robust("a.txt", "# Should be robust. But NOT TRF.\n") is True
    assert expected_robust("a.txt", "# The program is NOT robust.\n") is False
    assert expected_robust("nbw-w-wr-correct.txt", "# words\n") is True
    assert expected_robust("burns.fenced.txt", "# use q6 in t0 to make trencher report 'robust'\n") is None
    assert expected_robust("a.txt", "# A program which is robust under TSO, but not robust under PSO.\n") is True
    assert expected_robust("a.txt", "# words\n") is None
