"""A function with a contract as n processes that each execute it once: what the engines run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import islice, product
from typing import Final, cast

from rdma_robust.contracts.language.contract_program import Contract, ContractProgram, InputBounds, StateClause
from rdma_robust.contracts.language.loop_rounds import round_of
from rdma_robust.contracts.language.spec_terms import Agree, Global, On, Parameter, Spec, spec_conjuncts
from rdma_robust.contracts.language.spec_worth import CollectiveState, clause_holds, spec_value
from rdma_robust.diagnose import Reporter
from rdma_robust.errors import RdmaRobustError
from rdma_robust.expr import Const, Name
from rdma_robust.language.syntax import ast
from rdma_robust.limits import NEVER, Poll
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_names import Declarations
from rdma_robust.messages.language.message_program import (
    Block,
    InlinedCall,
    MessageProgram,
    Place,
    Process,
    Statement,
    with_blocks,
)
from rdma_robust.messages.language.message_scope import ProcessScope
from rdma_robust.messages.language.message_terms import FaultError, Term, Value, require_number
from rdma_robust.messages.language.message_world import (
    COLLECTIVE,
    MAX_STATEMENTS,
    GlobalScope,
    ProcessDraft,
    TooLargeError,
    library_world,
)
from rdma_robust.messages.language.writing_out import Writer


@dataclass(frozen=True, slots=True)
class FunctionInstance:
    """A function written out for n processes.

    Every process of `program` has one statement: the call of the function, inlined, whose `call` names its parameters'
    registers and that of its result. Registers have no first values here: those of parameters and globals are the inputs,
    others are 0.
    Calls in it are inlined too, with their `call`. A library procedure that another one calls is named `$reduce` where the
    file has a function `reduce`: it is another one, and no contract speaks of it.
    """

    function: str
    procs: int
    program: MessageProgram


class TooManyStatements(Exception):
    """The function is too large once it is written out for so many processes."""


def instance(program: ContractProgram, function: str, procs: int) -> FunctionInstance:
    """Return `function`, which is of the program or the library, for `procs` processes.

    Of a loop it is one round. Raises KeyError if there is no such function, TooManyStatements, and NoRoundError.
    """
    report = Reporter(program.file, program.source)
    world = Declarations(report, frozenset()).read(cast(ast.ProgramTree, program.tree))
    world.processes = procs
    contract = program.contract(function)
    loop = None if contract is None else contract.loop
    found = world.function(function if loop is None else loop.function)
    if found is None:
        raise KeyError(function)
    written = ProcessDraft(MAX_STATEMENTS)
    processes = []
    try:
        for number in range(procs):
            written = ProcessDraft(written.left, dict.fromkeys(program.globals), loops=True)
            process = _process(found, Const(number), world, report, written)
            processes.append(process if contract is None or loop is None else round_of(process, contract, loop))
    except TooLargeError as too_large:
        raise TooManyStatements(str(too_large)) from too_large
    ports = ("", *world.ports, COLLECTIVE)
    made = MessageProgram(function, program.file, program.source, tuple(processes), ports)
    return FunctionInstance(function, procs, made)


def _process(
    function: tree.FunctionItem, number: Term, world: GlobalScope, report: Reporter, written: ProcessDraft
) -> Process:
    scope = ProcessScope(world, report, number, {})
    scope.strict = False
    entered = Writer(scope, library_world(world), written).entered(function)
    body = (replace(entered, body=_told_apart(entered.body, world)),)
    span = report.at(function.name.span)
    name = f"P[{number.value}]" if isinstance(number, Const) else "P"
    return Process(name, body, tuple(written.registers), tuple(written.requests), span=span)


def _told_apart(block: Block, world: GlobalScope) -> Block:
    """Return statements in which library procedures do not have the names of the file's functions."""
    return tuple(_one_told_apart(with_blocks(each, lambda inner: _told_apart(inner, world)), world) for each in block)


def _one_told_apart(statement: Statement, world: GlobalScope) -> Statement:
    if isinstance(statement, InlinedCall) and statement.of_library and statement.name in world.functions:
        return replace(statement, name=f"${statement.name}")
    return statement


