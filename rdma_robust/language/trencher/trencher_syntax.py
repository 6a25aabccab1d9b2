"""The text of a Trencher program: words between white space, read into automata.

`#` begins a comment outside of threads. A line `# expect not robust, hang under sc` there is a list of claims, as the
`expect` line of an `.rdma` program is; to Trencher it is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.diagnose import Reporter, did_you_mean, line_ends_are_plain, listing, quote
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.expr import Binary, Const, Expr, Name, Unary
from rdma_robust.language.flow.claims import ExpectedAnswer
from rdma_robust.model import ModelName

Kind = Literal["read", "write", "local", "check", "mfence", "lock", "unlock", "noop"]

OPERANDS: Final = {
    "read": ("register", "address"),
    "write": ("value", "address"),
    "local": ("register", "value"),
    "check": ("value",),
    "mfence": (),
    "lock": (),
    "unlock": (),
    "noop": (),
}
"""What follows the name of each instruction."""

BINARY: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-", "*", "&"})
_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_CLAIM: Final = re.compile(r"(?:(?P<not>not)\s+)?robust|(?P<kind>(?P<no>no\s+)?hang|violated)\s+under\s+(?P<model>sc|rdma)")
_WORD: Final = re.compile(r"\S+")
ZERO: Final = Const(0)
MAX_DIGITS: Final = 9
MAX_DEPTH: Final = 100


@dataclass(frozen=True, slots=True)
class AutomatonWord:
    """A word and its place."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class AutomatonEdge:
    """`transition SOURCE TARGET KIND ...`: `register` is set by `read` and `local`, `value` belongs to `write`, `local` and
    `check`, `address` to `read` and `write`; without them they are ZERO. `address_span` is where the address stands,
    `source_span` where the name of the source does."""

    source: str
    target: str
    kind: Kind
    register: str
    value: Expr
    address: Expr
    span: Span
    address_span: Span
    text: str
    source_span: Span


@dataclass
class ThreadAutomatonText:
    """One thread."""

    name: str
    span: Span
    initial: str = ""
    transitions: list[AutomatonEdge] = field(default_factory=list)

    def leaving(self) -> dict[str, list[AutomatonEdge]]:
        """Return the transitions of each state, also of those that none leaves."""
        found: dict[str, list[AutomatonEdge]] = {self.initial: []}
        for each in self.transitions:
            found.setdefault(each.source, []).append(each)
            found.setdefault(each.target, [])
        return found


@dataclass
class AutomataFile:
    """A whole file."""

    threads: list[ThreadAutomatonText] = field(default_factory=list)
    memory_size: int | None = None
    expectations: list[ExpectedAnswer] = field(default_factory=list)


def read_automata_file(text: str, report: Reporter) -> AutomataFile:
    """Return what stands in `text`, as far as it can be read; `report` gets every error."""
    return _Reading(text, report).file() if line_ends_are_plain(report) else AutomataFile()


class _UnexpectedError(Exception):
    """The rest of a transition is given up."""


