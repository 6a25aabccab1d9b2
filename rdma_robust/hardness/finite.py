"""Theorem 7.1(2) as a compiler: from a finite-state program and a target to a poll-free RDMA program.

The program is local: its threads read and write variables of their own node and swap, nothing remote. All its events are CPU
events, which are kept in order, so it is robust whatever it does. To it comes a gadget behind the target, `put Gadget.z = g`
and then `g = 1`, of which the card may read the new `g`. A violating trace needs both accesses of `g`, so the result is not
robust iff the target can be reached, and that is a question about sequential consistency. There is no poll in it.

A target that says that a thread has ended, and perhaps something of that thread's own registers, needs no more than the
gadget at the ends of that thread. For any other the state must be looked at as a whole, while nobody moves. Then every
step of a thread that touches memory is taken under a lock, one step at a time, and so is what a thread leaves when it
ends: a mark and its registers. A watcher takes the lock, never gives it back, reads what the target names one after the
other, and goes on to the gadget if the target holds. Whenever the lock is free, the memory is that of the original
program after some of its steps, and every order of steps is possible. A thread that waits or fails while it holds the lock
only ends a run, in which the same thread could as well have stood still before taking it; so nothing is lost that way.

Threads of different nodes have no memory in common, so a target about two nodes is two questions, and is refused.

Source: Abdulla, Atig, Govind, Spengler 2026, Section 7.2, Theorem 7.1(2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.counters.printing import show_expr
from rdma_robust.errors import Diagnostic, ProgramError, SizeLimitError, UsageError
from rdma_robust.expr import TRUE, Binary, Const, Expr, Name, conjunction_parts, names, substitute
from rdma_robust.hardness.symbols import comment_lines, laid_out, nested_lines
from rdma_robust.language.check.targets import StateTarget, ThreadAtExit, ThreadAtLine
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import (
    is_trencher,
    load_decidable,
    load_program_and_target,
    without_families,
    written_out_tree,
)
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.grammar import load_grammar
from rdma_robust.language.syntax.tree_limits import all_statements
from rdma_robust.text import free_name

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REMOTE: Final = (
    ast.PutStatement,
    ast.GetStatement,
    ast.PollStatement,
    ast.RFenceStatement,
    ast.FlushStatement,
    ast.OrderStatement,
)


@dataclass(frozen=True, slots=True)
class FiniteProgram:
    """The generated program: its text, the thread that has the gadget, and whether that is a watcher with a lock."""

    text: str
    thread: str
    watched: bool


def finite_program(text: str, file: str, target: str) -> FiniteProgram:
    """Return a poll-free program that is robust iff the local program in `text` cannot reach `target` under SC.

    A target is a condition over variables and `T ended`, and over registers of threads that it says have ended, as in
    `T1 ended && T1.r == 2 && A.x == 1`. Comments, `expect` and `outcome` lines are left out.

    Raises ProgramError for text that is no local program and for a target that means nothing in it, UsageError for a
    target of another kind, SizeLimitError if the result would exceed the limits of the language.
    """
    if not is_trencher(text, file):
        text, plain = without_families(text, file)
        for name, instead in plain.items():
            target = target.replace(name, instead)
    program, wanted = load_program_and_target(text, file, target)
    _refuse_remote(text, file)
    question = _question(program, wanted)
    writer = _Writer(program, question, written_out_tree(text, file))
    try:
        result = writer.program_with_gadget()
        load_decidable(result.text, file)
    except ProgramError as error:
        said = error.diagnostics[0].message
        raise SizeLimitError(f"the program with its target is beyond the limits of the language: {said}") from error
    return result


def _refuse_remote(text: str, file: str) -> None:
    """Raise ProgramError with every remote instruction."""
    found = tuple(
        Diagnostic(
            "error",
            "RR621",
            f"`{printer.statement(statement)}` is a remote instruction",
            statement.span,
            expected="a local program: reads, writes, compare-and-swap, branches and loops",
            hint="the reduction starts from sequential consistency and adds the only remote operation itself",
        )
        for statement in all_statements(written_out_tree(text, file))
        if isinstance(statement, _REMOTE)
    )
    if found:
        raise ProgramError(file, text, found)


@dataclass(frozen=True, slots=True)
class _Question:
    """`condition` over cells, marks `T ended` and registers; `ended` are the threads of the marks, each with the registers
    of it that are named. `alone` is the thread that the whole target is about, None for a watcher on `node`."""

    condition: Expr
    node: str
    ended: dict[str, tuple[str, ...]]
    alone: str | None


def _question(program: Program, target: StateTarget) -> _Question:
    """Sort out what a target is about. Raises UsageError for one that cannot be watched."""
    if any(isinstance(atom, ThreadAtLine) for _, atom in target.atoms):
        raise UsageError("a target `T at LINE` is not supported here; `T ended` is, and conditions over variables")
    threads = {thread.name: thread for thread in program.threads}
    ended = {atom.thread: name for name, atom in target.atoms if isinstance(atom, ThreadAtExit)}
    known = {name: TRUE for name, atom in target.atoms if not isinstance(atom, ThreadAtExit)}
    condition = substitute(target.condition, known)
    used = set(names(condition))
    for name in sorted(set(ended.values()) & set(_not_plain(condition))):
        raise UsageError(f"`{name}` can be asked for, not its contrary: it stands under `!` or in a comparison")
    surely = {part.name for part in conjunction_parts(condition) if isinstance(part, Name)}
    registers = {f"{t.name}.{r}": (t.name, r) for t in program.threads for r, _ in t.registers}
    for name in sorted(used & set(registers)):
        thread = registers[name][0]
        if ended.get(thread) not in surely:
            raise UsageError(f"{name} is a register of a running thread; add `{thread} ended &&` to ask for its last value")
    cells = {str(cell): cell for cell in program.cells}
    nodes = {cells[name].node for name in used & set(cells)} | {threads[t].node for t in ended}
    if len(nodes) > 1:
        raise UsageError(
            f"the target is about {' and '.join(sorted(nodes))}; threads of different nodes of a local program cannot "
            "influence one another, so ask about each node by itself"
        )
    if not program.nodes:
        raise UsageError("the program has no nodes, so there is nothing to ask about")
    asked = {t: tuple(r for r, _ in threads[t].registers if f"{t}.{r}" in used) for t in sorted(ended)}
    alone = next(iter(ended)) if len(ended) == 1 and set(ended.values()) <= surely and not used & set(cells) else None
    return _Question(condition, next(iter(nodes), program.nodes[0]), asked, alone)


def _not_plain(expr: Expr) -> Iterator[str]:
    """Yield the names that stand under anything but `&&` and `||`: for them it matters that a mark is set late."""
    match expr:
        case Binary("&&" | "||", left, right):
            yield from _not_plain(left)
            yield from _not_plain(right)
        case Name():
            pass
        case _:
            yield from names(expr)


class _Names:
    """Gives names that the program does not have, and two values of its domain."""

    def __init__(self, program: Program) -> None:
        self.taken = {*_WORD.findall(program.source), *load_grammar().keywords.values()}
        low, high = program.domain or (0, 1)
        if low == high:
            raise UsageError(f"a domain of the one value {low} leaves no room for a mark; let it have two")
        self.off, self.on = (0, 1) if low <= 0 < high else (low, low + 1)

    def fresh(self, wanted: str) -> str:
        """Return a new name, as like the wanted one as can be."""
        return free_name(wanted, self.taken)

    def initial(self, name: str) -> str:
        """Return the declaration of `name` with a value of the domain."""
        return f"{name} = {self.off}" if self.off else name


class _Writer:
    """Writes the program with its gadget, and with a watcher where the target needs one."""

    def __init__(self, program: Program, question: _Question, tree: ast.ProgramTree) -> None:
        self.program = program
        self.question = question
        self.tree = tree
        self.names = _Names(program)
        self.g, self.gadget, self.z = (self.names.fresh(name) for name in ("g", "Gadget", "z"))
        self.variables = [self.g]
        self.watched = question.alone is None
        if self.watched:
            self.lock = _Lock.of(self.variable("lock"), self.names)
            self.marks = {f"{t} ended": self.variable(f"{t}_ended") for t in question.ended}
            self.marks |= {f"{t}.{r}": self.variable(f"{t}_{r}") for t, named in question.ended.items() for r in named}
            self.watcher = self.names.fresh("Watcher")

    def variable(self, wanted: str) -> str:
        """Add a variable to the node of the target."""
        self.variables.append(self.names.fresh(wanted))
        return self.variables[-1]

    def program_with_gadget(self) -> FiniteProgram:
        heading = (
            f"{self.program.name} with a target: not robust iff it can be reached (Theorem 7.1).",
            f"Without `put {self.gadget}.{self.z}` all events are local, so nothing is reordered.",
        )
        threads = [
            line for item in self.tree.items if isinstance(item, ast.ThreadDeclaration) for line in ("", *self.thread(item))
        ]
        watcher = ["", *self.watch()] if self.watched else []
        text = laid_out([*comment_lines(heading), "", *self.declarations(), *threads, *watcher])
        return FiniteProgram(text, self.question.alone or self.watcher, self.watched)

    def declarations(self) -> Iterator[str]:
        """Yield everything but the threads, with what was added."""
        for item in self.tree.items:
            match item:
                case ast.ThreadDeclaration() | ast.OutcomeDeclaration() | ast.Expect() | ast.NeedsDeclaration():
                    pass
                case ast.NodeDeclaration(name, cells):
                    added = self.variables if name.text == self.question.node else []
                    mine = [*map(printer.cell_text, cells), *map(self.names.initial, added)]
                    yield from nested_lines(printer.item(item), mine)
                case _:
                    yield printer.item(item)
        yield from nested_lines(f"node {self.gadget}", [self.names.initial(self.z)])

    def thread(self, item: ast.ThreadDeclaration) -> list[str]:
        name, node = item.name.text, item.node.text
        guarded = self.shared_names(item) if self.watched and node == self.question.node else frozenset()
        lock = self.lock if self.watched and node == self.question.node else None
        body = _Body(guarded, lock, self.ending(name, lock))
        lines = body.thread(item.body)
        declared = [printer.statement(s) for s in item.body.statements if isinstance(s, ast.Registers)]
        if lock is not None and lock.take[0] in (line.strip() for line in lines):
            declared.append(f"reg {self.names.initial(lock.register)}")
        return nested_lines(printer.item(item), [*declared, *lines])

    def shared_names(self, item: ast.ThreadDeclaration) -> frozenset[str]:
        """Return the names of the variables of a thread's node."""
        node = next(n for n in self.tree.items if isinstance(n, ast.NodeDeclaration) and n.name.text == item.node.text)
        return frozenset(cell.name.text for cell in node.cells)

    def ending(self, thread: str, lock: _Lock | None) -> list[str]:
        """Return what a thread does when it ends."""
        if thread == self.question.alone:
            by = {f"{thread} ended": TRUE} | {f"{thread}.{r}": Name(r) for r in self.question.ended[thread]}
            return self.gadget_if(substitute(self.question.condition, by))
        if lock is None or thread not in self.question.ended:
            return []
        left = [f"{self.marks[f'{thread}.{r}']} = {r}" for r in self.question.ended[thread]]
        return [*lock.take, *left, f"{self.marks[f'{thread} ended']} = {self.names.on}", lock.give]

    def watch(self) -> list[str]:
        """Return the watcher: it takes the lock for good and reads what the target names."""
        lock = self.lock
        read = {name: self.names.fresh("seen") for name in sorted(set(names(self.question.condition)))}
        by: dict[str, Expr] = {}
        lines = [f"reg {', '.join(map(self.names.initial, (lock.register, *read.values())))}", *lock.take]
        for name, register in read.items():
            lines.append(f"{register} = {self.marks.get(name) or name.partition('.')[2]}")
            ended = name.endswith(" ended")
            by[name] = Binary("==", Name(register), Const(self.names.on)) if ended else Name(register)
        lines += self.gadget_if(substitute(self.question.condition, by))
        return nested_lines(f"thread {self.watcher} on {self.question.node}", lines)

    def gadget_if(self, condition: Expr) -> list[str]:
        test = [] if condition == TRUE else [f"assume {show_expr(condition)}"]
        return [*test, f"put {self.gadget}.{self.z} = {self.g}", f"{self.g} = {self.names.on}"]


