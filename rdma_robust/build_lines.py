"""Lines of a program made in Python: pieces of the language, and statements without blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Self

from rdma_robust.diagnose import quote
from rdma_robust.errors import Span, UsageError

Value = int | str
"""A number, or an expression of the language."""

_WORD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PLACE: Final = re.compile(r"[A-Za-z_]\w*(\[\d+\])?", re.ASCII)
_PIECE: Final = re.compile(r"[\w\s.,\[\]()+\-*/%=!<>&|]*", re.ASCII)

_LINE: Final = re.compile(r"""[\w \t.,:"\[\]()+\-*/%=!<>&|]+""", re.ASCII)


def piece(text: Value, what: str) -> str:
    """Return a piece of a line of the program. Raises UsageError for what cannot be one."""
    if isinstance(text, bool) or not isinstance(text, int | str):
        raise UsageError(f"{what} is {text!r}: it must be a number or a text of the language")
    found = f"{text}".strip()
    if not found or not _PIECE.fullmatch(found) or "\n" in found or "\r" in found or "//" in found or "/*" in found:
        raise UsageError(f"{what} is {quote(str(text))}: it must be a part of one line of the language")
    if not _closed(found):
        raise UsageError(f"{what} is {quote(found)}: it must be whole, without the lines after it")
    return found


def whole_line(text: str) -> str:
    """Return a line outside of threads and nodes. Raises UsageError for what cannot be one."""
    if not _LINE.fullmatch(text) or "//" in text or "/*" in text:
        raise UsageError(f"{quote(text)} is no line of the language outside of blocks")
    return text


def order_piece(order: str) -> str:
    """Return an order as a `hardware` line names it, a file `*.toml` in quotation marks. Raises UsageError."""
    if not order.endswith(".toml"):
        return piece(order, "an order")
    if '"' in order or not order.isprintable():
        raise UsageError(f"{quote(order)} is no name of a file that a program can have")
    return f'"{order}"'


def _closed(text: str) -> bool:
    """Whether every bracket has its other half; a line with one open, or that ends with an operator, takes in the next."""
    open_now: list[str] = []
    for char in text:
        if char in "([":
            open_now.append(char)
        elif char in ")]" and (not open_now or open_now.pop() + char not in ("()", "[]")):
            return False
    return not open_now and text[-1] not in "+-*/%=!<>&|,"


def word(text: str, what: str) -> str:
    if not isinstance(text, str) or not _WORD.fullmatch(text):
        raise UsageError(f"{quote(str(text))} is no name for a {what}: letters, digits and `_`, no digit first")
    return text


def place(text: str, what: str) -> str:
    """Return the name of a node, a thread or a lane, of one of several with its number: `q[2]`."""
    if not isinstance(text, str) or not _PLACE.fullmatch(text):
        raise UsageError(f"{quote(str(text))} is no name of a {what}: a word, or one with a number, `q[2]`")
    return text


def _flags(unsignaled: bool, inline: bool, fenced: bool, on: str = "") -> str:
    return " inline" * inline + " unsignaled" * unsignaled + " fenced" * fenced + _on(on)


def _on(lane: str) -> str:
    return f" on {place(lane, 'lane')}" if lane else ""


def _into(register: str) -> str:
    return f"{piece(register, 'a register')} = " if register else ""


@dataclass(slots=True)
class SourceLines:
    """Lines of text, each with what it was made from."""

    text: list[str] = field(default_factory=list)
    origins: list[Span | None] = field(default_factory=list)

    def add(self, text: str, at: Span | None = None) -> None:
        self.text.append(text)
        self.origins.append(at)

    def extend(self, other: SourceLines) -> None:
        self.text += other.text
        self.origins += other.origins