class _Reading:
    """One pass over the words."""

    def __init__(self, text: str, report: Reporter) -> None:
        self._text = text
        self._report = report
        self._found = AutomataFile()
        self._words = list(_words(text))
        self._at = 0

    def file(self) -> AutomataFile:
        names: dict[str, Span] = {}
        while (word := self._next()) is not None:
            if word.text.startswith("#"):
                self._comment(word)
            elif word.text == "memory_size":
                self._memory_size(word)
            elif word.text == "thread":
                self._thread(names)
            else:
                self._wrong(word, ("thread", "memory_size", "#"), "outside of a thread")
                self._skip(("thread", "memory_size"))
        if not self._found.threads and not self._report.failed:
            span = self._end()
            self._report.error("RR631", span, "the file has no thread", expected="`thread NAME`, its transitions, and `end`")
        return self._found

    def _comment(self, word: AutomatonWord) -> None:
        line_end = self._text.find("\n", word.span.start)
        line_end = len(self._text) if line_end < 0 else line_end
        while self._at < len(self._words) and self._words[self._at].span.start < line_end:
            self._at += 1
        for claim in _claims(self._text[word.span.start : line_end].lstrip("#").strip(), word.span):
            if any((each.kind, each.model) == (claim.kind, claim.model) for each in self._found.expectations):
                self._report.error("RR632", word.span, "what is expected is said twice", hint="take one of the lines away")
            else:
                self._found.expectations.append(claim)

    def _memory_size(self, word: AutomatonWord) -> None:
        size = self._next()
        if size is None or not size.text.isdigit() or not 1 <= len(size.text) <= MAX_DIGITS or int(size.text) == 0:
            what = "the end of the file" if size is None else quote(size.text)
            span = word.span if size is None else size.span
            self._report.error("RR631", span, f"unexpected {what} after `memory_size`", expected="how many words there are")
        else:
            self._found.memory_size = int(size.text)

    def _thread(self, names: dict[str, Span]) -> None:
        name = self._name("the name of the thread", NO_SPAN if self._at == 0 else self._words[self._at - 1].span)
        if name is None:
            return
        if name.text in names:
            where = names[name.text].line
            self._report.error("RR632", name.span, f"thread {quote(name.text)} is already declared in line {where}")
        names.setdefault(name.text, name.span)
        thread = ThreadAutomatonText(name.text, name.span)
        self._found.threads.append(thread)
        while (word := self._next()) is not None and word.text != "end":
            if word.text == "initial":
                self._initial(thread, word)
            elif word.text == "final":
                self._name("a state", word.span)  # a question of reachability, which is not asked here
            elif word.text == "transition":
                try:
                    thread.transitions.append(self._transition(word))
                except _UnexpectedError:
                    self._skip(("transition", "initial", "end"))
            else:
                comment = word.text.startswith("#")
                hint = "comments stand between threads only" if comment else ""
                self._wrong(word, ("initial", "transition", "end"), f"in thread {name.text}", hint)
                self._skip(("transition", "initial", "end"))
        if word is None:
            self._report.error("RR631", self._end(), f"thread {quote(name.text)} does not end", expected="`end`")
        elif not thread.initial:
            self._report.error(
                "RR631", name.span, f"thread {quote(name.text)} has no initial state", expected="`initial STATE`"
            )

    def _initial(self, thread: ThreadAutomatonText, word: AutomatonWord) -> None:
        state = self._name("the initial state", word.span)
        if state is None:
            return
        if thread.initial:
            what = f"thread {quote(thread.name)} has two initial states"
            self._report.error("RR632", state.span, what, hint="take one of them away")
        else:
            thread.initial = state.text

    def _transition(self, word: AutomatonWord) -> AutomatonEdge:
        source = self._operand("the state that it leaves", word.span)
        target = self._operand("the state that it enters", source.span)
        name = self._operand(f"an instruction: {listing(OPERANDS)}", target.span)
        if name.text not in OPERANDS:
            hint = did_you_mean(name.text, OPERANDS)
            what = f"unknown instruction {quote(name.text)}"
            self._report.error("RR631", name.span, what, expected=listing(OPERANDS), hint=hint)
            raise _UnexpectedError
        read: dict[str, Expr] = {}
        register, place = "", name.span
        for what in OPERANDS[name.text]:
            first = self._at
            if what == "register":
                register = self._register(name).text
            else:
                read[what] = self._expression(f"{'an address' if what == 'address' else 'a value'}", name.span, 0)
            if what == "address":
                place = _joined(self._words[first].span, self._words[self._at - 1].span)
        whole = _joined(word.span, self._words[self._at - 1].span)
        return AutomatonEdge(
            source.text,
            target.text,
            name.text,  # type: ignore[arg-type]
            register,
            read.get("value", ZERO),
            read.get("address", ZERO),
            whole,
            place,
            " ".join(self._text[name.span.start : whole.end].split()),
            source.span,
        )

    def _register(self, name: AutomatonWord) -> AutomatonWord:
        word = self._operand("a register", name.span)
        if _INTEGER.fullmatch(word.text) or word.text in BINARY or word.text == "!":
            self._report.error("RR631", word.span, f"unexpected {quote(word.text)}", expected="the name of a register")
            raise _UnexpectedError
        return word

    def _expression(self, what: str, before: Span, depth: int) -> Expr:
        word = self._operand(what, before)
        if depth > MAX_DEPTH:
            self._report.error("RR631", word.span, f"an expression of more than {MAX_DEPTH} operators in each other")
            raise _UnexpectedError
        if _INTEGER.fullmatch(word.text):
            if len(word.text.lstrip("+-")) > MAX_DIGITS:
                self._report.error("RR631", word.span, f"a number of more than {MAX_DIGITS} digits")
                raise _UnexpectedError
            return Const(int(word.text))
        if word.text == "!":
            return Unary("!", self._expression("what `!` denies", word.span, depth + 1))
        if word.text in BINARY:
            left = self._expression(f"the left side of {quote(word.text)}", word.span, depth + 1)
            right = self._expression(f"the right side of {quote(word.text)}", word.span, depth + 1)
            return Binary(word.text, left, right)
        return Name(word.text)

    def _operand(self, what: str, before: Span) -> AutomatonWord:
        """Return the next word of a transition, which must not be at the end of it."""
        word = self._name(what, before)
        if word is None:
            raise _UnexpectedError
        return word

    def _name(self, what: str, before: Span) -> AutomatonWord | None:
        """Return the next word; without one there is an error. What begins the next line of a thread is no name there."""
        word = self._next()
        if word is not None and not (
            word.text == "transition" or (word.text in ("end", "initial") and self._begins_line(self._at - 1))
        ):
            return word
        if word is None:
            self._report.error("RR631", before, "unexpected end of the file", expected=what)
        else:
            self._at -= 1
            self._report.error("RR631", word.span, f"unexpected {quote(word.text)}", expected=what)
        return None

    def _wrong(self, word: AutomatonWord, expected: tuple[str, ...], where: str, hint: str = "") -> None:
        near = hint or did_you_mean(word.text, expected)
        what = f"unexpected {quote(word.text)} {where}"
        self._report.error("RR631", word.span, what, expected=listing(map(quote, expected)), hint=near)

    def _skip(self, until: tuple[str, ...]) -> None:
        """Go on at the next line that begins with one of these words."""
        while self._at < len(self._words) and not (self._words[self._at].text in until and self._begins_line(self._at)):
            self._at += 1

    def _begins_line(self, at: int) -> bool:
        return at == 0 or self._words[at - 1].span.line < self._words[at].span.line

    def _next(self) -> AutomatonWord | None:
        if self._at >= len(self._words):
            return None
        self._at += 1
        return self._words[self._at - 1]

    def _end(self) -> Span:
        return self._words[-1].span if self._words else NO_SPAN


