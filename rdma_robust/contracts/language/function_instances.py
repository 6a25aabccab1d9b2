"""A function with a contract as n processes that each execute it once: what the engines run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.loop_rounds import round_of
from rdma_robust.diagnose import Reporter
from rdma_robust.expr import Const, Name
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_names import Declarations
from rdma_robust.messages.language.message_program import Block, InlinedCall, MessageProgram, Process, Statement, with_blocks
from rdma_robust.messages.language.message_scope import ProcessScope
from rdma_robust.messages.language.message_terms import Term
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
