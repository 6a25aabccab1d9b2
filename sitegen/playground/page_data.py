"""What the page is told: its tabs, the hardware that it offers, the suite by shelf, and the rules of colours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from rdma_robust.reports.share.message_colours import MESSAGE_RULES
from rdma_robust.reports.share.program_colours import KINDS, ColourRules, states
from rdma_robust.reports.share.rdma_colours import RDMA_RULES
from rdma_robust.teaching.exercises import Exercise, course
from rdma_robust.teaching.playground.page_questions import CUT_SHORT, HARDWARE_OFFERED, NO_C, TABS
from sitegen.litmus_index import LITMUS, SHELVES, on
from sitegen.messages_index import all_programs

FIRST: Final = "mailbox-plain.rdma"


def page_data() -> dict[str, Any]:
    """Return what `playground.json` says."""
    return {
        "first": FIRST,
        "said": {"cut": CUT_SHORT, "c": NO_C},
        "tabs": [asdict(each) for each in TABS],
        "hardware": [{"name": name, "label": label, "values": values} for name, (label, values) in HARDWARE_OFFERED.items()],
        "examples": [*_shelves()],
        "exercises": [_exercise(each) for each in course()],
        "colours": {"rdma": page_rules(RDMA_RULES), "mp": page_rules(MESSAGE_RULES)},
    }


def _shelves() -> Iterator[dict[str, Any]]:
    programs = sorted(LITMUS.glob("*.rdma"), key=lambda path: path.stem)
    for shelf in SHELVES:
        yield {"title": shelf.title, "programs": [_program(path) for path in on(shelf, programs)]}
    yield {"title": "proofs", "programs": [_program(path) for path in sorted(LITMUS.glob("prove/*.rdma"))]}
    yield {"title": "messages", "programs": [_program(path) for path in all_programs()]}
    yield {"title": "contracts", "programs": [_program(path) for path in sorted(LITMUS.glob("contracts/*.mp"))]}


def _exercise(exercise: Exercise) -> dict[str, Any]:
    """Return what the page shows of an exercise; the judge and the solutions are in Python."""
    shown = {name: getattr(exercise, name) for name in ("number", "name", "title", "program", "hint")}
    return {**shown, "task": exercise.full_task.replace("`", "")}


def _program(path: Path) -> dict[str, str]:
    return {"path": path.relative_to(LITMUS).as_posix(), "text": path.read_text(encoding="utf-8")}


def page_rules(rules: ColourRules) -> dict[str, list[tuple[str, list[str], str]]]:
    """Return the rules of a language as the playground has them: pattern, kinds, and the state that follows."""
    return {
        name: [(pattern, [KINDS[kind].page for kind in kinds], following) for pattern, kinds, following in state]
        for name, state in states(rules).items()
    }