class StatementLines:
    """The statements of a thread, one after the other; every method returns the builder.

    `at` is the span of what the statement was made from, which diagnostics then name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._lines = SourceLines()
        self._depth = 1
        self._label = ""

    def statement(self, text: str, *, at: Span | None = None) -> Self:
        """Append one statement without a block, as the language writes it: `"r = x"`, `"put B.y = x"`."""
        self._add(piece(text, "a statement"), at)
        return self

    def assign(self, register: str, value: Value, *, at: Span | None = None) -> Self:
        """`register = value`; the value may read one variable of the thread's node."""
        return self._line(f"{piece(register, 'a register')} = {piece(value, 'a value')}", at)

    read = assign
    """`register = variable`."""

    def write(self, variable: str, value: Value, *, at: Span | None = None) -> Self:
        """`variable = value`, over registers and constants."""
        return self._line(f"{piece(variable, 'a variable')} = {piece(value, 'a value')}", at)

    def cas(
        self,
        variable: str,
        expected: Value,
        new: Value,
        *,
        into: str = "",
        unsignaled: bool = False,
        fenced: bool = False,
        on: str = "",
        at: Span | None = None,
    ) -> Self:
        """`into = cas(variable, expected, new)`: write `new` if the variable is as expected; else as :meth:`faa`."""
        return self._atomic("cas", (variable, expected, new), into, _flags(unsignaled, False, fenced, on), at)

    def faa(
        self,
        variable: str,
        value: Value,
        *,
        into: str = "",
        unsignaled: bool = False,
        fenced: bool = False,
        on: str = "",
        at: Span | None = None,
    ) -> Self:
        """`into = faa(variable, value)`: add `value`; without `into` the old value goes nowhere, and the variable may be
        `NODE.variable`: then it is a request, made as the flags say."""
        return self._atomic("faa", (variable, value), into, _flags(unsignaled, False, fenced, on), at)

    def swap(
        self,
        variable: str,
        value: Value,
        *,
        into: str = "",
        unsignaled: bool = False,
        fenced: bool = False,
        on: str = "",
        at: Span | None = None,
    ) -> Self:
        """`into = swap(variable, value)`: write `value`; else as :meth:`faa`."""
        return self._atomic("swap", (variable, value), into, _flags(unsignaled, False, fenced, on), at)

    def _atomic(self, name: str, operands: tuple[Value, ...], into: str, flags: str, at: Span | None) -> Self:
        """The line of an atomic operation on the first of the operands."""
        first, *others = operands
        values = ", ".join([piece(first, "a variable"), *(piece(value, "a value") for value in others)])
        return self._line(f"{_into(into)}{name}({values}){flags}", at)

    def nondet(self, into: str, low: Value = "", high: Value = "", *, at: Span | None = None) -> Self:
        """`into = nondet(low, high)`, or `into = nondet()` without both: any value, for a register or a variable."""
        bounds = "" if low == "" == high else f"{piece(low, 'a bound')}, {piece(high, 'a bound')}"
        return self._line(f"{piece(into, 'a register or variable')} = nondet({bounds})", at)

    def put(
        self,
        target: str,
        source: Value,
        *,
        unsignaled: bool = False,
        inline: bool = False,
        fenced: bool = False,
        imm: Value = "",
        to: str = "",
        on: str = "",
        at: Span | None = None,
    ) -> Self:
        """`put target = source`: the target is `NODE.variable`, the source a variable of this node or a constant.

        With `inline` the source may be an expression over registers. With `imm` a message that carries it follows, `to`
        a thread. Raises UsageError for one of them without the other.
        """
        if (imm == "") != (to == ""):
            raise UsageError(f"thread {self.name}: an immediate, `imm`, goes `to` a thread: name both")
        message = "" if imm == "" else f" imm {piece(imm, 'an immediate')} to {place(to, 'thread')}"
        made = (
            f"put {piece(target, 'a target')} = {piece(source, 'a source')}{_flags(unsignaled, inline, fenced, on)}{message}"
        )
        return self._line(made, at)

    def get(
        self,
        target: str,
        source: str,
        *,
        unsignaled: bool = False,
        fenced: bool = False,
        on: str = "",
        at: Span | None = None,
    ) -> Self:
        """`get target = source`: the target is a variable of this node, the source `NODE.variable`, or an atomic operation
        on one, such as `cas(NODE.variable, 0, 1)`."""
        made = f"get {piece(target, 'a target')} = {piece(source, 'a source')}{_flags(unsignaled, False, fenced, on)}"
        return self._line(made, at)

    def send(
        self,
        source: Value,
        to: str,
        *,
        unsignaled: bool = False,
        inline: bool = False,
        fenced: bool = False,
        on: str = "",
        at: Span | None = None,
    ) -> Self:
        """`send source to thread`, a message to a thread of another node; the source is as in :meth:`put`."""
        made = f"send {piece(source, 'a source')} to {place(to, 'thread')}{_flags(unsignaled, inline, fenced, on)}"
        return self._line(made, at)

    def qp(self, lane: str, node: str, *, depth: Value = "", at: Span | None = None) -> Self:
        """`qp lane to node`: a queue pair beside the nameless one, with room for `depth` requests; requests are `on` it."""
        room = "" if depth == "" else f" depth {piece(depth, 'a depth')}"
        return self._line(f"qp {word(lane, 'lane')} to {place(node, 'node')}{room}", at)

    def posted(self, *buffers: str, sender: str, on: str = "", at: Span | None = None) -> Self:
        """`posted buffer, ... from sender`: receives that are posted before anything runs, for messages `on` its lane."""
        named = ", ".join(piece(buffer, "a buffer") for buffer in buffers)
        return self._line(f"posted {named} from {place(sender, 'thread')}{_on(on)}", at)

    def recv(self, buffer: str, sender: str, *, on: str = "", at: Span | None = None) -> Self:
        """`recv buffer from sender`: post a receive buffer, a variable of this node."""
        return self._line(f"recv {piece(buffer, 'a buffer')} from {place(sender, 'thread')}{_on(on)}", at)

    def barrier(self, *threads: str, at: Span | None = None) -> Self:
        """`barrier threads`: wait until all of these threads, or all of the program, stand at one too."""
        return self._line(f"barrier {', '.join(place(name, 'thread') for name in threads)}".rstrip(), at)

    def rpoll(self, sender: str, *, into: str = "", on: str = "", at: Span | None = None) -> Self:
        """`into = rpoll sender`: wait for the earliest message not polled yet; its immediate, or 0, goes to a register."""
        return self._line(f"{_into(into)}rpoll {place(sender, 'thread')}{_on(on)}", at)

    def poll(self, *nodes: str, times: Value = "", into: str = "", at: Span | None = None) -> Self:
        """`poll node`; with `times` for so many completions; of several nodes for one of any of them, and which that is,
        counted from 0, goes `into` a register."""
        named = " or ".join(place(node, "node") for node in nodes)
        number = "" if times == "" else f" {piece(times, 'a number')}"
        return self._line(f"{_into(into)}poll {named}{number}", at)

    def trypoll(self, into: str, node: str, *, at: Span | None = None) -> Self:
        """`into = trypoll node`: 1 and a completion, or 0."""
        return self._line(f"{_into(into)}trypoll {place(node, 'node')}", at)

    def rfence(self, node: str, *, at: Span | None = None) -> Self:
        return self._line(f"rfence {place(node, 'node')}", at)

    def flush(self, node: str, *, at: Span | None = None) -> Self:
        """`flush node`: wait until every operation towards the node has taken effect."""
        return self._line(f"flush {place(node, 'node')}", at)

    def order(self, node: str, *, at: Span | None = None) -> Self:
        """`order node`: remote writes and atomics towards the node before it take effect before those behind it."""
        return self._line(f"order {place(node, 'node')}", at)

    def start(self, thread: str, *, at: Span | None = None) -> Self:
        """`start thread`: let a thread begin, which waits for that."""
        return self._line(f"start {place(thread, 'thread')}", at)

    def join(self, thread: str, *, at: Span | None = None) -> Self:
        """`join thread`: wait until a thread has ended."""
        return self._line(f"join {place(thread, 'thread')}", at)

    def mfence(self, *, at: Span | None = None) -> Self:
        """`mfence`: wait until the own store buffers are empty."""
        return self._line("mfence", at)

    def label(self, name: str) -> Self:
        """`name:` before the next statement, or a `skip` at the end of a block."""
        if self._label:
            self.skip()
        self._label = word(name, "label")
        return self

    def assume(self, condition: Value, *, at: Span | None = None) -> Self:
        """`assume condition`, which may read one variable: where it fails the execution is set aside."""
        return self._line(f"assume {piece(condition, 'a condition')}", at)

    def await_(self, condition: Value, *, at: Span | None = None) -> Self:
        """`await condition`, which may read one variable: wait until it holds; a thread for which it never does hangs."""
        return self._line(f"await {piece(condition, 'a condition')}", at)

    def check(self, condition: Value, *, at: Span | None = None) -> Self:
        """`assert condition`."""
        return self._line(f"assert {piece(condition, 'a condition')}", at)

    def halt(self, *, at: Span | None = None) -> Self:
        return self._line("halt", at)

    def skip(self, *, at: Span | None = None) -> Self:
        return self._line("skip", at)

    def _end(self) -> None:
        """End a block, or with no depth left the thread."""
        if self._label:
            self.skip()
        self._depth -= 1
        self._add("}", None)

    def _line(self, text: str, at: Span | None) -> Self:
        self._add(text, at)
        return self

    def _add(self, text: str, at: Span | None) -> None:
        label, self._label = f"{self._label}: " if self._label else "", ""
        self._lines.add(f"{'  ' * self._depth}{label}{text}", at)

    @property
    def lines(self) -> SourceLines:
        """What was written, complete: a label that stands before nothing has a `skip`."""
        if self._label:
            self.skip()
        return self._lines
