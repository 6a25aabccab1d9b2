"""An exploration of one message program: from a place to what is seen there, and to the next place; its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Final, Literal

from rdma_robust.errors import UsageError
from rdma_robust.messages.language.message_program import BUFFERS, Buffer, MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer
from rdma_robust.reports.messages.run_findings import RunFinding, run_findings
from rdma_robust.reports.share.chart import chart_text
from rdma_robust.reports.share.chart_svg import chart_svg
from rdma_robust.reports.share.html_templates import Language, coloured_lines
from rdma_robust.reports.share.svg import STYLE
from rdma_robust.teaching.explorer.address import OF_ANOTHER, AddressError, Track, address_parts, dotted, is_number, track_of
from rdma_robust.teaching.explorer.message_runs import MessageRuns
from rdma_robust.teaching.explorer.message_shown import ShownRun
from rdma_robust.teaching.explorer.view import FoundRunView, MessageProgramView, MessageVerdictView, MessageView
from rdma_robust.text import lines_of, one_line, printable

START: Final = Track()
_KEYS: Final = ("p", "buffer", "run", "at")
CHART_WIDTH: Final = 96
MOST_STILL: Final = 8
"""Processes that have their lifelines from the beginning, so that the chart does not move when it grows."""


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """Where an exploration is: a run, and under which buffer semantics."""

    buffer: Buffer
    run: Track = START


def message_fingerprint(program: MessageProgram) -> str:
    """Return eight hexadecimal digits that other programs, and other values of constants, hardly ever have."""
    return sha256(program.source.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def message_address(place: MessagePlace, fingerprint: str) -> str:
    """Return the text of a place in the program with this fingerprint."""
    return f"p={fingerprint}&buffer={place.buffer}&run={dotted(place.run)}&at={place.run.at}"


def message_place(text: str, fingerprint: str, start: Buffer) -> MessagePlace:
    """Return the place that :func:`message_address` has written; the empty text is the beginning under `start`.

    Raises AddressError. That the program can run the choices is not looked at.
    """
    if not text:
        return MessagePlace(start)
    pairs = address_parts(text)
    if sorted(key for key, _ in pairs) != sorted(_KEYS):
        raise AddressError(f"a state of a message program has the parts {', '.join(_KEYS)}, each once")
    fields = dict(pairs)
    buffer = next((each for each in BUFFERS if each == fields["buffer"]), None)
    if buffer is None:
        raise AddressError(f"the buffer of a state is zero, infinite or any, not `{one_line(fields['buffer'])}`")
    if fields["p"] != fingerprint:
        raise AddressError(OF_ANOTHER)
    return MessagePlace(buffer, track_of(fields["run"], fields["at"]))


class MessageSession:
    """The runs of a program under every buffer semantics; `buffer` is that of the beginning.

    Places are values: what was seen before only makes seeing it again faster. Every method that takes a place raises
    UsageError if the program cannot be there.
    """

    page: Final = "message_explorer.html.j2"

    def __init__(self, program: MessageProgram, buffer: Buffer = "any") -> None:
        self.program = program
        self.buffer = buffer
        self.fingerprint = message_fingerprint(program)
        self._runs: dict[Buffer, MessageRuns] = {}

    def runs(self, buffer: Buffer) -> MessageRuns:
        """Return the runs under one buffer semantics."""
        if buffer not in self._runs:
            self._runs[buffer] = MessageRuns(self.program, buffer)
        return self._runs[buffer]

    @property
    def identity(self) -> tuple[str, str]:
        """What tells this program from another one."""
        return self.fingerprint, self.program.source

    @cached_property
    def _about(self) -> MessageProgramView:
        program = self.program
        source = tuple(printable(line, "\t") for line in lines_of(program.source))
        language: Language = "json" if program.source.lstrip().startswith("{") else "mp"
        return MessageProgramView(
            file=printable(program.file),
            name=program.name,
            coloured=tuple(line.pieces for line in coloured_lines("\n".join((*source, "")), language)) if source else (),
            processes=tuple(process.name for process in program.processes),
        )

    def about(self) -> MessageProgramView:
        return self._about

    def place(self, address: str) -> MessagePlace:
        """Return the place with this address, the beginning for the empty text. Raises AddressError if there is none."""
        place = message_place(address, self.fingerprint, self.buffer)
        try:
            self.runs(place.buffer).point(place.run.choices)
        except UsageError as error:
            raise AddressError(f"the program cannot run this state: {error}") from error
        return place

    def address(self, place: MessagePlace) -> str:
        return message_address(place, self.fingerprint)

    def step(self, place: MessagePlace, choice: int) -> MessagePlace:
        """Return the place after a move, by its number among the moves."""
        runs = self.runs(place.buffer)
        runs.after(runs.point(place.run.now), choice)
        return MessagePlace(place.buffer, place.run.step(choice))

    def local(self, place: MessagePlace) -> MessagePlace:
        """Return the place where every process has run until it waits or has to choose."""
        runs = self.runs(place.buffer)
        run = place.run
        for choice in runs.local(runs.point(run.now)):
            run = run.step(choice)
        return MessagePlace(place.buffer, run)

    def go(self, place: MessagePlace, at: int) -> MessagePlace:
        """Return the place after the first `at` steps of the run."""
        return MessagePlace(place.buffer, place.run.go(at))

    def buffered(self, place: MessagePlace, buffer: Buffer) -> MessagePlace:
        """Return the place under another buffer semantics: the same moves, as far as it allows them."""
        schedule = self.runs(place.buffer).point(place.run.now).schedule
        choices = self.runs(buffer).choices_of(schedule)
        return MessagePlace(buffer, Track(choices, len(choices)))

    def seen(self, address: str, do: object = None) -> MessageView:
        """Return what is to be seen at an address, after what is to be done there. Raises UsageError."""
        return self.view(self._done(self.place(address), do))

    def _done(self, place: MessagePlace, do: object) -> MessagePlace:
        match do:
            case None:
                return place
            case ["step", choice] if is_number(choice):
                return self.step(place, choice)
            case ["step", choice, "local"] if is_number(choice):
                return self.local(self.step(place, choice))
            case ["local"]:
                return self.local(place)
            case ["go", at] if is_number(at):
                return self.go(place, at)
            case ["buffer", str(name)] if name in BUFFERS:
                return self.buffered(place, next(each for each in BUFFERS if each == name))
        raise UsageError("a request does one of: step CHOICE, step CHOICE local, local, go STEP, buffer NAME")

    def view(self, place: MessagePlace, width: int = CHART_WIDTH) -> MessageView:
        """Return what is to be seen at a place, the chart as text `width` wide."""
        runs = self.runs(place.buffer)
        shown = ShownRun(self.program, runs, runs.point(place.run.choices).path(), place.run.at)
        steps = shown.steps()
        end, chart = shown.end()
        return MessageView(
            address=self.address(place),
            buffer=place.buffer,
            at=place.run.at,
            steps=steps,
            moves=shown.moves(),
            processes=tuple(shown.processes()),
            endpoints=tuple(shown.endpoints()),
            end=end,
            violations=shown.violations(steps),
            chart="\n".join(chart_text(chart, width)),
            drawing=_drawing(chart_svg(chart, every=len(chart.lanes) <= MOST_STILL)),
        )


def _drawing(image: str) -> str:
    """Return an image for a page whose policy allows no styles in texts: it has the rules, and sets the others."""
    return image.replace(f"<style>{STYLE}</style>\n", "").replace(' style="', ' data-style="')


def found_runs(session: MessageSession, answers: Sequence[BufferAnswer]) -> MessageVerdictView:
    """Return the verdict, and the first run of each kind that is not too long to step through. The session is for this only.

    Raises InternalError if the program cannot run one.
    """
    findings = run_findings(session.program, answers)
    runs: dict[str, FoundRunView] = {}
    for found in _runs(session, findings):
        runs.setdefault(found.kind, found)
    verdict, text = _said(answers)
    return MessageVerdictView(verdict, text, tuple(runs.values()))


def _said(answers: Sequence[BufferAnswer]) -> tuple[Literal["fine", "wrong", "unknown"], str]:
    violated = [each.buffer for each in answers if each.violated == "yes"]
    deadlocked = [each.buffer for each in answers if each.deadlocked == "yes"]
    parts = [f"violated under {', '.join(violated)}"] if violated else []
    parts += [f"deadlock under {', '.join(deadlocked)}"] if deadlocked else []
    if parts:
        return "wrong", "; ".join(parts)
    unknown = next((each for each in answers if "unknown" in (each.violated, each.deadlocked)), None)
    if unknown is not None:
        return "unknown", f"Not known: {one_line(unknown.reason, 200)}"
    return "fine", "No assertion is violated, and nothing waits forever."


def _runs(session: MessageSession, findings: Sequence[RunFinding]) -> Iterator[FoundRunView]:
    for found in findings:
        choices = session.runs(found.buffer).whole(found.schedule)
        if choices is not None and found.kind != "run":
            address = session.address(MessagePlace(found.buffer, Track(choices, 0)))
            yield FoundRunView(found.kind, one_line(found.headline, 200), address, len(choices))
