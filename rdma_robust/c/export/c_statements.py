"""The statements of a thread as C. What a CPU does alone is the same for every library; the rest the library says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rdma_robust.c.export.exported_program import ExportedProgram, NotInCError, indented
from rdma_robust.errors import Span
from rdma_robust.expr import COMPARISONS, MIRRORED, Name, names, opposite, substitute
from rdma_robust.language.flow.canonical import canonical_expression
from rdma_robust.language.flow.cfg import Thread
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.expressions import chain_text
from rdma_robust.language.syntax.printer import needs_brackets, reference
from rdma_robust.text import free_name

_LARGEST_INT: Final = 2**31 - 1


class CLibrary(ABC):
    """The calls of a library. Methods return lines of C, or raise NotInCError; names are those of the program."""

    def __init__(self, given: ExportedProgram) -> None:
        self.given = given

    @abstractmethod
    def begin(self, writer: ThreadWriter) -> None:
        """Look at a thread before it is written."""

    @abstractmethod
    def word(self, thread: ast.ThreadDeclaration, name: str, index: str) -> str:
        """Return a variable of the own node, or the one of an array with an index, as C names it."""

    def stored(self, place: str, value: str) -> str:
        """Return the line that writes a word of the own node."""
        return f"{place} = {value};"

    def turn(self) -> list[str]:
        """Return what is done in each turn of a loop on top of what the program does."""
        return []

    @abstractmethod
    def request(self, writer: ThreadWriter, statement: ast.Statement) -> Iterable[str]:
        """Return the lines of what a thread asks others for, or waits for: all but what a CPU does with its own memory."""

    @abstractmethod
    def chosen(self, target: str, low: str, high: str) -> str:
        """Return the line that gives a register any value from one to another."""

    @abstractmethod
    def awaited(self, word: str, comparison: str, value: str, *, aside: bool) -> str:
        """Return the line that waits until a word compares so with a value; or sets all other runs `aside`."""

    @abstractmethod
    def assumed(self, condition: str, span: Span) -> str:
        """Return the line that sets runs aside where a condition over registers fails."""

    @abstractmethod
    def asserted(self, condition: str) -> str:
        """Return the line that claims a condition."""

    def atomic(self, word: str, address: str, operands: Sequence[str]) -> str:
        """Return an atomic operation of the CPU on a word of its own node, as an expression."""
        if word == "cas":
            return f"__sync_val_compare_and_swap({address}, {operands[0]}, {operands[1]})"
        if word == "faa":
            return f"__atomic_fetch_add({address}, {operands[0]}, __ATOMIC_SEQ_CST)"
        return f"__atomic_exchange_n({address}, {operands[0]}, __ATOMIC_SEQ_CST)"

    def halted(self) -> str:
        """Return the line that ends a thread."""
        return "goto end;"


class ThreadWriter:
    """Writes the statements of one thread."""

    def __init__(self, library: CLibrary, written: ast.ThreadDeclaration, thread: Thread) -> None:
        self.library, self.written, self.thread = library, written, thread
        self.given = library.given
        self.taken: set[str] = set()
        self.registers: dict[str, str] = {}
        self.locals: dict[str, tuple[str, str]] = {}
        """Locals that no register is, by what was wanted, with their types."""
        self.halts = False
        self.fences: dict[str, str] = {}
        """Locals with the flag of a fence that the next request of a queue pair is to have, by what the library says."""
        self.unpolled: set[str] = set()
        """Queue pairs whose completions, without end, nobody takes: no request on them needs one."""
        self.kept = ""
        """The word that a local holds while an expression is written."""

    def body(self) -> tuple[list[str], list[str]]:
        """Return the declarations of the thread's registers and other locals, and its statements."""
        self.taken = set(self.given.taken)
        self.registers = {name: free_name(name, self.taken) for name, _ in self.thread.registers}
        self.library.begin(self)
        lines = self.block(self.written.body)
        declared = [f"long {self.registers[name]} = {value};" for name, value in self.thread.registers]
        more = [f"{kind} {name} = 0;" for name, kind in self.locals.values()]
        return [*declared, *more], [*lines, *(["end:", "\t;"] if self.halts else [])]

    def local(self, wanted: str, kind: str = "long") -> str:
        """Return a local of the C that no register is: one of each name."""
        if wanted not in self.locals:
            self.locals[wanted] = free_name(wanted, self.taken), kind
        return self.locals[wanted][0]

    def block(self, block: ast.Block) -> list[str]:
        """Return the lines of a block. What cannot be written is reported and left out."""
        lines: list[str] = []
        for statement in block.statements:
            try:
                lines += self._without_faults(statement)
                lines += self.statement(statement)
            except NotInCError as error:
                self.given.refuse(error)
        return lines

    def _without_faults(self, statement: ast.Statement) -> Iterator[str]:
        """Yield what sets runs aside in which a value leaves its range here, or an index its array: both end a run of the
        program, and C goes on."""
        if isinstance(statement, (ast.If, ast.While, ast.Loop, ast.Choose)):
            return
        local = {name: Name(written) for name, written in self.registers.items()}
        for _, _, step in self.thread.edges:
            is_here = statement.span.start <= step.span.start and step.span.end <= statement.span.end
            ends = step.fault is not None and step.fault.kind in ("overflow", "index out of range")
            if is_here and ends and local.keys() >= set(names(step.guard)):
                condition = canonical_expression(opposite(substitute(step.guard, local)))
                yield self.library.assumed(condition, statement.span)

    def _braced(self, head: str, block: ast.Block) -> list[str]:
        return [f"{head} {{", *(f"\t{line}" for line in self.block(block)), "}"]

    def statement(self, statement: ast.Statement) -> Iterable[str]:
        """Return the lines of a statement."""
        match statement:
            case ast.Registers() | ast.LabelStatement() | ast.Skip() | ast.Lanes():
                return ()
            case ast.Assign():
                return [self._assign(statement)]
            case ast.Call(call) if not self.is_remote(call.target):
                return [f"{self.expression(call)};"]
            case ast.MFenceStatement():
                return ["__atomic_thread_fence(__ATOMIC_SEQ_CST);"]
            case ast.Assume():
                return [self._assume(statement)]
            case ast.Assert(condition):
                return [self.library.asserted(self.reading(condition))]
            case ast.Halt():
                self.halts = True
                return [self.library.halted()]
            case ast.If():
                return self._if(statement)
            case ast.While(condition, body):
                lines = self._braced(f"while ({self.reading(condition)})", body)
                if len(lines) == 2 and not self.library.turn():
                    return [lines[0].removesuffix(" {"), "\t;"]
                return [lines[0], *indented(self.library.turn()), *lines[1:]]
            case ast.Loop(body):
                way = self.local("way")
                lines = self._braced("for (;;)", body)
                return [lines[0], f"\t{self.library.chosen(way, '0', '1')}", f"\tif ({way} == 0)", "\t\tbreak;", *lines[1:]]
            case ast.Choose():
                return self._choose(statement)
            case _:
                return self.library.request(self, statement)

    def _if(self, statement: ast.If) -> Iterator[str]:
        head = "if"
        for arm in statement.arms:
            *lines, last = self._braced(f"{head} ({self.reading(arm.condition)})", arm.block)
            yield from lines
            head = "} else if"
        if statement.otherwise is not None:
            yield from self._braced("} else", statement.otherwise)
        else:
            yield last

    def _choose(self, statement: ast.Choose) -> Iterator[str]:
        way = self.local("way")
        yield self.library.chosen(way, "0", str(len(statement.branches) - 1))
        for number, branch in enumerate(statement.branches):
            last = number == len(statement.branches) - 1
            condition = "else" if last else f"{'else ' * (number > 0)}if ({way} == {number})"
            lines = self._braced(condition if number == 0 else f"}} {condition}", branch)
            yield from lines if last else lines[:-1]

    def _assign(self, statement: ast.Assign) -> str:
        target, value, is_register = self.place(statement.target), statement.value, self.is_register(statement.target)
        if isinstance(value, ast.NondetCall):
            if value.low is None or value.high is None:
                raise NotInCError(value.span, "a value of any size is none of C", "give it a range: nondet(0, 3)")
            low, high = self.expression(value.low), self.expression(value.high)
            if is_register and not statement.op:
                return self.library.chosen(target, low, high)
            way = self.local("way")
            return f"{self.library.chosen(way, low, high)} {self.library.stored(target, way)}"
        if statement.op:
            return f"{target} = {target} {statement.op} ({self.reading(value)});"
        return f"{target} = {self.reading(value)};" if is_register else self.library.stored(target, self.reading(value))

    def _assume(self, statement: ast.Assume) -> str:
        condition, aside = statement.condition, statement.keyword == "assume"
        words = self.words(condition)
        if not words and aside:
            return self.library.assumed(self.expression(condition), statement.span)
        found = self._comparison(condition)
        if found is None:
            message = f"`{statement.keyword}` of more than a comparison of one location is no call of C"
            raise NotInCError(statement.span, message, "compare one location with registers and constants")
        word, comparison, value = found
        return self.library.awaited(self.place(word), comparison, self.expression(value), aside=aside)

    def _comparison(self, condition: ast.Expr) -> tuple[ast.Ref, str, ast.Expr] | None:
        """Return the word, the comparison and the value that a condition is made of."""
        if isinstance(condition, ast.Binary) and condition.op in COMPARISONS:
            for one, other, op in (
                (condition.left, condition.right, condition.op),
                (condition.right, condition.left, MIRRORED[condition.op]),
            ):
                if isinstance(one, ast.Ref) and self.words(one) and not self.words(other):
                    return one, op, other
        if isinstance(condition, ast.Ref) and self.words(condition):
            return condition, "!=", ast.NumberLiteral(0)
        return None

    # expressions

    def is_register(self, ref: ast.Ref) -> bool:
        """Whether a name stands for a register."""
        return ref.owner is None and ref.name.text in self.registers

    def is_remote(self, ref: ast.Ref) -> bool:
        """Whether a name stands for a word of another node, or of the own one by way of a card."""
        return ref.owner is not None and (ref.owner.text != self.written.node.text or self.given.program.allow_loopback)

    def words(self, expr: ast.Expr) -> list[ast.Ref]:
        """Return what an expression reads of memory, from left to right, atomics left out."""
        return [ref for ref, _ in self._read(expr, True)]

    def _read(self, expr: ast.Expr, always: bool) -> Iterator[tuple[ast.Ref, bool]]:
        """Yield what is read of memory, and whether it is whatever else is found."""
        match expr:
            case ast.Ref():
                if expr.index is not None:
                    yield from self._read(expr.index, always)
                if not self.is_register(expr) and not self._is_constant(expr):
                    yield expr, always
            case ast.Unary(_, arg):
                yield from self._read(arg, always)
            case ast.Binary(op, left, right):
                yield from self._read(left, always)
                yield from self._read(right, always and op not in ("&&", "||"))

    def _is_constant(self, ref: ast.Ref) -> bool:
        names = {name for name, _ in self.given.program.constants}
        return ref.owner is None and ref.index is None and ref.name.text in names and not self._is_word(ref.name.text)

    def _is_word(self, name: str) -> bool:
        return name in self.given.words_of(self.written.node.text)

    def reading(self, expr: ast.Expr) -> str:
        """Return an expression that may read one word of memory, which it does once, as the statement does."""
        found = list(self._read(expr, True))
        if len(found) < 2:
            return self.expression(expr)
        if not found[0][1]:
            message = "a location that is named twice behind `&&` or `||` is read once, which this C does not say"
            raise NotInCError(expr.span, message, "read it into a register first")
        seen = self.local("seen")
        place = self.place(found[0][0])
        self.kept = reference(found[0][0])
        text = f"({seen} = {place}, {self.expression(expr)})"
        self.kept = ""
        return text

    def expression(self, expr: ast.Expr) -> str:
        """Return an expression."""
        match expr:
            case ast.NumberLiteral(value):
                return f"{value}L" if value > _LARGEST_INT else str(value)
            case ast.Ref():
                if self.kept and reference(expr) == self.kept:
                    return self.local("seen")
                return self.place(expr)
            case ast.Unary(op, arg):
                text = self.expression(arg)
                return f"{op}({text})" if isinstance(arg, ast.Binary | ast.Unary) else f"{op}{text}"
            case ast.Binary():
                return chain_text(expr, self._operand)
            case ast.CasCall(target, expected, new):
                return self.library.atomic("cas", self.address(target), [self.expression(expected), self.expression(new)])
            case ast.RmwCall(kind, target, value):
                return self.library.atomic(kind, self.address(target), [self.expression(value)])
            case _:
                raise NotInCError(expr.span, "this is no expression of C")

    def _operand(self, part: ast.Expr, op: str, right: int, _last: bool) -> str:
        text = self.expression(part)
        return f"({text})" if isinstance(part, ast.Binary) and needs_brackets(part.op, op, right) else text

    def place(self, ref: ast.Ref) -> str:
        """Return a register, a constant, or a word of the own node."""
        if self.is_register(ref):
            return self.registers[ref.name.text]
        if self._is_constant(ref):
            value = dict(self.given.program.constants)[ref.name.text]
            return f"({value})" if value < 0 else str(value)
        if ref.owner is not None and ref.owner.text != self.written.node.text:
            raise NotInCError(
                ref.span, "memory behind the NIC of another node is not said in C", "one node with the words of both"
            )
        index = "" if ref.index is None else self.expression(ref.index)
        return self.library.word(self.written, ref.name.text, index)

    def address(self, ref: ast.Ref) -> str:
        """Return the address of a word of the own node."""
        return f"&{self.place(ref)}"
