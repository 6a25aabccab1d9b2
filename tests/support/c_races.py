"""Races of C by the standard of its library."""

from __future__ import annotations

from rdma_robust.analyses.races.find_races import RaceVerdict, find_races
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.evaluate.round_facts import EvaluationOptions
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.c.text.automata_program import evaluated_program
from rdma_robust.language.flow.waiting import blocking
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions


def races_of_c(text: str, processes: int = 2) -> set[tuple[str, str]]:
    """Return the pairs of statements that race by the standard: `order none` of OpenSHMEM, `order accumulate` of MPI."""
    units = read_units("test.c", COptions(processes=processes), text)
    made = evaluated_program(evaluate_units(units, EvaluationOptions(is_of_standard=True), "races"), "test.c")
    ran = CheckOptions(order="accumulate" if "MPI" in units.libraries else "none").on(made.hardware)
    found = find_races(blocking(made), ran.model, Limits())
    assert found.verdict is not RaceVerdict.UNKNOWN
    texts = [{each.step.text for each in (race.first, race.second) if each.step is not None} for race in found.races]
    return {(min(each), max(each)) for each in texts}
