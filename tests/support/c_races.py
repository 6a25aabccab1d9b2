"""C of OpenSHMEM and MPI: the rows of tables in the documentation, and races by the standard of its library."""

from __future__ import annotations

import re

from rdma_robust.analyses.races.find_races import RaceVerdict, find_races
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.evaluate.round_facts import EvaluationOptions
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.c.text.automata_program import evaluated_program
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from tests.conftest import ROOT

_ROW = re.compile(r"\| ([^|]+) \| `([^`]+)` \| (?:`([^`]+)`|nothing) \|")


def documented_rows(page: str) -> dict[str, tuple[str, list[str]]]:
    """Return the rows of the table of a page: the C of each, and the statements that it becomes."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return {name: (code, said.split("; ") if said else []) for name, code, said in _ROW.findall(text)}


def races_of_c(text: str, processes: int = 2) -> set[tuple[str, str]]:
    """Return the pairs of statements that race by the standard."""
    units = read_units("test.c", COptions(processes=processes), text)
    made = evaluated_program(
        evaluate_units(units, EvaluationOptions(is_of_standard=True, is_about_races=True), "races"), "test.c"
    )
    ran = CheckOptions().on(made.hardware)
    found = find_races(blocking(made), ran.model, Limits())
    assert found.verdict is not RaceVerdict.UNKNOWN
    texts = [{each.step.text for each in (race.first, race.second) if each.step is not None} for race in found.races]
    return {(min(each), max(each)) for each in texts}
