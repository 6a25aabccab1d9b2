"""Programs made in Python: from statements, or from automata with locations and edges.

Names and expressions are those of the language, as text or as numbers; what is wrong is said as for a text, with the line
of the program as it would be written. A program of statements has such a text. One with automata has none: its source is
its canonical listing (`language.flow.canonical`), and what edits text, `repair`, refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from rdma_robust.build_lines import SourceLines, StatementLines, Value, order_piece, piece, whole_line, word
from rdma_robust.diagnose import did_you_mean, quote
from rdma_robust.digraph import reachable
from rdma_robust.errors import NO_SPAN, ProgramError, Span, UsageError
from rdma_robust.language.check.control import AutomatonShape, ShapeEdge
from rdma_robust.language.flow.canonical import with_listing
from rdma_robust.language.flow.cfg import Program, Thread, moved_step, steps
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_automata, load_program

Claims = Literal["allowed", "forbidden"]


@dataclass(frozen=True, slots=True)
class Array:
    """An array of `size` words, each of which holds `initial` at first."""

    size: Value
    initial: Value = 0


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A variable, or an array, in a relaxed memory region: `relaxed` before its name."""

    initial: Value | Array = 0


@dataclass(frozen=True, slots=True)
class Sync:
    """A variable, or an array, that is meant for synchronisation: `sync` before its name. It may be :class:`Relaxed` too."""

    initial: Value | Array | Relaxed = 0


Initial = Value | Array | Relaxed | Sync
"""What a variable begins with."""