def unwritten(program: ContractProgram, function: str) -> tuple[InlinedCall, MessageProgram]:
    """Return `function` as a process executes it whose number is the register `PID`, of `NPROCS` processes, and its program.

    The only process of that program has the function as its statement. Raises KeyError and TooManyStatements as `instance`.
    """
    report = Reporter(program.file, program.source)
    world = Declarations(report, frozenset()).read(cast(ast.ProgramTree, program.tree))
    world.processes = 0
    found = world.function(function)
    if found is None:
        raise KeyError(function)
    written = ProcessDraft(MAX_STATEMENTS, dict.fromkeys(world.globals))
    try:
        process = _process(found, Name("PID"), world, report, written)
    except TooLargeError as too_large:
        raise TooManyStatements(str(too_large)) from too_large
    (body,) = process.body
    assert isinstance(body, InlinedCall)
    ports = ("", *world.ports, COLLECTIVE)
    return body, MessageProgram(function, program.file, program.source, (process,), ports)


MOST_INPUTS: Final = 1_000_000
"""Inputs of one process, before `requires` of all processes together excludes some."""

MOST_LENGTH: Final = 1_000
"""Elements of an array of an input."""

_INDICES: Final = ("i", "j")

OneInput = dict[str, Value]


class UnboundedInputsError(RdmaRobustError):
    """The inputs cannot be enumerated: says why, as the reason of UNKNOWN."""


def inputs_of(
    contract: Contract, globals_: Sequence[str], unread: frozenset[str], procs: int, poll: Poll = NEVER
) -> Iterator[tuple[OneInput, ...]]:
    """Yield the inputs within bounds that meet `requires`: for each process its parameters and globals by their names.

    What is `unread`, and has no bounds, is 0.

    Raises NoInputsError for one that has no bounds but is read, for bounds in which a fault occurs, and for too many inputs.
    """
    choice = _Choice(contract, tuple(globals_), unread, procs, poll)
    yield from choice.together([list(choice.own(each)) for each in range(procs)], ())


def inputs_of_one(
    contract: Contract, globals_: Sequence[str], unread: frozenset[str], alone: tuple[int, int], poll: Poll = NEVER
) -> Iterator[tuple[OneInput, ...]]:
    """Yield the inputs of a local function in one of so many processes; those of the others have no names. Else as above."""
    process, procs = alone
    choice = _Choice(contract, tuple(globals_), unread, procs, poll)
    for one in choice.own(process):
        yield tuple(one if each == process else {} for each in range(procs))


