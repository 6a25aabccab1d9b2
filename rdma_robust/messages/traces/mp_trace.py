"""Importing traces in the text format of the paper's authors: a line for each event, `T0_2: rcv(0, b)`.

`snd(endpoint, value)`, `rcv(endpoint, name)`, `wait(label)`, and `assume(..)` and `assert(..)` with the operator first. The
lines of one task are in its order. An endpoint belongs to the task that receives at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.messages.language.message_words import message_grammar
from rdma_robust.messages.traces.located_json import LineStarts
from rdma_robust.messages.traces.trace_record import LIBRARY, Field, MessageTrace, TraceEvent, TraceProcess
from rdma_robust.text import free_name

_TOKEN: Final = re.compile(r"[()]|[^\s()]+")
_NUMBER: Final = re.compile(r"-?[0-9]{1,1000}\Z")
_OPERATORS: Final = {
    "=": "==",
    "==": "==",
    "/=": "!=",
    "!=": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
    "+": "+",
    "-": "-",
    "*": "*",
    "and": "&&",
    "or": "||",
    "not": "!",
}
_DEEPEST: Final = 100


class PrefixError(Exception):
    """A mistake in an expression, at one of its characters."""

    def __init__(self, said: str, at: int) -> None:
        super().__init__(said)
        self.said = said
        self.at = at


@dataclass(frozen=True, slots=True)
class PrefixTerm:
    """A number or a name, without operands, or an operator of `.mp` and its operands."""

    word: str
    operands: tuple[PrefixTerm, ...] = ()
    is_name: bool = False

    def names(self) -> Iterator[str]:
        """Yield the names in it."""
        if self.is_name:
            yield self.word
        for each in self.operands:
            yield from each.names()

    def text(self, named: dict[str, str]) -> str:
        """Return it as `.mp` text, with other names."""
        if not self.operands:
            return named[self.word] if self.is_name else self.word
        parts = [f"({each.text(named)})" if each.operands else each.text(named) for each in self.operands]
        return f"{self.word}{parts[0]}" if len(parts) == 1 else f" {self.word} ".join(parts)


def prefix_term(text: str) -> PrefixTerm:
    """Return the expression in a text, around which the outermost parentheses may be left out. Raises PrefixError."""
    tokens = [(match[0], match.start()) for match in _TOKEN.finditer(text)]
    if not tokens:
        raise PrefixError("there is no expression", 0)
    if tokens[0][0] in _OPERATORS:
        tokens = [("(", 0), *tokens, (")", len(text))]
    found, after = _read(tokens, 0, 0)
    if after < len(tokens):
        raise PrefixError("there is something behind the expression", tokens[after][1])
    return found


def _read(tokens: list[tuple[str, int]], at: int, depth: int) -> tuple[PrefixTerm, int]:
    word, place = tokens[at]
    if word == ")" or depth > _DEEPEST:
        raise PrefixError("an expression was expected here", place)
    if word != "(":
        return PrefixTerm(word, is_name=not _NUMBER.match(word)), at + 1
    name, place = tokens[at + 1] if at + 1 < len(tokens) else ("", place)
    operator = _OPERATORS.get(name)
    if operator is None:
        raise PrefixError(f"no operator: expected one of {' '.join(_OPERATORS)}", place)
    operands: list[PrefixTerm] = []
    at += 2
    while at < len(tokens) and tokens[at][0] != ")":
        operand, at = _read(tokens, at, depth + 1)
        operands.append(operand)
    if at == len(tokens):
        raise PrefixError("a parenthesis is not closed", place)
    few = 1 if operator in ("!", "-") else 2
    if len(operands) < few or (operator == "!" and len(operands) > 1) or (operator in _CHAINLESS and len(operands) > 2):
        raise PrefixError(f"`{name}` has another number of operands", place)
    return PrefixTerm(operator, tuple(operands)), at + 1


_CHAINLESS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "-"})


_LINE: Final = re.compile(r"\s*(T([0-9]{1,6})_([0-9]{1,9}))\s*:\s*(snd|rcv|wait|assume|assert)\s*\((.*)\)\s*\Z")
_ENDPOINT: Final = re.compile(r"\s*([0-9]{1,6})\s*,(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line: its label, task, operation, what stands in the parentheses, and where."""

    label: str
    task: int
    op: str
    inside: str
    start: int
    line: int
    span: Span
    endpoint: int = -1
    value: PrefixTerm | None = None


def _reserved() -> set[str]:
    """Return the words that are no names in expressions, or might be something else there."""
    return {*message_grammar().keywords.values(), "len", "new", *LIBRARY}


