"""Requests that threads hand to their NICs, compiled for the machines of RDMA as deployed: the rows of the event table.

Source: docs/deployed.md ("Events", "The machine").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, NamedTuple

from rdma_robust.errors import UsageError
from rdma_robust.expr import TRUE, VALUE, Expr, is_value, names
from rdma_robust.kept import Kept
from rdma_robust.language.flow.cfg import Cell, Fault, Program, Step, Thread, named_lane
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.connections import connection_numbers
from rdma_robust.semantics.event_table import Act, Agent, Case, cases_of, operands_read
from rdma_robust.semantics.kinds import NIC_TYPES, Kind, asked_word, kind_of_words, kinds_on, makes_variant
from rdma_robust.semantics.machines.threadcode import Registers, ThreadCode
from rdma_robust.semantics.order_table import behind_poll, ippo_scope, nfo_between, oppo_scope, visible_when_polled
from rdma_robust.semantics.terms import Evaluator, Term, read_at, term_of
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, EventType


@cache
def kind_bits(memories: tuple[str, ...]) -> Mapping[Kind, int]:
    """Return a bit for each kind of events, where these memories lie behind cards."""
    return {kind: 1 << i for i, kind in enumerate(kinds_on(memories))}


class WaitRule(NamedTuple):
    """A rule for what holds back an event of a kind on its queue pair, as sets of kinds; `bit` is its own.

    `issued` are the kinds of which every earlier event must have been issued first (ippo), and `done` those of which every
    earlier one must have taken effect (oppo). `flushed` are the kinds of writes that must have left their buffer (nfo): a
    card's read pushes them out, those to a memory behind the card also out of the buffers of other queue pairs. `polled`
    are the kinds of which every earlier event must have taken effect if it was posted behind a poll of that one's
    completion, and `on_word` those of which every earlier one on its word must have (and so is issued: the read of an
    atomic waits, and its write for that). Reads and fences are issued and take effect at once, a write when it leaves its
    buffer.
    """

    bit: int
    issued: int
    done: int
    flushed: int
    polled: int = 0
    on_word: int = 0


@cache
def nic_rules(model: Model, memories: tuple[str, ...] = ()) -> Mapping[Kind, WaitRule]:
    """Return the rules of a model, where these memories lie behind cards.

    Raises UsageError for one that the machine cannot run: its CPUs take effect at once and do not wait for the card.
    """
    for t in NIC_TYPES:
        for scope in (ippo_scope, oppo_scope):
            if scope(EventType.LR, t, model) != "all" or scope(t, EventType.LR, model) != "-":
                raise UsageError(f"the RDMA machine does not know this model: {model}")
    bits = kind_bits(memories)
    return {later: _waits(later, bits, model) for later in bits}


def _waits(later: Kind, bits: Mapping[Kind, int], model: Model) -> WaitRule:
    def among(kept: Callable[[Kind], bool]) -> int:
        return sum(bit for earlier, bit in bits.items() if kept(earlier))

    ordered = behind_poll(model)
    return WaitRule(
        bits[later],
        among(lambda earlier: ippo_scope(earlier, later, model) == "qp"),
        among(lambda earlier: oppo_scope(earlier, later, model) == "qp"),
        among(lambda other: nfo_between(other, later, model)),
        among(lambda earlier: ordered is not None and oppo_scope(earlier, later, ordered) == "qp"),
        among(lambda earlier: oppo_scope(earlier, later, model) == "word"),
    )


NOWHERE: Final = -1

WHOLE: Final[Model] = replace(RDMA, atomics="glob")
"""The hardware whose atomics are one event: under sequential consistency all are."""


@dataclass(frozen=True, slots=True)
class CardEvent:
    """One event of the card. `cell` is the number of the word that it touches, NOWHERE if it touches none.

    A write is issued first, and lands later; everything else takes effect at once, nA writes as well. `value` is what is
    written; for a message it is the data for its buffer, None if it leaves that alone, and `imm` its immediate.
    `completing`: the operation completes with it, when it has taken effect if it is to be `placed`, else when it is issued.
    Of a message with data the `kind` is that of a plain buffer, and it can take none of the `unfit` words.
    """

    act: Act
    kind: Kind
    cell: int
    reads: bool
    writes: bool
    value: Evaluator | None = None
    imm: Evaluator | None = None
    message: bool = False
    completing: bool = False
    unfit: frozenset[int] = frozenset()
    placed: bool = False

    @property
    def type(self) -> EventType:
        return self.act.type

    @property
    def buffered(self) -> bool:
        return self.type in NIC_WRITE_TYPES


@dataclass(frozen=True, slots=True)
class RequestWay:
    """One case of the event table: what the card does, if `when` (None: always) holds of what was read."""

    parts: tuple[CardEvent, ...]
    when: Evaluator | None = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class CardRequest:
    """A request that a step hands to the card. `inline` is the word that the CPU reads when it posts it, NOWHERE if there
    is none.

    `needs` are the registers whose values it takes along, by number. `connection` is the number of the one that its message
    goes over, or NOWHERE. Of so many `operands` in memory the values stand behind the registers, once they are read.
    `union` are the kinds of events that it may make but for operands, as bits of :func:`kind_bits`.
    """

    step: Step
    ways: tuple[RequestWay, ...]
    inline: int
    needs: tuple[int, ...]
    signaled: bool
    connection: int
    union: int
    operands: int = 0

    @property
    def decided(self) -> bool:
        """Whether it can only go one way."""
        return len(self.ways) == 1

    def taken(self, registers: Registers) -> Registers:
        """Return the registers that it takes along, with 0 for all others and for operands in memory."""
        return (*[value if i in self.needs else 0 for i, value in enumerate(registers)], *(0,) * self.operands)

    @property
    def opening(self) -> int:
        """How many events it has before it is known which way it goes: operands, and the read behind them."""
        return self.operands + 1

    def with_operand(self, env: Registers, number: int, value: int) -> Registers:
        """Return what it has taken along, where this was read of an operand."""
        place = len(env) - self.operands + number
        return (*env[:place], value, *env[place + 1 :])

    def way(self, env: Registers, value: int) -> int:
        """Return which way it goes, by its number, where this value was read."""
        return next(i for i, way in enumerate(self.ways) if way.when is None or way.when((*env, value), 0))


_REQUESTS: Final = Kept[tuple[str, Model], "tuple[CardRequest | None, ...]"]()


def compile_requests(program: Program, code: ThreadCode, model: Model) -> tuple[CardRequest | None, ...]:
    """Return what the commands of a thread hand to the card, by their numbers; None for those that are the CPU's alone.

    It is compiled once for each thread of a program: the commands of all of its codes have the same numbers.
    """

    def compiled() -> tuple[CardRequest | None, ...]:
        compiler = _Compiler(program, code.thread, model)
        return tuple(compiler.request(command.step) if command.requests else None for command in code.commands)

    return _REQUESTS.of(program, (code.thread.name, model), compiled)


class _Compiler:
    def __init__(self, program: Program, thread: Thread, model: Model) -> None:
        self.model = model
        self.slots = {name: i for i, (name, _) in enumerate(thread.registers)}
        self.registers = {name: read_at(i) for name, i in self.slots.items()}
        self.env: dict[str, Term] = {}
        self.cells = {cell: i for i, cell in enumerate(program.cells)}
        self.threads = {each.name: i for i, each in enumerate(program.threads)}
        self.number = self.threads[thread.name]
        self.connections = connection_numbers(program)
        self.bits = kind_bits(program.memories)
        self.void = frozenset(i for cell, i in self.cells.items() if cell.void)

    def request(self, step: Step) -> CardRequest:
        cases = cases_of(step.op, self.model)
        operands = {name: read_at(len(self.slots) + k) for k, name in enumerate(operands_read(step.op))}
        value = read_at(len(self.slots) + len(operands))
        self.env = {**self.registers, **operands, VALUE.name: value}
        acts = [act for case in cases for act in case.acts]
        first = cases[0].acts[0]
        inline = first.agent is Agent.CPU
        ways = tuple(self._way(case, inline, step.op) for case in cases)
        used = [case.when for case in cases]
        for act in acts:
            used += [value for _, value in act.writes]
            used += [e for e in ((act.message.data, act.message.imm) if act.message else ()) if e is not None]
        needs = {self.slots[n] for expr in used for n in names(expr) if not is_value(n)}
        lane, to = named_lane(step.op), next((act.peer for act in acts if act.peer is not None), None)
        return CardRequest(
            step,
            ways,
            self._cell(first.reads[0]) if inline else NOWHERE,
            tuple(sorted(needs)),
            any(act.completes for act in acts),
            NOWHERE if to is None else self.connections[self.number, self.threads[to], lane],
            sum({self.bits[part.kind] for way in ways for part in way.parts if not part.act.operand}),
            len(operands),
        )

    def _way(self, case: Case, inline: bool, op: object) -> RequestWay:
        when = None if case.when == TRUE else self._of(case.when)
        asked = asked_word(op)
        parts = (self._part(act, asked, makes_variant(act.type, op)) for act in case.acts[inline:])
        return RequestWay(tuple(parts), when, case.fault)

    def _part(self, act: Act, asked: Cell | None, variant: bool) -> CardEvent:
        if act.message is not None:
            data = None if act.message.data is None else self._of(act.message.data)
            imm = self._of(act.message.imm)
            unfit = frozenset[int]() if data is None else self.void
            placed = visible_when_polled(act.type, self.model)
            kind = kind_of_words(act.type, None, variant=variant)
            return CardEvent(act, kind, NOWHERE, False, True, data, imm, True, act.completing, unfit, placed)
        cell = act.cell
        value = None if act.written is None else self._of(act.written)
        where = NOWHERE if cell is None else self._cell(cell)
        kind = kind_of_words(act.type, cell, asked if act.type is EventType.NLW else None, variant=variant)
        placed = visible_when_polled(kind, self.model)
        reads, writes = bool(act.reads), bool(act.writes)
        return CardEvent(act, kind, where, reads, writes, value, completing=act.completing, placed=placed)

    def _of(self, expr: Expr) -> Evaluator:
        return term_of(expr, self.env).of

    def _cell(self, cell: Cell) -> int:
        return self.cells[cell]
