"""The page of the exercises, to be read, printed and opened in the playground."""

from __future__ import annotations

from difflib import unified_diff

from rdma_robust.teaching.exercises import PRICES, Exercise, ExerciseKind, course
from rdma_robust.text import filled

WIDTH = 140
JUDGED: dict[ExerciseKind, str] = {
    "outcome": "an `outcome` line is added, RDMA hardware allows it and sequential consistency forbids it",
    "repair": "nothing but waits is added, it is robust and does not hang, and no cheaper repair exists",
    "fewest": "nothing but waits is taken out, it is robust and does not hang, and the waits cost as little as possible",
    "hardware": "a `hardware` line is added, and on that the program is robust, or not, as the task says",
    "break": "lines are taken out, and what was forbidden happens on hardware alone",
}
INTRODUCTION = f"""# Exercises

<!-- made by `make promote` from rdma_robust/teaching/exercises -->

A course from the mailbox to the sequence lock: {len(course())} programs, each with a task. The judge is the tool itself.
Printed, the page has no hints and no links, and the solutions on a page of their own. In the [playground](playground.md) a
button judges; at home:

```console
$ rdma-robust exercise mailbox-mended > answer.rdma
$ rdma-robust exercise mailbox-mended answer.rdma
Not solved: it is not robust: line 10 can take effect before line 9.
```

`rdma-robust exercise` lists them, `--hint` and `--solution` help. An answer is solved where

{{judged}}

{PRICES}
"""


def exercises_page() -> str:
    """Return the Markdown of the page."""
    judged = "\n".join(f"- {text};" for text in JUDGED.values()).removesuffix(";") + "."
    parts = [INTRODUCTION.format(judged=judged), *map(_task, course()), "## Solutions\n", *map(_solution, course())]
    return "\n".join(parts).rstrip("\n") + "\n"


def _task(exercise: Exercise) -> str:
    task = "\n".join(filled(exercise.task, WIDTH))
    hint = f"<details><summary>Hint</summary>{_plain(exercise.hint)}</details>"
    return f"## {exercise.number}. {exercise.title}\n\n{task}\n\n```rdma\n{exercise.program}```\n\n{hint}\n"


def _solution(exercise: Exercise) -> str:
    why = "\n".join(filled(exercise.why, WIDTH))
    changes = unified_diff(exercise.program.splitlines(), exercise.solution.splitlines(), n=1, lineterm="")
    shown = "\n".join(line for line in changes if not line.startswith(("---", "+++", "@@")))
    return f"### Solution of {exercise.number}: {exercise.name}\n\n{why}\n\n```text\n{shown}\n```\n"


def _plain(text: str) -> str:
    """Return words with code as HTML."""
    parts = text.replace("&", "&amp;").replace("<", "&lt;").split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