@dataclass(slots=True)
class _Task:
    """A task while its events are made; `used` are the names that it cannot have any more."""

    events: list[TraceEvent] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=_reserved)


def import_mp_trace(text: str, file: str, name: str = "trace") -> MessageTrace:
    """Return the trace in a text, with warnings about lines that were left out. Raises ProgramError with all errors.

    What no wait names is blocking; a receive with a later one of its endpoint that is waited for ends with that wait, as
    receives of an endpoint are matched in order (the nearest-enclosing wait). A name that nothing was received into gets
    its value from the first `(= name ..)`.
    """
    report = Reporter(file, text)
    entries = list(_entries(text, report))
    if not entries and not report.failed:
        report.error("RR945", LineStarts(text).span(0, 0), "there are no events", expected="lines such as `T0_0: rcv(0, a)`")
    report.raise_errors()
    trace = _Import(report, entries).trace(name)
    report.raise_errors()
    return trace


def _entries(text: str, report: Reporter) -> Iterator[_Entry]:
    lines, start = LineStarts(text), 0
    labels: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        body = line.removesuffix("\r")
        span = lines.span(start, start + len(body))
        match = _LINE.match(body)
        if match is None:
            if body.strip():
                expected = "`T0_0: ` and snd(..), rcv(..), wait(..), assume(..) or assert(..)"
                report.error("RR945", span, "this line is no event", expected=expected)
        elif match[1] in labels:
            report.error("RR945", span, f"there is a line {quote(match[1])} before")
        else:
            labels.add(match[1])
            entry = _Entry(match[1], int(match[2]), match[4], match[5], start + match.start(5), number, span)
            yield from _with_operands(entry, lines, report)
        start += len(line) + 1


def _with_operands(entry: _Entry, lines: LineStarts, report: Reporter) -> Iterator[_Entry]:
    """Yield the entry with its endpoint and expression, unless they are wrong."""
    inside, endpoint, offset = entry.inside, -1, entry.start
    if entry.op in ("snd", "rcv"):
        match = _ENDPOINT.match(inside)
        if match is None:
            report.error("RR945", entry.span, f"{quote(entry.op)} has an endpoint, a number, and something behind a comma")
            return
        endpoint, inside, offset = int(match[1]), match[2], offset + match.start(2)
    value = None
    if entry.op != "wait":
        try:
            value = prefix_term(inside)
        except PrefixError as wrong:
            at = min(offset + wrong.at, entry.span.end - 1)
            report.error("RR945", lines.span(at, at + 1), wrong.said)
            return
        if entry.op == "rcv" and not value.is_name:
            report.error("RR945", lines.span(offset, entry.span.end - 1), "`rcv` has the name of what it receives into")
            return
    yield _Entry(entry.label, entry.task, entry.op, inside, offset, entry.line, entry.span, endpoint, value)


