"""The verdict of a program, and the run of its witness as choices of the RDMA machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rdma_robust.analyses.explain.schedule import RunStep, machine_run
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.pipeline import check_program
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.teaching.explorer.address import Place, Track
from rdma_robust.teaching.explorer.choices_made import Point, Runs
from rdma_robust.teaching.explorer.run_tree import LONGEST, Choices
from rdma_robust.teaching.explorer.session import Session
from rdma_robust.teaching.explorer.sides import CPU_VERBS
from rdma_robust.teaching.explorer.view import VerdictView
from rdma_robust.text import one_line


def decided(session: Session, options: CheckOptions) -> VerdictView:
    """Return the verdict for the session's program. It shares no state with the session, so that it can run beside it.

    Raises InternalError if the machine cannot run the witness.
    """
    program = session.program
    try:
        outcome = check_program(program, options)
    except (SizeLimitError, MemoryError) as error:
        reason = str(error) or "out of memory"
        return VerdictView("unknown", f"Not known: {one_line(reason, 200)}")
    if outcome.verdict is Verdict.ROBUST:
        return VerdictView("robust", "SC can follow every run.")
    if outcome.witness is None:
        return VerdictView("unknown", f"Not known: {one_line(outcome.reason, 200)}")
    choices = witness_choices(outcome, outcome.model)
    if choices is None:
        return VerdictView(
            "not-robust", f"SC cannot follow a run of more than {LONGEST} steps, too long to step through here."
        )
    place = Place("follow", Track(choices, 0))
    # Another session, because this may be another thread than the one that uses `session`.
    other = Session(program, model=session.model, await_loops=session.await_loops)
    broken = other.followed(Place("follow", Track(choices, len(choices)))).broken
    text = "SC cannot follow every run."
    if outcome.spin_only:
        text = "SC cannot follow failed reads of loops that wait."
    return VerdictView("not-robust", text, session.address(place), len(choices), broken)


def witness_choices(outcome: Outcome, model: Model) -> Choices | None:
    """Return a run of the RDMA machine with the effects of the outcome's witness, None if it has more than LONGEST steps."""
    assert outcome.witness is not None
    run = machine_run(outcome.program, outcome.witness, model)
    if len(run.steps) >= LONGEST:
        return None
    runs = Runs(DeployedMachine(outcome.program, model, numbered=True))
    again = (b.action if b.action.words and b.action is a.action else None for a, b in pairwise(run.steps))
    steps = [*run.steps[:1], *(step for step, same in zip(run.steps[1:], again, strict=True) if same is None)]
    return choices_of(runs, steps)  # a locked section is one move


def choices_of(runs: Runs, steps: Sequence[RunStep]) -> Choices:
    """Return a run with these causes, about these operations. Raises InternalError if there is none.

    Moves with the same cause can be about different operations, and those about the same one can lead to different places:
    hence a search, though hardly ever a long one.
    """
    posted = [step.operation for step in steps if step.action.verb is Verb.ISSUE]
    number = {operation: k for k, operation in enumerate(posted, 1)}
    root = runs.point(())
    seen: set[tuple[object, object, int]] = set()
    for start in [root] if root.state is not None else _starts(runs, steps):
        todo: list[tuple[Point, int]] = [(start, 0)]
        while todo:
            point, done = todo.pop()
            if done == len(steps):
                return tuple(p.choice for p in point.path())
            if (point.state, point.posted, done) in seen:
                continue
            seen.add((point.state, point.posted, done))
            fits = (i for i, move in enumerate(runs.moves(point)) if move.action == steps[done].action)
            ways = [runs.after(point, i) for i in fits]
            wanted = number.get(steps[done].operation)
            todo += [(way, done + 1) for way in reversed(ways) if way.operation == wanted]
    raise InternalError("the machine cannot run the witness")


def _starts(runs: Runs, steps: Sequence[RunStep]) -> Iterator[Point]:
    """Yield the points behind the ways to start, first those from which each thread can take its first step."""
    first = {s.action.thread: s.action.step for s in reversed(steps) if s.action.step and s.action.verb in CPU_VERBS}
    for move in runs.starts.before(runs.machine.codes, first):
        yield runs.after(runs.point(()), runs.starts.place_of(move))