def _claims(comment: str, span: Span) -> list[ExpectedAnswer]:
    """Return the claims of a comment, none if it is not an `expect` line as a whole."""
    first, _, rest = comment.partition(" ")
    found = [_CLAIM.fullmatch(each.strip()) for each in rest.split(",")] if first == "expect" else [None]
    return [] if None in found else [_claim(each, span) for each in found if each is not None]


def _claim(said: re.Match[str], span: Span) -> ExpectedAnswer:
    model: ModelName | None = "sc" if said["model"] == "sc" else "rdma" if said["model"] else None
    if model is None:
        return ExpectedAnswer("robust", said["not"] is not None, None, span)
    return ExpectedAnswer("violated" if said["kind"] == "violated" else "hang", said["no"] is not None, model, span)


def _words(text: str) -> Iterator[AutomatonWord]:
    line, start = 1, 0
    for found in _WORD.finditer(text):
        line += text.count("\n", start, found.start())
        start = found.start()
        column = start - (text.rfind("\n", 0, start) + 1) + 1
        length = found.end() - start
        yield AutomatonWord(found[0], Span(line, column, line, column + length, start, found.end()))


def _joined(first: Span, last: Span) -> Span:
    return Span(first.line, first.column, last.end_line, last.end_column, first.start, last.end)