@dataclass(frozen=True, slots=True)
class _Choice:
    """Chooses inputs process by process, and drops what `requires` cannot be true for whatever the other processes have."""

    contract: Contract
    globals: tuple[str, ...]
    unread: frozenset[str]
    procs: int
    poll: Poll

    def own(self, process: int) -> Iterator[OneInput]:
        """Yield the inputs of one process that do not make false what `requires` says of it alone."""
        names = (*self.contract.parameters, *self.globals)
        bounds = {each.name: each for each in self.contract.bounds}
        free = [each for each in names if each not in bounds and each not in self.unread]
        if free:
            raise UnboundedInputsError(f"needs bounds: {', '.join(free)} may be anything")
        alone = [each for each in self._required() if _looks_at_itself(each)]
        values = [self._values(bounds[each], process) if each in bounds else [0] for each in names]
        for number_, chosen in enumerate(self.poll.each(product(*values))):
            if number_ >= MOST_INPUTS:
                raise UnboundedInputsError(f"process {process} alone has more than {MOST_INPUTS:,} inputs within the bounds")
            one = dict(zip(names, chosen, strict=True))
            state = self._of_one(one, process)
            if all(clause_holds(each, state, process, self.poll) for each in alone):
                yield one

    def together(self, own: list[list[OneInput]], chosen: tuple[OneInput, ...]) -> Iterator[tuple[OneInput, ...]]:
        """Yield what all processes have together, where the first ones have `chosen`."""
        process = len(chosen)
        if process == self.procs:
            state = CollectiveState.at_entry(self._part(chosen, self.contract.parameters), self._part(chosen, self.globals))
            required = [each for each in self.contract.clauses if each.kind == "requires"]
            if all(clause_holds(each, state, at, self.poll) for each in required for at in range(self.procs)):
                yield chosen
            return
        for one in self.poll.each(own[process]):
            if all(self._agree(each, chosen, one) for each in self._agreed()):
                yield from self.together(own, (*chosen, one))

    def _required(self) -> Iterator[StateClause]:
        """Yield what `requires` says, clause by clause, and those that are a conjunction in parts."""
        for clause in self.contract.clauses:
            if clause.kind == "requires":
                parts = spec_conjuncts(clause.condition) if clause.assumes is None else [clause.condition]
                yield from (replace(clause, condition=each) for each in parts)

    def _agreed(self) -> list[Spec]:
        """Return what all processes must have the same, and which each can compute by itself."""
        required = (each.condition for each in self._required() if each.assumes is None)
        return [each.value for each in required if isinstance(each, Agree) and _alone(each.value)]

    def _agree(self, spec: Spec, chosen: tuple[OneInput, ...], one: OneInput) -> bool:
        try:
            first = spec_value(spec, self._of_one(chosen[0] if chosen else one, 0), 0, poll=self.poll)
            return first == spec_value(spec, self._of_one(one, len(chosen)), len(chosen), poll=self.poll)
        except FaultError:
            return False

    def _of_one(self, one: OneInput, process: int) -> CollectiveState:
        (parameters,), (globals_,) = self._part((one,), self.contract.parameters), self._part((one,), self.globals)
        return CollectiveState.of_one(self.procs, process, parameters, globals_)

    def _part(self, inputs: tuple[OneInput, ...], names: Sequence[str]) -> tuple[OneInput, ...]:
        return tuple({name: each[name] for name in names} for each in inputs)

    def _values(self, bounds: InputBounds, process: int) -> list[Value]:
        try:
            found = list(islice(self._arrays(bounds, bounds.lengths, {}, process), MOST_INPUTS + 1))
        except FaultError as fault:
            raise UnboundedInputsError(
                f"the bounds of {bounds.name} have no meaning in process {process}: {fault}"
            ) from None
        if len(found) > MOST_INPUTS:
            raise UnboundedInputsError(f"{bounds.name} has more than {MOST_INPUTS:,} values within its bounds")
        return found

    def _arrays(
        self, bounds: InputBounds, lengths: tuple[tuple[Spec, Spec], ...], indices: dict[str, Value], process: int
    ) -> Iterator[Value]:
        """Yield the values within bounds of an element with these indices: a number, or arrays by their lengths."""

        def range_of(low: Spec, high: Spec) -> range:
            nothing = CollectiveState.of_one(self.procs, process, {}, {})
            first, last = (require_number(spec_value(each, nothing, process, indices)) for each in (low, high))
            if last - first >= MOST_INPUTS:
                raise UnboundedInputsError(f"{bounds.name} has more than {MOST_INPUTS:,} values within its bounds")
            return range(first, last + 1)

        if not lengths:
            if bounds.low is None or bounds.high is None:
                raise UnboundedInputsError(f"needs bounds: the elements of {bounds.name} may be anything")
            yield from range_of(bounds.low, bounds.high)
            return
        index = _INDICES[len(indices)]
        for length in self.poll.each(range_of(*lengths[0])):
            if length > MOST_LENGTH:
                raise UnboundedInputsError(f"{bounds.name} may have more than {MOST_LENGTH:,} elements")
            if length < 0:
                continue
            yield from product(
                *(list(self._arrays(bounds, lengths[1:], {**indices, index: at}, process)) for at in range(length))
            )


def _looks_at_itself(clause: StateClause) -> bool:
    return _alone(clause.condition) and (clause.assumes is None or _alone(clause.assumes))


def _alone(spec: Spec) -> bool:
    """Whether what `spec` is worth depends on nothing but the process for which it is evaluated."""
    return not any(isinstance(each, On | Agree) for each in records_in(spec))


def records_in(spec: object) -> Iterator[object]:
    """Yield a record of expressions and all records in it: of clauses too, and of contracts."""
    if isinstance(spec, tuple):
        for each in spec:
            yield from records_in(each)
    elif is_dataclass(spec):
        yield spec
        for part in fields(spec):
            yield from records_in(getattr(spec, part.name))


# Which parameters and globals of a function nothing looks at, so that their values do not matter.


def unread_inputs(program: ContractProgram, contract: Contract, written: FunctionInstance) -> frozenset[str]:
    """Return the parameters and globals of a function whose values no statement and no clause looks at.

    With an `assigns`, a global that is stored to is looked at: it must be what it was.
    """
    read: set[str] = set()
    callees: set[str] = set()
    parameters: dict[str, str] = {}
    for process in written.program.processes:
        (own,) = process.body
        assert isinstance(own, InlinedCall)
        parameters |= {term.name: name for name, term in own.call.arguments if isinstance(term, Name)}
        for part in records_in(own.body):
            match part:
                case Name(name):
                    read.add(name)
                case Place(name, indices) if indices or (contract.frames is not None and name in program.globals):
                    read.add(name)
                case InlinedCall(name):
                    callees.add(name)
    named = {parameters.get(each, each) for each in read if each in parameters or each in program.globals}
    named |= {each.name for each in records_in(contract) if isinstance(each, Parameter | Global)}
    for callee in filter(None, map(program.contract, callees)):
        named |= {each.name for each in records_in(callee) if isinstance(each, Global)}
    return frozenset({*contract.parameters, *program.globals} - named)
