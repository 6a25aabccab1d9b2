"""Programs made in Python: from statements, or from automata with locations and edges.

Names and expressions are those of the language, as text or as numbers; what is wrong is said as for a text, with the line
of the program as it would be written. A program of statements has such a text. One with automata has none: its source is
its canonical listing (`language.flow.canonical`), and what edits text, `repair`, refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from rdma_robust.diagnose import did_you_mean, quote
from rdma_robust.errors import NO_SPAN, ProgramError, Span, UsageError
from rdma_robust.language.check.control import Shape, ShapeEdge
from rdma_robust.language.flow.canonical import with_listing
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spans import moved
from rdma_robust.language.load import load_automata, load_program

Value = int | str
"""A number, or an expression of the language."""

Claims = Literal["allowed", "forbidden"]

_WORD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PIECE: Final = re.compile(r"[\w\s.,\[\]()+\-*/%=!<>&|]*", re.ASCII)


def _piece(text: Value, what: str) -> str:
    """Return a piece of a line of the program. Raises UsageError for what cannot be one."""
    if isinstance(text, bool) or not isinstance(text, int | str):
        raise UsageError(f"{what} is {text!r}: it must be a number or a text of the language")
    found = f"{text}".strip()
    if not found or not _PIECE.fullmatch(found) or "\n" in found or "\r" in found or "//" in found or "/*" in found:
        raise UsageError(f"{what} is {quote(str(text))}: it must be a part of one line of the language")
    if not _closed(found):
        raise UsageError(f"{what} is {quote(found)}: it must be whole, without the lines after it")
    return found


def _closed(text: str) -> bool:
    """Whether every bracket has its other half; a line with one open, or that ends with an operator, takes in the next."""
    open_now: list[str] = []
    for char in text:
        if char in "([":
            open_now.append(char)
        elif char in ")]" and (not open_now or open_now.pop() + char not in ("()", "[]")):
            return False
    return not open_now and text[-1] not in "+-*/%=!<>&|,"


def _word(text: str, what: str) -> str:
    if not isinstance(text, str) or not _WORD.fullmatch(text):
        raise UsageError(f"{quote(str(text))} is no name for a {what}: letters, digits and `_`, no digit first")
    return text


@dataclass(frozen=True, slots=True)
class Array:
    """An array of `size` words, each of which holds `initial` at first."""

    size: Value
    initial: Value = 0


@dataclass(slots=True)
class _Lines:
    """Lines of text, each with what it was made from."""

    text: list[str] = field(default_factory=list)
    origins: list[Span | None] = field(default_factory=list)

    def add(self, text: str, at: Span | None = None) -> None:
        self.text.append(text)
        self.origins.append(at)

    def extend(self, other: _Lines) -> None:
        self.text += other.text
        self.origins += other.origins


class ThreadBuilder:
    """The statements of a thread, one after the other; every method returns the builder.

    `at` is the span of what the statement was made from, which diagnostics then name. Blocks are `with` statements.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._lines = _Lines()
        self._depth = 1
        self._after_if = -1

    def statement(self, text: str, *, at: Span | None = None) -> ThreadBuilder:
        """Append one statement without a block, as the language writes it: `"r = x"`, `"put B.y = x"`."""
        self._add(_piece(text, "a statement"), at)
        return self

    def assign(self, register: str, value: Value, *, at: Span | None = None) -> ThreadBuilder:
        """`register = value`; the value may read one variable of the thread's node."""
        return self._line(f"{_piece(register, 'a register')} = {_piece(value, 'a value')}", at)

    read = assign
    """`register = variable`."""

    def write(self, variable: str, value: Value, *, at: Span | None = None) -> ThreadBuilder:
        """`variable = value`, over registers and constants."""
        return self._line(f"{_piece(variable, 'a variable')} = {_piece(value, 'a value')}", at)

    def cas(self, variable: str, expected: Value, new: Value, *, into: str = "", at: Span | None = None) -> ThreadBuilder:
        """`into = cas(variable, expected, new)`; without `into` the old value goes nowhere."""
        call = f"cas({_piece(variable, 'a variable')}, {_piece(expected, 'a value')}, {_piece(new, 'a value')})"
        return self._line(f"{_piece(into, 'a register')} = {call}" if into else call, at)

    def put(self, target: str, source: Value, *, at: Span | None = None) -> ThreadBuilder:
        """`put target = source`: the target is `NODE.variable`, the source a variable of this node or a constant."""
        return self._line(f"put {_piece(target, 'a target')} = {_piece(source, 'a source')}", at)

    def get(self, target: str, source: str, *, at: Span | None = None) -> ThreadBuilder:
        """`get target = source`: the target is a variable of this node, the source `NODE.variable`."""
        return self._line(f"get {_piece(target, 'a target')} = {_piece(source, 'a source')}", at)

    def poll(self, node: str, *, at: Span | None = None) -> ThreadBuilder:
        return self._line(f"poll {_word(node, 'node')}", at)

    def rfence(self, node: str, *, at: Span | None = None) -> ThreadBuilder:
        return self._line(f"rfence {_word(node, 'node')}", at)

    def assume(self, condition: Value, *, at: Span | None = None) -> ThreadBuilder:
        """`assume condition`, which may read one variable: where it fails the execution is set aside."""
        return self._line(f"assume {_piece(condition, 'a condition')}", at)

    def await_(self, condition: Value, *, at: Span | None = None) -> ThreadBuilder:
        """`await condition`, which may read one variable: wait until it holds; a thread for which it never does hangs."""
        return self._line(f"await {_piece(condition, 'a condition')}", at)

    def check(self, condition: Value, *, at: Span | None = None) -> ThreadBuilder:
        """`assert condition`."""
        return self._line(f"assert {_piece(condition, 'a condition')}", at)

    def halt(self, *, at: Span | None = None) -> ThreadBuilder:
        return self._line("halt", at)

    def skip(self, *, at: Span | None = None) -> ThreadBuilder:
        return self._line("skip", at)

    @contextmanager
    def when(self, condition: Value, *, at: Span | None = None) -> Iterator[ThreadBuilder]:
        """`if condition { ... }`, which :meth:`otherwise` may follow."""
        with self._block(f"if {_piece(condition, 'a condition')} {{", at):
            yield self
        self._after_if = len(self._lines.text)

    @contextmanager
    def otherwise(self) -> Iterator[ThreadBuilder]:
        """`else { ... }` of the `when` that has just ended. Raises UsageError if there is none."""
        if self._after_if != len(self._lines.text):
            raise UsageError(f"thread {self.name}: `otherwise` must follow a block of `when`")
        self._lines.text[-1] += " else {"
        self._depth += 1
        yield self
        self._end()

    @contextmanager
    def loop_while(self, condition: Value, *, at: Span | None = None) -> Iterator[ThreadBuilder]:
        """`while condition { ... }`."""
        with self._block(f"while {_piece(condition, 'a condition')} {{", at):
            yield self

    @contextmanager
    def loop(self, *, at: Span | None = None) -> Iterator[ThreadBuilder]:
        """`loop { ... }`: any number of times."""
        with self._block("loop {", at):
            yield self

    @contextmanager
    def choose(self, *, at: Span | None = None) -> Iterator[ChooseBuilder]:
        """`choose { ... } or { ... }`: a block for every `branch()`. Raises UsageError if there is none."""
        branches = ChooseBuilder(self, at)
        yield branches
        if not branches.count:
            raise UsageError(f"thread {self.name}: a `choose` without a branch")

    @contextmanager
    def _block(self, head: str, at: Span | None) -> Iterator[None]:
        self._add(head, at)
        self._depth += 1
        yield
        self._end()

    def _end(self) -> None:
        self._depth -= 1
        self._add("}", None)

    def _line(self, text: str, at: Span | None) -> ThreadBuilder:
        self._add(text, at)
        return self

    def _add(self, text: str, at: Span | None) -> None:
        self._lines.add("  " * self._depth + text, at)


