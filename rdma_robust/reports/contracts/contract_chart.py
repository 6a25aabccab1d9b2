"""From a run that violates a contract to its sequence chart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rdma_robust.contracts.contract_answers import Counterexample, Standing, VisibleEvent, why_it_stays
from rdma_robust.contracts.language.contract_program import ContractProgram, ErrorClass
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_terms import shown_value
from rdma_robust.reports.contracts.contract_words import main_place, name_of, what_of, with_chart_names
from rdma_robust.reports.share.chart import Chart, ChartArrow, ChartRow, Mark

_ENDS: Final[dict[ErrorClass, Mark]] = {"RTE": "fault", "DL": "stuck"}


@dataclass(slots=True)
class _UnderwayMessage:
    """A message on its way: the row that sends it."""

    row: int
    tag: int | None


@dataclass(slots=True)
class _Builder:
    program: ContractProgram
    function: str
    procs: int
    rows: list[ChartRow] = field(default_factory=list)
    arrows: list[ChartArrow] = field(default_factory=list)
    underway: dict[tuple[int, int, int], list[_UnderwayMessage]] = field(default_factory=dict)
    calls: dict[tuple[int, str], int] = field(default_factory=dict)

    def line(self, span: Span) -> int | None:
        place = span.within(self.program.file)
        return None if place == NO_SPAN else place.line

    def add(self, event: VisibleEvent) -> None:
        """Add the row of an event."""
        match event.event:
            case "enter" | "exit":
                self.passes(event)
            case "send":
                self.sends(event)
            case "recv":
                self.takes(event)
            case "complete":
                self.goes_on(event)

    def passes(self, event: VisibleEvent) -> None:
        """Add that a function is entered or left, to the last row if others do the same there."""
        mark: Mark = "enter" if event.event == "enter" else "exit"
        words = passing_words(self.program, self.function, event.function, mark)
        if not words:
            return
        key = event.process, words
        number = self.calls[key] = self.calls.get(key, 0) + 1
        what = f"{key[1]} #{number}" if number > 1 else key[1]
        last = self.rows[-1] if self.rows else None
        lanes: tuple[int, ...] = (event.process,)
        if last is not None and last.label == what and event.process not in (last.lane, *last.also):
            self.rows.pop()
            lanes = (last.lane, *last.also, event.process)
        names = ", ".join(map(name_of, sorted(lanes)))
        self.rows.append(ChartRow(lanes[0], mark, f"{names}: {what}", None, what, lanes[1:]))

    def sends(self, event: VisibleEvent) -> None:
        assert event.peer is not None
        label = f"send {shown_value(event.value)} to {name_of(event.peer)}{self.channel(event)}"
        text = f"{name_of(event.process)} {label.replace('send', 'sends', 1)}"
        self.rows.append(ChartRow(event.process, "send", text, self.line(event.span), label))
        channel = event.process, event.peer, event.port
        self.underway.setdefault(channel, []).append(_UnderwayMessage(len(self.rows) - 1, event.tag))

    def takes(self, event: VisibleEvent) -> None:
        assert event.peer is not None
        value = shown_value(event.value)
        text = f"{name_of(event.process)} takes {value} from {name_of(event.peer)}{self.channel(event)}"
        self.rows.append(ChartRow(event.process, "take", text, self.line(event.span), f"takes {value}"))
        waiting = self.underway.get((event.peer, event.process, event.port), [])
        sent = next((each for each in waiting if each.tag == event.tag), None)
        if sent is not None:
            waiting.remove(sent)
        begin = None if sent is None else sent.row
        self.arrows.append(ChartArrow(event.peer, event.process, begin, len(self.rows) - 1, value, text))

    def goes_on(self, event: VisibleEvent) -> None:
        assert event.peer is not None
        text = f"{name_of(event.process)} goes on: {name_of(event.peer)} has got its message{self.channel(event)}"
        self.rows.append(ChartRow(event.process, "match", text, self.line(event.span), "goes on"))

    def channel(self, event: VisibleEvent) -> str:
        port = f" on {self.program.port_names[event.port]}" if event.port else ""
        return port + (f" tag {event.tag}" if event.tag else "")

    def stays(self, standing: Standing) -> None:
        """Add that a process never leaves, if that is so."""
        if standing.next != "left":
            text = with_chart_names(why_it_stays(standing, self.program.port_names))
            self.rows.append(ChartRow(standing.process, "stuck", text, self.line(standing.span), "waits for ever"))

    def wrong(self, example: Counterexample) -> None:
        """Add what is wrong at the end."""
        if example.error == "DL" and example.ends:
            for each in example.ends:
                self.stays(each)
            return
        mark = _ENDS.get(example.error, "false")
        text, place = what_of(example), main_place(self.program, example)
        self.rows.append(ChartRow(example.process, mark, text, place.line or None, f"{example.error}"))
        if example.error == "ITF" and example.other is not None:
            said = f"or a message that {name_of(example.other)} sends after it has left"
            end = len(self.rows) - 1
            self.arrows.append(ChartArrow(example.other, example.process, None, end, "", said, possible=True))


def passing_words(program: ContractProgram, own: str, function: str, mark: Mark) -> str:
    """Return what it is called in a run of `own` that a function is entered or left; nothing if that is not shown.

    Heads of loops are calls of a function, which does nothing; and one round of a loop is a function.
    """
    contract = program.contract(function)
    if contract is None or contract.loop is None:
        return f"{mark} {function}"
    if function == own:
        return f"{'begin' if mark == 'enter' else 'end'} a round of {function}"
    return f"at the head of {function}" if mark == "enter" else ""


def contract_chart(program: ContractProgram, title: str, function: str, example: Counterexample) -> Chart:
    """Return the chart of the run of a function that `example` is."""
    procs = len(example.inputs)
    builder = _Builder(program, function, procs)
    for event in example.events:
        builder.add(event)
    builder.wrong(example)
    return Chart(title, tuple(map(name_of, range(procs))), tuple(builder.rows), tuple(builder.arrows))
