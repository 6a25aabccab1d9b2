"""The `exercise` command: the course of exercises, and a judge of answers."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from rdma_robust.cli.answering import answer_item, only
from rdma_robust.cli.options import arguments
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.frame.shell.output import StandardOutput, width_of_output
from rdma_robust.limits import Limits
from rdma_robust.teaching.exercises import KINDS, Exercise, course, exercise_named
from rdma_robust.text import filled

_EXITS: Final = {True: Exit.OK, False: Exit.NOT_ROBUST, None: Exit.UNKNOWN}
_WORDS: Final = {True: "Solved", False: "Not solved", None: "Undecided"}


def exercise_command(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[EXERCISE]", help="Its name or its number.", show_default=False)
    ] = None,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="An answer, to be judged.", show_default=False)
    ] = None,
    *,
    hint: Annotated[bool, typer.Option("--hint", help="Print a hint.")] = False,
    solution: Annotated[bool, typer.Option("--solution", help="Print an answer that solves it.")] = False,
    timeout: arguments.Timeout = TIMEOUT_S,
) -> None:
    """Note in the context what is to be done."""
    if hint + solution + (file is not None) > 1:
        raise UsageError("--hint, --solution and FILE exclude one another")
    if name is None:
        if hint or solution:
            raise UsageError(f"{'--hint' if hint else '--solution'}: of which exercise? `rdma-robust exercise` lists them")
        context.obj.append(_list_course)
        return
    exercise = exercise_named(name)
    if file is not None:
        context.obj.append(partial(run_judge, exercise, file, arguments.limit(timeout)))
    else:
        context.obj.append(partial(_show, exercise, hint=hint, solution=solution))


def _list_course() -> Exit:
    rows = [f"  {each.number:2}  {each.name:<30}  {each.title}: {KINDS[each.kind]}" for each in course()]
    StandardOutput().say("\n".join(["Exercises, for rdma-robust exercise NAME:", "", *rows]))
    return Exit.OK


def _show(exercise: Exercise, *, hint: bool, solution: bool) -> Exit:
    """Print what is asked for; the task is a comment, so that with the program it is a file to begin with."""
    out = StandardOutput()
    if hint:
        out.say("\n".join(filled(exercise.hint, width_of_output() or 100)))
    else:
        told = exercise.why if solution else exercise.full_task
        head = [f"Exercise {exercise.number}: {exercise.title}.", *filled(told, 110)]
        text = exercise.solution if solution else exercise.program
        out.write("\n".join([*(f"// {line}" for line in head), text]))
    return Exit.OK


def run_judge(exercise: Exercise, file: str, timeout: float | None) -> Exit:
    """Judge an answer; return 0 if it solves the exercise, 1 if not, 3 if a limit came first. Raises UsageError."""

    def judged(source: Source, text: str) -> Exit:
        from rdma_robust.teaching.exercises.judge import judge  # noqa: PLC0415 - slow

        found = judge(exercise, text, source.name, timeout)
        lines = filled(f"{_WORDS[found.solved]}: {found.said}.", width_of_output() or 100)
        if found.solved:
            lines += ["", *filled(exercise.why, width_of_output() or 100)]
        StandardOutput().say("\n".join(lines))
        return _EXITS[found.solved]

    return answer_item(only(file, "exercise", suffixes=(".rdma",)), Limits.of(timeout), judged)
