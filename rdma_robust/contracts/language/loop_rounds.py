"""One round of a loop with a contract as a function of its own, and all of its rounds as a call.

A round begins in any state in which the invariants are true and the loop goes on, and ends in one in which they are true
again. What the registers of the loop's function are is an input: they stand beside the registers declared outside.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal

from rdma_robust.contracts.language.contract_program import (
    AssignedCells,
    AssignsClause,
    CollectiveLoop,
    Contract,
    ContractProgram,
    StateClause,
)
from rdma_robust.contracts.language.spec_terms import Agree, Apply, Global, OldValue, Parameter, Spec, SpecNumber
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.collective_loops import all_rounds, entry_parameter, one_round
from rdma_robust.messages.language.message_folding import fold_operation
from rdma_robust.messages.language.message_program import Assign, Block, Call, InlinedCall, Place, Process, inner_blocks


class NoRoundError(Exception):
    """A process never comes to the loop: says so."""


def agreed_condition(kind: Literal["collective", "local"], value: Spec) -> Spec:
    """Return that a value is the same at all processes that go through a loop: of a local function that is one."""
    return Agree(value) if kind == "collective" else SpecNumber(1)


def in_state(part: Any, names: frozenset[str]) -> Any:
    """Return an expression, or a clause, in which what are parameters of heads are registers of the state."""
    if isinstance(part, Parameter):
        return Global(part.name) if part.name in names else part
    if isinstance(part, tuple):
        return tuple(in_state(each, names) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    return replace(part, **{each.name: in_state(getattr(part, each.name), names) for each in fields(part)})


def round_program(program: ContractProgram, contract: Contract) -> ContractProgram:
    """Return a program in which one round of the loop whose contract this is has the name of the loop."""
    loop = contract.loop
    assert loop is not None
    made = _round(contract, loop)
    contracts = tuple(made if each.name == contract.name else each for each in program.contracts)
    return replace(program, contracts=contracts, globals=(*program.globals, *loop.locals))


def _round(contract: Contract, loop: CollectiveLoop) -> Contract:
    names = frozenset(loop.locals)
    guard: Spec = in_state(loop.guard, names)
    kept = [*loop.typed, *contract.clauses[1:]]
    invariants: list[StateClause] = [in_state(each, names) for each in kept]
    agreed = replace(contract.clauses[0], condition=agreed_condition(contract.kind, guard))
    starts = [
        agreed,
        StateClause("requires", guard, span=agreed.span),
        *loop.typed_before,
        *_counted(contract, loop, names),
        *in_state(loop.kept, names),
    ]
    ends = [replace(each, kind="ensures") for each in (agreed, *invariants)]
    if loop.decreases is not None:
        ends.append(_smaller(in_state(loop.decreases, names), agreed))
    cells = None
    if loop.globals is not None:
        cells = (AssignsClause((*in_state(loop.globals, names), *map(AssignedCells, loop.changes)), span=contract.span),)
    return Contract(
        contract.name,
        contract.kind,
        tuple(map(entry_parameter, loop.remembered)),
        False,
        (*starts, *invariants, *ends),
        cells,
        in_state(loop.paths, names),
        (*contract.bounds, *loop.bounds_before),
        loop.calls,
        contract.span,
        replace(loop, is_round=True),
    )


def _smaller(decreases: Spec, head: StateClause) -> StateClause:
    then = OldValue(decreases)
    smaller = Apply("&&", (Apply("<=", (SpecNumber(0), then)), Apply("<", (decreases, then))))
    return StateClause("ensures", smaller, None, head.span, "a round does not make `decreases` smaller, or it is negative,")


def _counted(contract: Contract, loop: CollectiveLoop, names: frozenset[str]) -> list[StateClause]:
    """Return what is known of the counter of a `for` where a round begins."""
    if loop.ends is None:
        return []
    low: Spec = in_state(loop.ends[0], names)
    counter = Global(loop.counter)
    same = agreed_condition(contract.kind, Apply("-", (counter, low)))
    return [StateClause("requires", each) for each in (Apply("<=", (low, counter)), same)]


def whole_contract(contract: Contract) -> Contract:
    """Return the contract of all rounds of a loop together: from the invariants to these, and that it does not go on."""
    loop = contract.loop
    assert loop is not None
    names = frozenset(loop.locals)
    first = contract.clauses[0]
    kept = [*loop.typed, *loop.typed_before, *contract.clauses[1:]]
    over: Spec = Apply("!", (in_state(loop.guard, names),))
    if loop.ends is not None:
        low, high = in_state(loop.ends, names)
        last = Apply("?", (Apply("<=", (low, high)), Apply("+", (high, SpecNumber(1))), low))
        over = Apply("==", (Global(loop.counter), last))
    ends = [StateClause("ensures", over), *(replace(in_state(each, names), kind="ensures") for each in kept)]
    frames = None if loop.globals is None else (AssignsClause((*loop.globals, *map(AssignedCells, loop.changes))),)
    return Contract(
        all_rounds(contract.name),
        contract.kind,
        (*map(entry_parameter, loop.remembered), *loop.locals),
        False,
        (replace(first, condition=agreed_condition(contract.kind, loop.guard)), *kept, *ends),
        frames,
        loop.paths,
        (),
        (),
        contract.span,
        loop,
    )


def loop_of(contract: Contract) -> str:
    """Return the name of the loop of which a contract made here is."""
    return contract.name.partition(".")[0]


def round_of(process: Process, contract: Contract, loop: CollectiveLoop) -> Process:
    """Return a process that executes one round instead of the function in which the loop is.

    Raises NoRoundError if the process never comes to the loop, whatever its inputs are.
    """
    found = _find(process.body, one_round(contract.name))
    if found is None:
        raise NoRoundError(f"process {process.name} never comes to the loop")
    given = dict(found.call.arguments)
    own = [(name, given[name]) for name in loop.locals]
    into = [Assign(Place(term.name), Name(name), found.span) for name, term in own if isinstance(term, Name)]
    out = [
        Assign(Place(name), fold_operation("+", term, Const(1)) if name == loop.counter else term, found.span)
        for name, term in own
    ]
    call = Call(tuple((entry_parameter(name), given[entry_parameter(name)]) for name in loop.remembered), "")
    body = InlinedCall(contract.name, (*into, replace(found, call=Call((), "")), *out), found.span, call)
    registers = dict.fromkeys((*loop.locals, *process.registers))
    return replace(process, body=(body,), registers=tuple(registers))


def _find(block: Block, name: str) -> InlinedCall | None:
    for statement in block:
        if isinstance(statement, InlinedCall) and statement.name == name:
            return statement
        for inner in inner_blocks(statement):
            found = _find(inner, name)
            if found is not None:
                return found
    return None