class ThreadBuilder(StatementLines):
    """The statements of a thread, one after the other; every method returns the builder.

    `at` is the span of what the statement was made from, which diagnostics then name. Blocks are `with` statements.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._after_if = -1

    @contextmanager
    def when(self, condition: Value, *, at: Span | None = None) -> Iterator[ThreadBuilder]:
        """`if condition { ... }`, which :meth:`otherwise` may follow."""
        with self._block(f"if {piece(condition, 'a condition')} {{", at):
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
        with self._block(f"while {piece(condition, 'a condition')} {{", at):
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
        self._lines = SourceLines()
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
        made = piece(action, "an action")
        first = made.split()[0]
        if first in ("reg", "halt"):
            instead = (
                "registers are declared with the automaton" if first == "reg" else "an edge to the end location ends it"
            )
            raise UsageError(f"thread {self.name}: {quote(first)} is no action of an edge; {instead}")
        if when != "":
            self._lines.add(f"  assume {piece(when, 'a guard')}", at)
        self._lines.add(f"  {made}", at)
        self._edges.append(ShapeEdge(self._number(source), self._number(target), when != ""))
        return self

    def declaration(self, line: str, *, at: Span | None = None) -> AutomatonBuilder:
        """Add a declaration before the first edge: a lane, `qp q to B`, or receives, `posted x from T`."""
        self._lines.add(f"  {piece(line, 'a declaration')}", at)
        return self

    @property
    def lines(self) -> SourceLines:
        """What was written."""
        return self._lines

    def _number(self, location: str) -> int:
        return self._numbers.setdefault(location, len(self._numbers))

    def shape(self) -> AutomatonShape:
        """Return how the edges hang together. Raises UsageError if a location cannot be reached from the start."""
        targets: dict[int, set[int]] = {}
        for each in self._edges:
            targets.setdefault(each.source, set()).add(each.target)
        reached = reachable([0], targets)
        for location, number in self._numbers.items():
            if number not in reached and number != self._end:
                others = [name for name, n in self._numbers.items() if n in reached]
                hint = did_you_mean(location, others)
                raise UsageError(f"thread {self.name} never comes to location {quote(location)}{hint and f'; {hint}'}")
        return AutomatonShape(0, self._end, tuple(self._edges))


@dataclass(slots=True)
class _Declarations:
    head: str
    builder: ThreadBuilder | AutomatonBuilder
    at: Span | None


class ProgramBuilder:
    """A program, declaration by declaration. `domain` is (least, greatest), needed for arithmetic."""

    def __init__(self, name: str, *, domain: tuple[int, int] | None = None, loopback: bool = False) -> None:
        self.name = word(name, "program")
        self._head = SourceLines()
        self._head.add(f"program {self.name}")
        if loopback:
            self._head.add("allow loopback")
        if domain is not None:
            least, greatest = (piece(bound, "a bound of the domain") for bound in domain)
            self._head.add(f"domain {least}..{greatest}")
        self._threads: list[_Declarations] = []
        self._tail = SourceLines()

    def hardware(
        self,
        *,
        cpu: str = "",
        atomics: str = "",
        order: str = "",
        reads: str = "",
        send_depth: Value | None = None,
        rnr: str = "",
        at: Span | None = None,
    ) -> ProgramBuilder:
        """`hardware cpu tso, atomics glob, order relaxed, reads ordered, rnr wait, send depth 16`: what is named of it.

        An `order` may be the file of a table too, `mine.toml`, from the folder of the file of :meth:`program`, or flags of
        libfabric, `fi(RMA_WAW, SAS)`.
        """
        told = {"cpu": cpu, "atomics": atomics, "reads": reads, "rnr": rnr}
        settings = [f"{name} {word(value, 'setting')}" for name, value in told.items() if value]
        settings += [f"order {order_piece(order)}"] if order else []
        settings += [] if send_depth is None else [f"send depth {piece(send_depth, 'a depth')}"]
        if not settings:
            raise UsageError("a `hardware` line that says nothing: name cpu, atomics, order, reads, rnr or a depth")
        said = ", ".join(settings)
        self._head.add(f"hardware {said}", at)
        return self

    def head_line(self, line: str) -> ProgramBuilder:
        """A line before the nodes as the language writes it."""
        self._head.add(piece(line, "a line"))
        return self

    def tail_line(self, line: str, *, at: Span | None = None) -> ProgramBuilder:
        """A line behind the threads as the language writes it, such as `expect robust`."""
        self._tail.add(whole_line(line), at)
        return self

    def constant(self, name: str, value: Value, *, at: Span | None = None) -> ProgramBuilder:
        """`const name = value`."""
        self._head.add(f"const {word(name, 'constant')} = {piece(value, 'a value')}", at)
        return self

    def node(self, name: str, variables: Mapping[str, Initial] | Sequence[str] = (), via: str = "", **more: Initial) -> str:
        """Declare a node with variables, each with its initial value, :class:`Array`, :class:`Relaxed` or :class:`Sync`;
        names alone begin with 0. `via` names the node behind whose card its memory lies.

        Returns the name of the node.
        """
        named: dict[str, Initial] = dict(variables) if isinstance(variables, Mapping) else dict.fromkeys(variables, 0)
        cells = []
        for variable, given in {**named, **more}.items():
            said, initial = ("sync ", given.initial) if isinstance(given, Sync) else ("", given)
            region, initial = ("relaxed ", initial.initial) if isinstance(initial, Relaxed) else ("", initial)
            size = f"[{piece(initial.size, 'a size')}]" if isinstance(initial, Array) else ""
            value = initial.initial if isinstance(initial, Array) else initial
            cells.append(f"{said}{region}{word(variable, 'variable')}{size} = {piece(value, 'an initial value')}")
        behind = f" via {word(via, 'node')}" if via else ""
        self._head.add(f"node {word(name, 'node')}{behind} {{ {', '.join(cells)} }}")
        return name

    def thread(self, name: str, on: str, *, at: Span | None = None, **registers: Value) -> ThreadBuilder:
        """Declare a thread with its registers and their initial values; return the builder of its statements."""
        builder = ThreadBuilder(word(name, "thread"))
        self._declare(builder, on, registers, at)
        return builder

    def automaton(
        self, name: str, on: str, start: str, end: str, *, at: Span | None = None, **registers: Value
    ) -> AutomatonBuilder:
        """Declare a thread that is an automaton; return the builder of its edges."""
        builder = AutomatonBuilder(word(name, "thread"), start, end)
        self._declare(builder, on, registers, at)
        return builder

    def _declare(
        self, builder: ThreadBuilder | AutomatonBuilder, on: str, registers: Mapping[str, Value], at: Span | None
    ) -> None:
        for register, value in registers.items():
            builder._lines.add(f"  reg {word(register, 'register')} = {piece(value, 'an initial value')}", at)
        self._threads.append(_Declarations(f"thread {builder.name} on {word(on, 'node')} {{", builder, at))

    def outcome(self, condition: str, *, at: Span | None = None, **claims: Claims) -> ProgramBuilder:
        """`outcome condition : ...`, with models (`sc`, `tso`, `pso`, `rma`, `rdma`) as "allowed" or "forbidden"."""
        said = ", ".join(f"{word(claim, 'claim')} under {word(model, 'model')}" for model, claim in claims.items())
        if not said:
            raise UsageError('an outcome without a claim: say `sc="forbidden"`, or `rdma="allowed"`')
        self._tail.add(f"outcome {piece(condition, 'a condition')} : {said}", at)
        return self

    def invariant(self, condition: str, *, at: Span | None = None) -> ProgramBuilder:
        """`invariant condition`: true in every reachable state."""
        self._tail.add(f"invariant {piece(condition, 'a condition')}", at)
        return self

    def expect_safe(self, under: AnyModelName, safe: bool = True) -> ProgramBuilder:
        """`expect safe under MODEL`, or `expect unsafe under MODEL`."""
        self._tail.add(f"expect {'' if safe else 'un'}safe under {word(under, 'model')}")
        return self

    def expect(self, robust: bool) -> ProgramBuilder:
        """`expect robust` or `expect not robust`."""
        self._tail.add(f"expect {'robust' if robust else 'not robust'}")
        return self

    def expect_hang(self, under: Literal["sc", "rdma"], hangs: bool = True) -> ProgramBuilder:
        """`expect hang under MODEL`, or `expect no hang under MODEL`."""
        self._tail.add(f"expect {'' if hangs else 'no '}hang under {word(under, 'model')}")
        return self

    @property
    def text(self) -> str:
        """The program as a text; the statements of an automaton stand in the order of its edges."""
        return "\n".join(self.source_lines().text) + "\n"

    def source_lines(self) -> SourceLines:
        """Return the lines of the text, each with what it was made from."""
        lines = SourceLines()
        lines.extend(self._head)
        for each in self._threads:
            lines.add(each.head, each.at)
            lines.extend(each.builder.lines)
            lines.add("}")
        lines.extend(self._tail)
        return lines

    def program(self, file: str = "") -> Program:
        """Return the checked program; `file` is its name in messages, by default that of the program.

        Raises ProgramError with everything that is wrong, and UsageError for automata that do not hang together.
        """
        file = file or self.name
        origins = self.source_lines().origins
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
            return with_moved_spans(program, origin)
        return with_listing(with_moved_spans(program, lambda span: origin(span).origin or NO_SPAN))


def with_moved_spans(program: Program, move: Callable[[Span], Span]) -> Program:
    """Return `program` with every span of steps, faults, claims and messages as `move` says.

    Messages propose no edits any more: those were of the text that the spans were of.
    """
    return replace(
        program,
        threads=tuple(_moved(thread, move) for thread in program.threads),
        expectations=tuple(replace(each, span=move(each.span)) for each in program.expectations),
        needs=tuple(replace(each, span=move(each.span)) for each in program.needs),
        outcomes=tuple(replace(line, span=move(line.span)) for line in program.outcomes),
        invariants=tuple(replace(line, span=move(line.span)) for line in program.invariants),
        warnings=tuple(replace(warning, span=move(warning.span)) for warning in program.warnings),
        undecided=tuple(replace(error, span=move(error.span), edits=()) for error in program.undecided),
    )


def _moved(thread: Thread, move: Callable[[Span], Span]) -> Thread:
    return replace(thread, edges=tuple((source, target, moved_step(step, move)) for source, target, step in steps(thread)))