@dataclass(frozen=True, slots=True)
class _Lock:
    """How a thread takes the lock and gives it back. One that comes too early waits forever; in other runs it does not."""

    register: str
    take: tuple[str, ...]
    give: str

    @staticmethod
    def of(lock: str, values: _Names) -> _Lock:
        register = values.fresh("got")
        take = (f"{register} = cas({lock}, {values.off}, {values.on})", f"assume {register} == {values.off}")
        return _Lock(register, take, f"{lock} = {values.off}")


@dataclass(frozen=True, slots=True)
class _Body:
    """Writes the statements of a thread: what mentions one of `guarded` under `lock`, and `ending` wherever it ends."""

    guarded: frozenset[str]
    lock: _Lock | None
    ending: list[str]

    def thread(self, block: ast.Block) -> list[str]:
        lines = self.block(block)
        return lines if _halts(block) else [*lines, *self.ending]

    def block(self, block: ast.Block) -> list[str]:
        """Return the statements up to a `halt`; declarations of registers are left out."""
        lines: list[str] = []
        for statement in block.statements:
            if not isinstance(statement, ast.Registers):
                lines += self.statement(statement)
            if isinstance(statement, ast.Halt):
                break
        return lines

    def statement(self, statement: ast.Statement) -> list[str]:
        match statement:
            case ast.Halt():
                return [*self.ending, "halt"]
            case ast.If(arms, otherwise):
                return self.branches(arms, otherwise)
            case ast.While(condition, body):
                take, give = self.around(printer.expression(condition))
                again = [] if _halts(body) else take
                return [*take, *nested_lines(printer.statement(statement), [*give, *self.block(body), *again]), *give]
            case ast.Loop(body):
                return nested_lines("loop", self.block(body))
            case ast.Choose(branches):
                heads = ["choose", *(["or"] * (len(branches) - 1))]
                return [
                    line for head, part in zip(heads, branches, strict=True) for line in nested_lines(head, self.block(part))
                ]
            case _:
                take, give = self.around(printer.statement(statement))
                return [*take, printer.statement(statement), *give]

    def branches(self, arms: Sequence[ast.Arm], otherwise: ast.Block | None) -> list[str]:
        """Return an `if`: between two conditions that look at memory the lock is given back, so others may move."""
        first, rest = arms[0], arms[1:]
        take, give = self.around(printer.expression(first.condition))
        then = nested_lines(f"if {printer.expression(first.condition)}", [*give, *self.block(first.block)])
        other = self.branches(rest, otherwise) if rest else self.block(otherwise) if otherwise else []
        if rest and not give and other[0].startswith("if "):
            return [*take, *then, f"else {other[0]}", *other[1:]]
        return [*take, *then, *(nested_lines("else", [*give, *other]) if give or other else [])]

    def around(self, text: str) -> tuple[list[str], list[str]]:
        """Return how to take and give back the lock, both empty if what `text` does needs none."""
        if self.lock is None or self.guarded.isdisjoint(_WORD.findall(text)):
            return [], []
        return [*self.lock.take], [self.lock.give]


def _halts(block: ast.Block) -> bool:
    return any(isinstance(statement, ast.Halt) for statement in block.statements)