class _Import:
    def __init__(self, report: Reporter, entries: list[_Entry]) -> None:
        self.report = report
        self.entries = entries
        self.tasks = sorted({each.task for each in entries})
        self.number = {task: at for at, task in enumerate(self.tasks)}
        self.by_label = {each.label: each for each in entries}
        self.owner: dict[int, int] = {}
        self.left_out: set[str] = set()
        self.waited = {each.inside.strip() for each in entries if each.op == "wait"}

    def trace(self, name: str) -> MessageTrace:
        self.find_owners()
        made = {task: _Task() for task in self.tasks}
        enclosing = self.enclosing_waits()
        waited = self.waited.union(*enclosing.values())
        done: set[str] = set()
        for entry in self.entries:
            task = made[entry.task]
            if entry.op == "wait":
                for label in (*enclosing.get(entry.label, ()), entry.inside.strip()):
                    self.wait(entry, label, task, done)
            elif entry.op in ("snd", "rcv"):
                self.operation(entry, task, entry.label in waited)
            else:
                self.condition(entry, task)
        processes = (TraceProcess(f"T{task}", tuple(made[task].events)) for task in self.tasks)
        return MessageTrace(name, tuple(processes), (), self.report.warnings)

    def find_owners(self) -> None:
        """Give every endpoint to the task that receives at it; one at which nobody receives to the task of its number."""
        for entry in self.entries:
            if entry.op == "rcv" and self.owner.setdefault(entry.endpoint, entry.task) != entry.task:
                other = self.owner[entry.endpoint]
                said = f"endpoint {entry.endpoint} belongs to T{other}, which receives at it further above"
                self.report.error("RR945", entry.span, said)
        for entry in self.entries:
            if entry.op == "snd" and entry.endpoint not in self.owner:
                if entry.endpoint in self.number:
                    self.owner[entry.endpoint] = entry.endpoint
                else:
                    said = f"no task receives at endpoint {entry.endpoint}, and there is no T{entry.endpoint}"
                    self.report.error("RR945", entry.span, said)

    def enclosing_waits(self) -> dict[str, list[str]]:
        """Return for waits the receives that end with them although they do not name them: the nearest enclosing ones."""
        found: dict[str, list[str]] = {}
        open_: dict[int, list[str]] = {}
        posted: dict[str, list[str]] = {}
        for entry in self.entries:
            if entry.op == "rcv" and entry.label not in self.waited:
                open_.setdefault(entry.endpoint, []).append(entry.label)
            elif entry.op == "rcv":
                posted[entry.label] = list(open_.get(entry.endpoint, ()))
            elif entry.op == "wait":
                mine = posted.get(entry.inside.strip(), [])
                if mine:
                    endpoint = self.by_label[mine[0]].endpoint
                    found[entry.label] = [each for each in mine if each in open_[endpoint]]
                    open_[endpoint] = [each for each in open_[endpoint] if each not in mine]
        return found

    def wait(self, entry: _Entry, label: str, task: _Task, done: set[str]) -> None:
        of = self.by_label.get(label)
        if of is None or of.op not in ("snd", "rcv") or of.task != entry.task or of.line > entry.line:
            said = f"{quote(label)} is no `snd` or `rcv` of T{entry.task} further above"
            self.report.error("RR945", entry.span, said)
        elif label not in done:
            done.add(label)
            task.events.append(TraceEvent("wait", {"request": label}, entry.line))

    def operation(self, entry: _Entry, task: _Task, has_wait: bool) -> None:
        assert entry.value is not None
        if entry.endpoint not in self.owner:
            return
        fields: dict[str, Field] = {"port": self.port(entry.endpoint)}
        if entry.op == "snd":
            unknown = [each for each in entry.value.names() if each not in task.names]
            if unknown:
                self.report.error("RR945", entry.span, f"{quote(unknown[0])} has no value here")
                return
            fields |= {"to": self.number[self.owner[entry.endpoint]], "tag": 0, "value": entry.value.text(task.names)}
        else:
            task.names[entry.value.word] = into = self.fresh(entry.value.word, task)
            fields |= {"into": into, "from": "any"}
        if has_wait:
            fields["request"] = entry.label
        op = {"snd": "send", "rcv": "recv"}[entry.op]
        task.events.append(TraceEvent(f"i{op}" if has_wait else op, fields, entry.line))

    def port(self, endpoint: int) -> str | None:
        """Return the port of an endpoint: none if it is the first of its task."""
        first = min(each for each, owner in self.owner.items() if owner == self.owner[endpoint])
        return None if endpoint == first else f"e{endpoint}"

    def fresh(self, word: str, task: _Task) -> str:
        """Return a name of a trace for a word, another one each time."""
        plain = re.sub(r"\W", "_", word, flags=re.ASCII)
        return free_name(f"v{plain}" if plain[0].isdigit() else plain, task.used)

    def condition(self, entry: _Entry, task: _Task) -> None:
        """Write an assumption or assertion; where it is what gives a name its value, an assignment."""
        assert entry.value is not None
        unknown = [each for each in dict.fromkeys(entry.value.names()) if each not in task.names]
        if not unknown:
            task.events.append(TraceEvent(entry.op, {"expr": entry.value.text(task.names)}, entry.line))
            return
        value = _defined(entry.value, unknown)
        if value is None:
            for each in unknown:
                if each not in self.left_out:
                    self.left_out.add(each)
                    said = f"{quote(each)} has no value here: conditions on it are left out"
                    self.report.warn("RR946", entry.span, said)
            return
        text = value.text(task.names)
        task.names[unknown[0]] = name = self.fresh(unknown[0], task)
        task.events.append(TraceEvent("assign", {"to": name, "value": text}, entry.line))


def _defined(condition: PrefixTerm, unknown: list[str]) -> PrefixTerm | None:
    """Return what the one unknown name is equal to, if the condition says that of it and nothing else."""
    if condition.word != "==" or len(unknown) != 1:
        return None
    left, right = condition.operands
    if right.is_name and right.word == unknown[0]:
        left, right = right, left
    if not left.is_name or left.word != unknown[0] or unknown[0] in right.names():
        return None
    return right
