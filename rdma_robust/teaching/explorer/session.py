"""An exploration of one program: from a place to what is seen there, and to the next place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

from rdma_robust.analyses.explain.schedule import RunStep, machine_run
from rdma_robust.errors import InternalError, SizeLimitError, UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.pipeline import check_program
from rdma_robust.reports.share.html_templates import coloured_lines
from rdma_robust.semantics.machines.chosen import sc_machine_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.machine import FinalState, Verb
from rdma_robust.semantics.machines.outcomes import Exploration, explore
from rdma_robust.teaching.explorer.address import (
    AddressError,
    ExplorerPlace,
    Mode,
    Side,
    Track,
    decode,
    encode,
    is_number,
    program_fingerprint,
)
from rdma_robust.teaching.explorer.follow import ScRun, follow
from rdma_robust.teaching.explorer.run_tree import LONGEST, Choices, RunPoint, Runs
from rdma_robust.teaching.explorer.sides import CPU_VERBS, Phrases, SideViews
from rdma_robust.teaching.explorer.view import BrokenView, ProgramView, SideView, VerdictView, View
from rdma_robust.text import lines_of, one_line, printable

FOLLOWED = "the SC side follows the RDMA side; to step it by hand, let both go on their own"


class Session:
    """The two machines of a program. Places are values: what was seen before only makes seeing it again faster.

    Every method that takes a place raises UsageError if the machines cannot be there.
    """

    page: Final = "program_explorer.html.j2"

    def __init__(self, program: Program, *, model: Model = RDMA, await_loops: bool = False) -> None:
        self.program = program
        self.model = model
        self.await_loops = await_loops
        self.fingerprint = program_fingerprint(program, model, await_loops)
        self.rdma = Runs(DeployedMachine(program, model, numbered=True))
        self.sc = Runs(sc_machine_of(program, model=model))
        self.endings = Endings(program)
        self._shown = {"rdma": SideViews(program, self.rdma, "rdma"), "sc": SideViews(program, self.sc, "sc")}
        self._follow = lru_cache(256)(self._followed)

    @property
    def identity(self) -> tuple[str, str]:
        """What tells this program from another one."""
        return self.fingerprint, self.program.source

    def about(self) -> ProgramView:
        program = self.program
        source = tuple(printable(line, "\t") for line in lines_of(program.source))
        return ProgramView(
            file=printable(program.file),
            name=program.name,
            source=source,
            coloured=tuple(line.pieces for line in coloured_lines("\n".join((*source, "")), "rdma")) if source else (),
            threads=tuple(thread.name for thread in program.threads),
            ordered_reads=self.model.ordered_reads,
            await_loops=self.await_loops,
        )

    def place(self, address: str) -> ExplorerPlace:
        """Return the place with this address, the beginning for the empty text. Raises AddressError if there is none."""
        place = decode(address, self.fingerprint)
        for side in ("rdma", "sc"):
            try:
                self._runs(side).point(place.track(side).choices)
            except UsageError as error:
                raise AddressError(f"the {side.upper()} machine cannot run this state: {error}") from error
        return place

    def address(self, place: ExplorerPlace) -> str:
        return encode(place, self.fingerprint)

    def step(self, place: ExplorerPlace, side: Side, choice: int) -> ExplorerPlace:
        """Return the place after a move of one side, by its number among the moves."""
        self._by_hand(place, side)
        track = place.track(side)
        runs = self._runs(side)
        runs.after(runs.point(track.now), choice)
        return place.with_track(side, track.step(choice))

    def go(self, place: ExplorerPlace, side: Side, at: int) -> ExplorerPlace:
        """Return the place after the first `at` steps of one side's run."""
        self._by_hand(place, side)
        return place.with_track(side, place.track(side).go(at))

    def switched(self, place: ExplorerPlace, mode: Mode) -> ExplorerPlace:
        """Return the place in another mode; the SC side keeps the run it has, as far as it has been followed."""
        if mode == place.mode:
            return place
        if mode == "follow":
            return replace(place, mode=mode, sc=Track())
        choices = self.followed(place).choices
        return replace(place, mode=mode, sc=Track(choices, len(choices)))

    def followed(self, place: ExplorerPlace) -> ScRun:
        """Return what SC can do of the RDMA side's steps taken."""
        return self._follow(place.rdma.now)

    def view(self, place: ExplorerPlace) -> View:
        """Return what is to be seen at a place."""
        followed = self.followed(place)
        sc = place.sc if place.mode == "free" else Track(followed.choices, len(followed.choices))
        return View(
            address=self.address(place),
            mode=place.mode,
            rdma=self._side("rdma", place.rdma),
            sc=self._side("sc", sc),
            broken=None if followed.broken is None else self._broken(followed, followed.broken),
        )

    def seen(self, address: str, do: object = None) -> View:
        """Return what is to be seen at an address, after what is to be done there. Raises UsageError."""
        return self.view(self._done(self.place(address), do))

    def _done(self, place: ExplorerPlace, do: object) -> ExplorerPlace:
        match do:
            case None:
                return place
            case ["step", "rdma" | "sc" as side, choice] if is_number(choice):
                return self.step(place, side, choice)
            case ["go", "rdma" | "sc" as side, at] if is_number(at):
                return self.go(place, side, at)
            case ["mode", "follow" | "free" as mode]:
                return self.switched(place, mode)
        raise UsageError("a request does one of: step SIDE CHOICE, go SIDE STEP, mode follow or free")

    def _followed(self, choices: tuple[int, ...]) -> ScRun:
        points = self._points(self.rdma, choices)
        return follow(self.rdma, self.sc, points)

    def _broken(self, followed: ScRun, step: int) -> BrokenView:
        phrases = Phrases(self.program, False)
        events = {e.index: e for link in followed.cycle for e in (link.source, link.target)}.values()
        lines = sorted({e.step.span.line for e in events if e.step is not None})
        return BrokenView(step, tuple(map(phrases.link, followed.cycle)), tuple(lines))

    def _side(self, side: Side, track: Track) -> SideView:
        shown = self._shown[side]
        points = self._points(self._runs(side), track.choices)
        text = ""
        at = points[track.at - 1] if track.at else self._runs(side).point(())
        if shown.ending(at) == "final":
            text = self.endings.text(side, self._runs(side).machine.final(at.state))
        return shown.view(points, track.at, text)

    def _points(self, runs: Runs, choices: tuple[int, ...]) -> list[RunPoint]:
        return runs.point(choices).path()

    def _runs(self, side: Side) -> Runs:
        return self.rdma if side == "rdma" else self.sc

    def _by_hand(self, place: ExplorerPlace, side: Side) -> None:
        if place.mode == "follow" and side == "sc":
            raise UsageError(FOLLOWED)


