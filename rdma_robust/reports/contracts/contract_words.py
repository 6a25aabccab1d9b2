"""Contracts, their violations and the values in them in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.contracts.contract_answers import (
    Counterexample,
    EveryProcsAnswer,
    FunctionAnswer,
    ProcsAnswer,
    ProvedInputs,
    Standing,
    VisibleEvent,
    why_it_stays,
)
from rdma_robust.contracts.language.contract_program import Contract, ContractProgram, ErrorClass
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_terms import shown_value
from rdma_robust.reports.share.chart import Chart, ChartArrow, ChartRow, Mark
from rdma_robust.text import one_line

CLASSES: Final[Mapping[ErrorClass, str]] = {
    "RTE": "something goes wrong in a body",
    "CCM": "processes make different calls",
    "DL": "processes wait forever",
    "SGV": "a guarantee about the state is violated",
    "PGV": "a guarantee about the order of events is violated",
    "ITF": "a receive from any may take a message from outside",
    "SRV": "a callee's requirement about the state is violated",
    "PRV": "a callee's requirement about the order of events is violated",
    "INV": "an invariant of a loop is violated",
}
"""The classes of errors in words."""


AT_A_HEAD: Final = (
    "the run is one round, from a head of the loop where all invariants are true; if the loop comes there is not said"
)
"""What is said of a run that begins with a round of a loop."""

_PROCESS: Final = re.compile(r"\bprocess (\d+)\b")


def shown_verdict(verdict: str) -> str:
    """Return a verdict as tables and headlines show it: what is found is in capitals, what is proved is not."""
    return "verified" if verdict == "VERIFIED" else verdict


def name_of(process: int) -> str:
    """Return what a process is called in charts and tables."""
    return f"P{process}"


def procs_ranges(numbers: Sequence[int]) -> str:
    """Return numbers of processes, `1..4` for all of a range."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}..{high}" for low, high in found)


def main_place(program: ContractProgram, example: Counterexample) -> Span:
    """Return where to look first, in the text of the program.

    For SRV that is the call, for PRV the send that comes too early; for the rest the clause, or the statement at fault.
    """
    place = example.span
    if example.error == "SRV" or (example.error == "PRV" and example.other is None):
        place = example.call
    elif example.error == "PRV":
        mine = (each for each in reversed(example.events) if (each.process, each.event) == (example.process, "send"))
        place = next((each.span for each in mine if each.peer == example.other), example.call)
    return place.within(program.file)


def text_at(program: ContractProgram, span: Span) -> str:
    """Return what stands in the program at a place, on one line; '' if that is not in the program."""
    if span == NO_SPAN or span.file not in ("", program.file):
        return ""
    return one_line(program.source[span.start : span.end], 100)


def bounds_text(program: ContractProgram, contract: Contract) -> str:
    """Return the inputs that a function's own check looks at: its `bounds` clauses as they are written, without the word."""
    found = (each.text or text_at(program, each.span).removeprefix("bounds").removesuffix(";") for each in contract.bounds)
    return "; ".join(each.strip() for each in found)


def first_violation(answer: FunctionAnswer) -> ProcsAnswer | None:
    """Return the answer with the counterexample for the fewest processes, None if there is none."""
    return next((each for each in answer.answers if each.counterexample is not None), None)


def reasons_of(answer: FunctionAnswer) -> list[str]:
    """Return why it is not known what holds, each reason once with the numbers of processes."""
    reasons = dict.fromkeys(each.reason for each in answer.answers if each.reason)
    found = [
        f"n = {procs_ranges([each.procs for each in answer.answers if each.reason == said])}: {said}" for said in reasons
    ]
    every = answer.every
    return [*found, f"every n: {every.reason}"] if every is not None and every.reason else found


def procs_text(answer: FunctionAnswer) -> str:
    """Return the numbers of processes that the verdict of a function is about."""
    found = procs_ranges([each.procs for each in answer.answers if each.verdict == answer.verdict])
    if answer.every is None or answer.every.verdict != answer.verdict:
        return found
    return "every" if answer.verdict == "VERIFIED" or not found else f"{found}, every"


_PROVED: Final[Mapping[ProvedInputs, str]] = {
    "all": "all inputs that meet `requires`",
    "kinds": "all inputs of the kinds in `bounds`",
    "bounds": "inputs within the bounds",
}


def every_text(every: EveryProcsAnswer | None) -> list[str]:
    """Return what a proof for every number of processes is about; nothing if there is none."""
    if every is None or every.inputs is None:
        return []
    most = "" if every.most is None else f" up to {every.most:,}, the length of the longest array"
    return [f"every n{most}: {_PROVED[every.inputs]}"]


def violation_line(program: ContractProgram, function: str, found: ProcsAnswer, example: Counterexample) -> str:
    """Return the violation in one sentence."""
    said = f"{function}, n = {found.procs}: {example.error}, {CLASSES[example.error]}"
    place = main_place(program, example)
    where = "" if place == NO_SPAN or example.error == "DL" else f"line {place.line}: "
    contract = program.contract(function)
    begins = "" if contract is None or contract.loop is None else f"; {AT_A_HEAD}"
    return f"{said}: {where}{what_of(example)}{begins}"


def what_of(example: Counterexample) -> str:
    """Return what is wrong, with the names that processes have in charts."""
    return with_chart_names(example.text) or example.clause


def with_chart_names(text: str) -> str:
    """Return a text about processes with the names that they have in charts."""
    return _PROCESS.sub(lambda found: name_of(int(found[1])), text)


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
            self.rows.append(ChartRow(standing.process, "stuck", text, self.line(standing.span), "waits forever"))

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
