"""The proven search in tests: what it answers of programs, and what its states report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rdma_robust.certify.judge_question import NotCovered
from rdma_robust.certify.proven_judge import COUNTERS, MORE_COMPLETIONS, VERSION, ProgramQuestion, program_question_of
from rdma_robust.counters.search import explore
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.pivot import instrument_pivots
from rdma_robust.robustness.static_filter import pivots_to_try
from tests.support.checker_search import platform_of
from tests.support.judged import answers


def asked_about(program: Program, model: Model, states: int = 30_000) -> ProgramQuestion | None:
    """What the search is asked about a program, None if the proof does not cover it."""
    platform = platform_of(model)
    try:
        return replace(program_question_of(program, platform), states=states)
    except NotCovered:
        return None


def searched(questions: Sequence[ProgramQuestion]) -> list[str]:
    """What the search answers, with counters as high as it takes. Skips the test where the judge is not built."""
    said = [MORE_COMPLETIONS] * len(questions)
    for counters in COUNTERS:
        left = [n for n, answer in enumerate(said) if answer == MORE_COMPLETIONS]
        documents = [replace(questions[n], counters=counters).text() for n in left]
        for n, answer in zip(left, answers(documents) if documents else (), strict=True):
            said[n] = answer
    return said


Class = tuple[int, int, bool]
"""A class of pivots: thread, cell, and whether it writes."""


def surveyed(questions: Sequence[ProgramQuestion]) -> list[set[Class]]:
    """The classes of pivots of which a state of the search reports, for programs with at most so many completions as are
    counted."""
    documents = [replace(question, counters=16).text().replace(VERSION, "survey 1", 1) for question in questions]
    found = []
    for answer in answers(documents):
        _, *classes = answer.split()
        parted = [each.split(".") for each in classes]
        found.append({(int(thread), int(cell), kind == "w") for thread, cell, kind in parted})
    return found


def classes_found(program: Program, model: Model) -> set[Class]:
    """The classes of which the search of the tool, without reductions, finds a violation."""
    numbers = {cell: number for number, cell in enumerate(program.cells)}
    pivots = pivots_to_try(InstrumentationFrame.to_instrument(program, model), frozenset(), large=0)
    found = set()
    for each in pivots.classes.tried:
        alone = replace(pivots, classes=replace(pivots.classes, tried=(each,)))
        if explore(instrument_pivots(alone), Limits()).result.target >= 0:
            found.add((each.thread, numbers[each.cell], each.writes))
    return found
