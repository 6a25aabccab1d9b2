"""A course of exercises about RDMA programs: each a program, a task, and what an answer has to be, as data.

In: the number or the name of an exercise. Out: its texts; :mod:`judge` says whether an answer solves it.
The files `*.toml` of this folder are the course, in the order of their numbers.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from rdma_robust.errors import UsageError

ExerciseKind = Literal["outcome", "repair", "fewest", "hardware", "break"]

KINDS: Final[dict[ExerciseKind, str]] = {
    "outcome": "find an outcome that only hardware has",
    "repair": "make it robust at the least cost",
    "fewest": "keep the waits that are needed",
    "hardware": "find the hardware",
    "break": "break it",
}
"""Kinds of tasks in a few words."""

PRICES: Final = (
    "A `poll` costs 2, an `rfence` 1, a `get scrap = X.probe` 5 and the polls that take it; in a loop ten times that."
)
"""What the costs of `rdma-robust repair` are, for tasks that ask for the cheapest waits."""


_EDIT: Final = re.compile(r"(?P<line>[0-9]+)(?:-|\+ (?P<new>.+))")
_AT_MARGIN: Final = ("outcome ", "hardware ")


@dataclass(frozen=True, slots=True)
class Exercise:
    """An exercise: the `task` in words, the `program` to begin with, a `hint`, an answer that solves it and one that does
    not, and `why` that is so.

    With the kind `hardware` the answer is to be robust or not, as `goal` says. With `break` up to `most` lines are taken
    out. `hidden` are lines of the language that have to hold of the answer besides.
    """

    number: int
    name: str
    title: str
    kind: ExerciseKind
    task: str
    program: str
    hint: str
    solution: str
    wrong: str
    why: str
    goal: str = "robust"
    most: int = 1
    hidden: tuple[str, ...] = ()

    @property
    def full_task(self) -> str:
        """The task, with the prices where they count."""
        return f"{self.task} {PRICES}" if self.kind in ("repair", "fewest") else self.task


@cache
def course() -> tuple[Exercise, ...]:
    """Return all exercises, in the order of the course."""
    folder = files(__name__)
    return tuple(
        _read(each.name, each.read_text(encoding="utf-8"))
        for each in sorted(folder.iterdir(), key=lambda each: each.name)
        if each.name.endswith(".toml")
    )


def _read(file: str, text: str) -> Exercise:
    number, _, name = file.removesuffix(".toml").partition("-")
    fields = tomllib.loads(text)
    fields["hidden"] = tuple(fields.get("hidden", ()))
    answers = {key: _edited(fields["program"], fields[key]) for key in ("solution", "wrong")}
    words = {key: " ".join(fields[key].split()) for key in ("task", "hint", "why")}
    return Exercise(number=int(number), name=name, **{**fields, **answers, **words})


def _edited(program: str, edits: list[str]) -> str:
    """Return a program without its lines `N-`, and with those that `N+ TEXT` puts behind line N."""
    lines = [[line] for line in ("", *program.splitlines())]
    for edit in edits:
        match = _EDIT.fullmatch(edit)
        assert match, f"{edit}: N+ TEXT or N-"
        line = lines[int(match["line"])]
        if match["new"] is None:
            del line[0]
        else:
            indent = "" if match["new"].startswith(_AT_MARGIN) else "  "
            line.append(indent + match["new"])
    return "\n".join(line for each in lines for line in each).removeprefix("\n") + "\n"


def exercise_named(name: str) -> Exercise:
    """Return an exercise by its name or its number. Raises UsageError if there is none."""
    for each in course():
        if name in (each.name, str(each.number)):
            return each
    raise UsageError(f"no exercise is called {name}: there are {', '.join(each.name for each in course())}")