class ChooseBuilder:
    """The branches of a `choose`."""

    def __init__(self, thread: ThreadBuilder, at: Span | None) -> None:
        self.thread = thread
        self.count = 0
        self._at = at

    @contextmanager
    def branch(self) -> Iterator[ThreadBuilder]:
        """Return the builder for one more branch."""
        thread = self.thread
        if self.count:
            thread._lines.text[-1] += " or {"
        else:
            thread._add("choose {", self._at)
        self.count += 1
        thread._depth += 1
        yield thread
        thread._end()


class AutomatonBuilder:
    """A thread as an automaton: it goes from location to location, from `start` until it is at `end`."""

    def __init__(self, name: str, start: str, end: str) -> None:
        self.name = name
        self._lines = _Lines()
        self._numbers = {start: 0}
        self._number(end)
        self._end = self._numbers[end]
        self._edges: list[ShapeEdge] = []

    def edge(
        self, source: str, target: str, action: str = "skip", *, when: Value = "", at: Span | None = None
    ) -> AutomatonBuilder:
        """Add an edge that makes one statement without a block, where `when`, over registers, holds.

        What goes wrong in it, a division by zero for one, ends the execution. Raises UsageError for an edge out of `end`.
        """
        if self._number(source) == self._end:
            raise UsageError(f"thread {self.name} is over at location {quote(source)}: no edge leaves it")
        made = _piece(action, "an action")
        word = made.split()[0]
        if word in ("reg", "halt"):
            instead = "registers are declared with the automaton" if word == "reg" else "an edge to the end location ends it"
            raise UsageError(f"thread {self.name}: {quote(word)} is no action of an edge; {instead}")
        if when != "":
            self._lines.add(f"  assume {_piece(when, 'a guard')}", at)
        self._lines.add(f"  {made}", at)
        self._edges.append(ShapeEdge(self._number(source), self._number(target), when != ""))
        return self

    def _number(self, location: str) -> int:
        return self._numbers.setdefault(location, len(self._numbers))

    def shape(self) -> Shape:
        """Return how the edges hang together. Raises UsageError if a location cannot be reached from the start."""
        reached, todo = {0}, [0]
        while todo:
            at = todo.pop()
            new = {e.target for e in self._edges if e.source == at} - reached
            reached |= new
            todo += new
        for location, number in self._numbers.items():
            if number not in reached and number != self._end:
                others = [name for name, n in self._numbers.items() if n in reached]
                hint = did_you_mean(location, others)
                raise UsageError(f"thread {self.name} never comes to location {quote(location)}{hint and f'; {hint}'}")
        return Shape(0, self._end, tuple(self._edges))