# ---- whether sequential consistency can end as a run has ended

MOST_STATES = 30_000
MOST_SECONDS = 2.0

ENDED = "The end: every thread has ended and every queue pair is empty."
WEAK = "No run under sequential consistency ends with these values."
COMMON = "Sequential consistency can end with these values too."
OPEN = "Whether sequential consistency can end with these values is not known: it has too many states to look at here."


class Endings:
    """The final states of a program under SC, searched when the first is asked for, within limits."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def _sc(self) -> Exploration:
        return explore(sc_machine_of(self.program), Limits.of(MOST_SECONDS, MOST_STATES))

    def text(self, side: Side, final: FinalState) -> str:
        """Return what is to be said of a final state."""
        return ENDED if side == "sc" else f"{ENDED} {self._reached(final)}"

    def _reached(self, final: FinalState) -> str:
        if final in self._sc.finals:
            return COMMON
        return WEAK if self._sc.cut is None else OPEN


def session_verdict(session: Session, options: CheckOptions) -> VerdictView:
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
    place = ExplorerPlace("follow", Track(choices, 0))
    # Another session, because this may be another thread than the one that uses `session`.
    other = Session(program, model=session.model, await_loops=session.await_loops)
    broken = other.followed(ExplorerPlace("follow", Track(choices, len(choices)))).broken
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
        todo: list[tuple[RunPoint, int]] = [(start, 0)]
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


def _starts(runs: Runs, steps: Sequence[RunStep]) -> Iterator[RunPoint]:
    """Yield the points behind the ways to start, first those from which each thread can take its first step."""
    first = {s.action.thread: s.action.step for s in reversed(steps) if s.action.step and s.action.verb in CPU_VERBS}
    for move in runs.starts.before(runs.machine.codes, first):
        yield runs.after(runs.point(()), runs.starts.place_of(move))
