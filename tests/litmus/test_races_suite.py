"""The programs of litmus/races: every `expect` line about races, by the search and by brute force."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.races.find_races import RaceVerdict, find_races
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.semantics.values import is_loop_free
from tests.conftest import ROOT
from tests.support.race_agreement import found_pairs
from tests.support.race_oracle import oracle_races
from tests.support.random_deployed import model_of

PROGRAMS = sorted((ROOT / "litmus/races").glob("*.rdma"))


def load(name: str) -> Program:
    return blocking(load_program((ROOT / f"litmus/races/{name}.rdma").read_text(encoding="utf-8"), name))


@pytest.mark.parametrize("name", [path.stem for path in PROGRAMS])
def test_races_are_as_expected(name: str) -> None:
    program = load(name)
    found = find_races(program, model_of(program), Limits())
    free = next(each.negated for each in program.expectations if each.kind == "race")
    assert found.verdict is (RaceVerdict.RACE_FREE if free else RaceVerdict.RACE) and not found.reason
    if is_loop_free(program):
        assert oracle_races(program, model_of(program)) == found_pairs(found)