@dataclass(slots=True)
class _Declared:
    head: str
    builder: ThreadBuilder | AutomatonBuilder
    at: Span | None


class ProgramBuilder:
    """A program, declaration by declaration. `domain` is (least, greatest), needed for arithmetic."""

    def __init__(self, name: str, *, domain: tuple[int, int] | None = None, loopback: bool = False) -> None:
        self.name = _word(name, "program")
        self._head = _Lines()
        self._head.add(f"program {self.name}")
        if loopback:
            self._head.add("allow loopback")
        if domain is not None:
            least, greatest = (_piece(bound, "a bound of the domain") for bound in domain)
            self._head.add(f"domain {least}..{greatest}")
        self._threads: list[_Declared] = []
        self._tail = _Lines()

    def constant(self, name: str, value: Value, *, at: Span | None = None) -> ProgramBuilder:
        """`const name = value`."""
        self._head.add(f"const {_word(name, 'constant')} = {_piece(value, 'a value')}", at)
        return self

    def node(self, name: str, variables: Mapping[str, Value | Array] | Sequence[str] = (), **more: Value | Array) -> str:
        """Declare a node with variables, each with its initial value or :class:`Array`; names alone begin with 0.

        Returns the name of the node.
        """
        named = dict(variables) if isinstance(variables, Mapping) else dict.fromkeys(variables, 0)
        cells = []
        for variable, initial in {**named, **more}.items():
            size = f"[{_piece(initial.size, 'a size')}]" if isinstance(initial, Array) else ""
            value = initial.initial if isinstance(initial, Array) else initial
            cells.append(f"{_word(variable, 'variable')}{size} = {_piece(value, 'an initial value')}")
        self._head.add(f"node {_word(name, 'node')} {{ {', '.join(cells)} }}")
        return name

    def thread(self, name: str, on: str, *, at: Span | None = None, **registers: Value) -> ThreadBuilder:
        """Declare a thread with its registers and their initial values; return the builder of its statements."""
        builder = ThreadBuilder(_word(name, "thread"))
        self._declare(builder, on, registers, at)
        return builder

    def automaton(
        self, name: str, on: str, start: str, end: str, *, at: Span | None = None, **registers: Value
    ) -> AutomatonBuilder:
        """Declare a thread that is an automaton; return the builder of its edges."""
        builder = AutomatonBuilder(_word(name, "thread"), start, end)
        self._declare(builder, on, registers, at)
        return builder

    def _declare(
        self, builder: ThreadBuilder | AutomatonBuilder, on: str, registers: Mapping[str, Value], at: Span | None
    ) -> None:
        for register, value in registers.items():
            builder._lines.add(f"  reg {_word(register, 'register')} = {_piece(value, 'an initial value')}", at)
        self._threads.append(_Declared(f"thread {builder.name} on {_word(on, 'node')} {{", builder, at))

    def outcome(self, condition: str, *, at: Span | None = None, **claims: Claims) -> ProgramBuilder:
        """`outcome condition : ...`, with `sc` or `rdma` (or both) as "allowed" or "forbidden"."""
        said = ", ".join(f"{_word(claim, 'claim')} under {_word(model, 'model')}" for model, claim in claims.items())
        if not said:
            raise UsageError('an outcome without a claim: say `sc="forbidden"`, or `rdma="allowed"`')
        self._tail.add(f"outcome {_piece(condition, 'a condition')} : {said}", at)
        return self

    def expect(self, robust: bool) -> ProgramBuilder:
        """`expect robust` or `expect not robust`."""
        self._tail.add(f"expect {'robust' if robust else 'not robust'}")
        return self

    def expect_hang(self, under: Literal["sc", "rdma"], hangs: bool = True) -> ProgramBuilder:
        """`expect hang under MODEL`, or `expect no hang under MODEL`."""
        self._tail.add(f"expect {'' if hangs else 'no '}hang under {_word(under, 'model')}")
        return self

    @property
    def text(self) -> str:
        """The program as a text; the statements of an automaton stand in the order of its edges."""
        return "\n".join(self._lines().text) + "\n"

    def _lines(self) -> _Lines:
        lines = _Lines()
        lines.extend(self._head)
        for each in self._threads:
            lines.add(each.head, each.at)
            lines.extend(each.builder._lines)
            lines.add("}")
        lines.extend(self._tail)
        return lines

    def program(self, file: str = "") -> Program:
        """Return the checked program; `file` is its name in messages, by default that of the program.

        Raises ProgramError with everything that is wrong, and UsageError for automata that do not hang together.
        """
        file = file or self.name
        origins = self._lines().origins
        shapes = {d.builder.name: d.builder.shape() for d in self._threads if isinstance(d.builder, AutomatonBuilder)}

        def origin(span: Span) -> Span:
            found = origins[span.line - 1] if 0 < span.line <= len(origins) else None
            return span if found is None else replace(span, origin=found)

        try:
            program = load_automata(self.text, file, shapes) if shapes else load_program(self.text, file)
        except ProgramError as error:
            told = tuple(replace(d, span=origin(d.span)) for d in error.diagnostics)
            raise ProgramError(file, self.text, told) from None
        if not shapes:
            return moved(program, origin)
        return with_listing(moved(program, lambda span: origin(span).origin or NO_SPAN))
