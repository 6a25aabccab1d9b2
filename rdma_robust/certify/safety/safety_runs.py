"""UNSAFE certificates: a run at whose end something happens that the program forbids.

The checker follows the run in its own reduction of the program, in which then nothing is reduced: every value is a number,
buffers and pending sets have room for the whole run, and every move is made when the run says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rdma_robust.certify.document import integer, json_array, json_members, json_word, natural, reject, string
from rdma_robust.certify.safety.models import reduced_program
from rdma_robust.certify.safety.reduced_program import PlacedState, ReducedProgram, ReducedStep
from rdma_robust.certify.safety.safety_states import doubts_of
from rdma_robust.certify.safety.thread_steps import Variables
from rdma_robust.certify.safety.wide_updates import WideAssumption
from rdma_robust.expr import Const, substitute
from rdma_robust.language.flow.cfg import Nondet, Program

KIND: Final = "safety-run"

STEP: Final = "step"
READ: Final = "read"
WRITE: Final = "write"
STORE: Final = "store"


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """A move: thread `thread` takes step number `step` (a `nondet` draws `value`), the card reads or writes for the
    operation that it posted there (writes `value`), or its oldest store to `word` reaches memory."""

    thread: int
    does: str
    step: int
    word: int
    value: int | None


def check_unsafe_run(program: Program, model: str, evidence: object) -> str:
    """Check that the run proves `program` unsafe under `model` and return what it is, in a few words.

    Raises InvalidCertificate with the reason if it does not.
    """
    found = json_members(evidence, "`evidence`", ("kind", "moves"))
    moves = json_array(found["moves"], "`evidence.moves`", _reader(program))
    system = reduced_program(Variables(program, frozenset(), {}), model, len(moves) + 1, lazy=False)
    here = {system.initial()}
    faults: set[str] = set()
    for number, move in enumerate(moves):
        taken = [each for state in here for each in _following(system, state, move)]
        here = {each.to for each in taken if each.to is not None}
        if not here:
            name = program.threads[move.thread].name
            reject(f"move {number}, a {move.does} of thread {name}, is not possible there under model {model}")
        faults = {each.fault.message for each in taken if each.fault is not None}
    claims = {doubt.claim for state in here for doubt in doubts_of(system, state) if isinstance(doubt.condition, Const)}
    if not faults and not claims:
        reject("nothing that the program forbids happens at the end of the run")
    return f"a run of {len(moves)} moves to: {min(faults or claims)}"


def _reader(program: Program) -> Callable[[object, str], MoveRecord]:
    threads = {thread.name: t for t, thread in enumerate(program.threads)}
    words = {str(cell): i for i, cell in enumerate(program.cells)}

    def read(value: object, where: str) -> MoveRecord:
        item = json_members(value, where, ("thread", "does", "step", "word", "value"))
        thread = string(item["thread"], f"{where}.thread")
        if thread not in threads:
            reject(f"{where}.thread: the program has no {thread!r:.60}")
        word = None if item["word"] is None else string(item["word"], f"{where}.word")
        if word is not None and word not in words:
            reject(f"{where}.word: the program has no {word!r:.60}")
        return MoveRecord(
            threads[thread],
            json_word(item["does"], f"{where}.does", (STEP, READ, WRITE, STORE)),
            -1 if item["step"] is None else natural(item["step"], f"{where}.step"),
            -1 if word is None else words[word],
            None if item["value"] is None else integer(item["value"], f"{where}.value"),
        )

    return read


def _following(system: ReducedProgram, state: PlacedState, move: MoveRecord) -> Iterator[ReducedStep]:
    for taken in _moves(system, state, move):
        if taken.to is not None and not any(isinstance(update, WideAssumption) for update in taken.updates):
            yield taken


def _moves(system: ReducedProgram, state: PlacedState, move: MoveRecord) -> Iterable[ReducedStep]:
    t = move.thread
    if move.does != STEP:
        return system.own_moves(state, t, move.does, step=move.step, word=move.word, value=move.value)
    if system.busy(state, t) is not None:
        return ()
    return _steps(system, state, move)


def _steps(system: ReducedProgram, state: PlacedState, move: MoveRecord) -> Iterator[ReducedStep]:
    t = move.thread
    for instruction in system.code[t].at.get(state.points[t], ()):
        if instruction.number != move.step:
            continue
        op = instruction.step.op
        if not isinstance(op, Nondet):
            yield from system.step(state, t, instruction)
        elif move.value is not None:
            values = system.code[t].values(state.registers[t])
            low, high = (None if end is None else substitute(end, values) for end in (op.low, op.high))
            above = low is None or (isinstance(low, Const) and low.value <= move.value)
            if above and (high is None or (isinstance(high, Const) and move.value <= high.value)):
                yield from system.finish(state, t, instruction, move.value)
