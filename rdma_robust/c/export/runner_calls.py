"""A program of `.rdma` as C that runs it many times on a library, and compares what it saw with what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.c.export.c_statements import CLibrary, ThreadWriter
from rdma_robust.c.export.exported_program import ExportedProgram, NotInCError, indented
from rdma_robust.c.export.runner_c import FIRST, LAST, MPI, SHMEM, TURN, RunnerLibrary
from rdma_robust.c.export.runner_verbs import VERBS
from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.language.syntax import ast

_TEXTS: Final = {"shmem": SHMEM, "mpi": MPI, "verbs": VERBS}
_GLOBALS: Final = (
    "me",
    "memory",
    "block",
    "rounds",
    "state",
    "ended",
    "seed",
    "processes",
    "seen",
    "times",
    "entry",
    "owner",
    "ends",
    "context",
    "region",
    "pairs",
    "queues",
    "links",
    "given_up",
)
_HAS: Final = {
    "shmem": "put, get, atomics, poll, flush, order",
    "mpi": "put, get, atomics, poll, flush",
    "verbs": "put, get, atomics with an answer, poll",
}
_NO_LANES: Final = "a runner has one queue pair to each process, and no lanes"
_COMPILED: Final = {
    "shmem": "oshcc -o test FILE.c && oshrun -np {} ./test",
    "mpi": "mpicc -o test FILE.c && mpirun -n {} ./test",
    "verbs": "cc -o test FILE.c -libverbs; {} processes: RANK=0 ./test, RANK=1 HOST=THAT_OF_0 ./test, and so on",
}


@dataclass(frozen=True, slots=True)
class AllowedStates:
    """The final states that a program may have: names of words and registers, and the values, with whether sequential
    consistency has them too. Of those that it does not have, `given_up` are the guarantees that a NIC with this state does
    not give, also of states that are not allowed; None if that is not known."""

    names: tuple[str, ...]
    states: Sequence[tuple[tuple[int, ...], bool]]
    given_up: Mapping[tuple[int, ...], tuple[str, ...]] | None = field(default_factory=dict)


class RunnerCalls(CLibrary):
    """Calls of the C that goes around a test. A word has a number, a node is a process."""

    def __init__(self, given: ExportedProgram, library: RunnerLibrary) -> None:
        super().__init__(given)
        self.library = library
        nodes = [item for item in given.tree.items if isinstance(item, ast.NodeDeclaration)]
        self.nodes = {item.name.text: number for number, item in enumerate(nodes)}
        self.cells: list[tuple[int, Cell]] = []
        """The words with their processes; the number of a word is its place here."""
        self.numbers: dict[tuple[str, str], int] = {}
        for node, process in self.nodes.items():
            for name, cells in given.words_of(node).items():
                self.numbers[node, name] = len(self.cells)
                self.cells += [(process, cell) for cell in cells]
        given.taken |= {*re.findall(r"\b[A-Za-z_]\w*(?=\()", FIRST + _TEXTS[library] + LAST), *_GLOBALS}
        for item in nodes:
            if item.via is not None:
                given.refuse(NotInCError(item.span, "a library knows no memory behind the NIC of another process"))

    def begin(self, writer: ThreadWriter) -> None:
        writer.halts = True

    def word(self, thread: ast.ThreadDeclaration, name: str, index: str) -> str:
        return f"WORD({self._number(thread.node.text, name, index)})"

    def _number(self, node: str, name: str, index: str) -> str:
        number = self.numbers[node, name]
        return f"{number} + {index}" if index else str(number)

    def stored(self, place: str, value: str) -> str:
        return f"store(&{place}, {value});"

    def turn(self) -> list[str]:
        return ["if (turn())", "\tgoto end;"]

    def chosen(self, target: str, low: str, high: str) -> str:
        return f"{target} = any({low}, {high});"

    def awaited(self, word: str, comparison: str, value: str, *, aside: bool) -> str:
        if aside:
            return f"if (!({word} {comparison} {value})) {{ ended = 1; goto end; }}"
        return f"while (!({word} {comparison} {value})) if (turn()) goto end;"

    def assumed(self, condition: str, span: Span) -> str:
        del span
        return f"if (!({condition})) {{ ended = 1; goto end; }}"

    def asserted(self, condition: str) -> str:
        return f"(void)({condition});"

    @staticmethod
    def _call(name: str, *arguments: str | int) -> str:
        return f"{name}({', '.join(map(str, arguments))});"

    def _remote(self, writer: ThreadWriter, ref: ast.Ref) -> tuple[str, int]:
        """Return the number of a word of another process, and that process."""
        assert ref.owner is not None
        if self.library == "verbs" and ref.owner.text == writer.written.node.text:
            raise NotInCError(ref.span, "a test has no queue pair of a process with itself")
        index = "" if ref.index is None else writer.expression(ref.index)
        return self._number(ref.owner.text, ref.name.text, index), self.nodes[ref.owner.text]

    def request(self, writer: ThreadWriter, statement: ast.Statement) -> Iterable[str]:
        match statement:
            case ast.PutStatement(imm=None, flags=flags):
                return [self._put(writer, statement, self._flags(flags))]
            case ast.GetStatement(target, source, flags=flags):
                return [self._get(writer, target, source, self._flags(flags))]
            case ast.Call(call, flags=flags) if self.library != "verbs":
                self._flags(flags)
                return [self._update(writer, call)]
            case ast.PollStatement(node):
                return [self._call("completed_here", self._process(node))]
            case ast.FlushStatement(node) if self.library != "verbs":
                return [self._call("completed", self._process(node))]
            case ast.OrderStatement(node) if self.library == "shmem":
                return [self._call("ordered", self._process(node))]
            case ast.BarrierStatement(()):
                return [self._call("meet")]
            case _:
                message = "no call of this library does this"
                raise NotInCError(statement.span, message, f"{_HAS[self.library]} and barrier have one")

    def _process(self, node: ast.Ident) -> int:
        if node.text not in self.nodes:
            raise NotInCError(node.span, _NO_LANES, "name the node")
        return self.nodes[node.text]

    def _flags(self, flags: tuple[ast.Flag, ...]) -> tuple[str, ...]:
        """Return the argument of a request that has its flags; libraries have none. Raises NotInCError."""
        for flag in flags:
            if flag.word == "on":
                raise NotInCError(flag.span, _NO_LANES, "leave the lane out: requests to one process are on one queue pair")
            if flag.word == "fenced" and self.library != "verbs":
                raise NotInCError(flag.span, "no library has requests behind a fence", "`flush` is stronger than a fence")
        if self.library != "verbs":
            return ()
        words = {flag.word for flag in flags}
        names = {"IBV_SEND_SIGNALED": "unsignaled" not in words, "IBV_SEND_FENCE": "fenced" in words}
        return (" | ".join(name for name, is_set in names.items() if is_set) or "0",)

    def _put(self, writer: ThreadWriter, statement: ast.PutStatement, flags: tuple[str, ...]) -> str:
        number, process = self._remote(writer, statement.target)
        source = statement.source
        is_inline = any(flag.word == "inline" for flag in statement.flags)
        if not is_inline and isinstance(source, ast.Ref) and writer.words(source) == [source]:
            return self._call("put", writer.address(source), number, process, *flags)
        return self._call("put_value", writer.expression(source), number, process, *flags)

    def _get(self, writer: ThreadWriter, target: ast.Ref, source: ast.Expr, flags: tuple[str, ...]) -> str:
        own, verbs = writer.address(target), self.library == "verbs"
        match source:
            case ast.Ref():
                return self._call("get", own, *self._remote(writer, source), *flags)
            case ast.FetchCall(word) if not verbs:
                return self._call("fetch", own, *self._remote(writer, word))
            case ast.RmwCall(kind, word, value) if kind == "faa" or not verbs:
                name = "fetch_add" if kind == "faa" else "fetch_set"
                return self._call(name, own, *self._remote(writer, word), self._operand(writer, value), *flags)
            case ast.CasCall(word, expected, new):
                values = [self._operand(writer, each) for each in (expected, new)]
                return self._call("compare_set", own, *self._remote(writer, word), *values, *flags)
            case _:
                raise NotInCError(source.span, "no call of this library does this")

    def _update(self, writer: ThreadWriter, call: ast.AtomicCall) -> str:
        number, process = self._remote(writer, call.target)
        match call:
            case ast.RmwCall(kind, _, value):
                return self._call("add" if kind == "faa" else "set", number, process, self._operand(writer, value))
            case ast.CasCall(_, expected, new):
                values = [self._operand(writer, each) for each in (expected, new)]
                return self._call("compare_set", "0", number, process, *values)
            case _:
                raise NotInCError(call.span, "no call of this library does this")

    def _operand(self, writer: ThreadWriter, operand: ast.Expr) -> str:
        """Return an operand; MPI reads it where it lies, at any time until the operation is complete here."""
        if self.library == "mpi" and isinstance(operand, ast.Ref) and writer.words(operand) == [operand]:
            return f"(void *){writer.address(operand)}"
        if writer.words(operand):
            raise NotInCError(operand.span, "a library takes operands along when it is called", "read it into a register")
        found = writer.expression(operand)
        return f"kept({found})" if self.library == "mpi" else found


def runner(given: ExportedProgram, library: RunnerLibrary, allowed: AllowedStates) -> str:
    """Return the C of a test. Raises ProgramError where the library has no call for what the program does."""
    calls = RunnerCalls(given, library)
    bodies: dict[str, list[str]] = {}
    for written, thread in given.threads():
        writer = ThreadWriter(calls, written, thread)
        if written.node.text in bodies:
            given.refuse(NotInCError(written.span, "a runner has one thread for each process", "a node for each thread"))
        declared, lines = writer.body()
        entries = {name: allowed.names.index(f"{thread.name}.{name}") for name in writer.registers}
        recorded = [f"record({entries[name]}, {local});" for name, local in writer.registers.items()]
        bodies[written.node.text] = [*declared, *lines[:-1], *(recorded or ["\t;"])]
    given.report.raise_errors()
    return "\n".join(_lines(calls, bodies, allowed)) + "\n"


def _lines(calls: RunnerCalls, bodies: dict[str, list[str]], allowed: AllowedStates) -> Iterator[str]:
    processes = len(calls.nodes)
    yield f"/* `{calls.given.program.name}`, as `rdma-robust export --to {calls.library}-test` has written it:"
    yield f" * {_COMPILED[calls.library].format(processes)} */"
    if allowed.given_up is None:
        yield "/* Not all final states on weaker hardware were found, so that it does not say what a NIC has given up. */"
    states, given_up, widths = allowed.states, allowed.given_up or {}, [max(len(name), 2) for name in allowed.names]
    yield FIRST
    yield f"enum {{ PROCESSES = {processes}, WORDS = {len(calls.cells)} }};"
    known = [*(values for values, _ in states), *(each for each in given_up if each not in dict(states))]
    yield f"enum {{ STATES = {len(allowed.names)}, ALLOWED = {len(states)}, KNOWN = {len(known)} }};"
    if calls.library == "verbs":
        relaxed = calls.given.program.hardware.order == "relaxed" or all(cell.relaxed for _, cell in calls.cells)
        yield f"enum {{ RELAXED = {int(relaxed)} }};"
    yield _TEXTS[calls.library]
    yield from _table("static const long initial[WORDS]", (cell.init for _, cell in calls.cells))
    yield from _table("static const int owner[WORDS]", (process for process, _ in calls.cells))
    yield from _table("static const int entry[WORDS]", (allowed.names.index(str(cell)) for _, cell in calls.cells))
    yield from _table("static const int widths[STATES]", widths)
    yield f'static const char names[] = "{"".join(f" {name:>2}" for name in allowed.names)}";'
    yield "static const long known_states[KNOWN][STATES] = {"
    yield from (f"\t{{ {', '.join(map(str, values))} }}," for values in known)
    yield "};"
    yield "static const char *const given_up[KNOWN] = {"
    yield from (f'\t"{", ".join(given_up.get(values, ()))}",' for values in known)
    yield "};"
    yield from _table("static const char is_sc[ALLOWED]", (int(is_sc) for _, is_sc in states))
    yield TURN
    for node, lines in bodies.items():
        yield from (f"static void run_{node}(void)", "{", *indented(lines), "}", "")
    yield from ("static void run(void)", "{")
    yield from (f"\tif (me == {calls.nodes[node]})\n\t\trun_{node}();" for node in bodies)
    yield from ("}", LAST.strip("\n"))


def _table(declaration: str, values: Iterable[int]) -> Iterator[str]:
    yield f"{declaration} = {{ {', '.join(map(str, values))} }};"
