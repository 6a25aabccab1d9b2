"""Rules of the search, each left out where a named program of the suite notices."""

from __future__ import annotations

from collections.abc import Callable

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT
from tests.support.patches import Patch, mutated


def suite_program(name: str) -> Program:
    """Return a program of the suite by its name below litmus/, as `lanes/flag-waited`."""
    path = ROOT / f"litmus/{name}.rdma"
    return load_program(path.read_text(encoding="utf-8"), path.name)


def right_answer(program: Program) -> str:
    return "robust" if program.expect_robust else "not-robust"


def by_search(program: Program) -> str:
    options = CheckOptions(reductions=ALL_REDUCTIONS, large=0, kernel="python")
    try:
        return decide(program, options).verdict.value
    except InternalError as error:
        return str(error)


def search_needs(patches: tuple[Patch, ...], load: Callable[[], Program]) -> None:
    """Assert that the search answers what a program expects, and something else where the patches leave a rule out."""
    right = right_answer(load())
    assert by_search(load()) == right
    with mutated(patches):
        assert by_search(load()) != right
