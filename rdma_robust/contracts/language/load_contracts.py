"""The way from the text of an `.mp` file to its contracts."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Set
from dataclasses import replace
from importlib import import_module
from pathlib import PurePath
from typing import Final

from rdma_robust.contracts.language.contract_calls import check_local, check_modes, contracted_calls
from rdma_robust.contracts.language.contract_program import (
    CLASSES,
    Contract,
    ContractBuffer,
    ContractClaim,
    ContractProgram,
    ErrorClass,
)
from rdma_robust.contracts.language.contract_reader import read_contract
from rdma_robust.contracts.language.input_kinds import with_kinds
from rdma_robust.contracts.language.loop_reader import misplaced_loops, read_loops
from rdma_robust.diagnose import Reporter, listing, meant_at, quote
from rdma_robust.errors import NO_SPAN
from rdma_robust.language.load import in_source_order, is_c
from rdma_robust.language.suppressions import Suppressions, suppressions
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.language.syntax.tree_limits import first_line
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.load_messages import FOUND
from rdma_robust.messages.language.message_library import LIBRARY_FILE, library, library_text
from rdma_robust.messages.language.message_names import NameCheck
from rdma_robust.messages.language.message_words import message_grammar
from rdma_robust.messages.language.message_world import GlobalScope, library_world
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX

_C_READER: Final = "rdma_robust.c.contracts.c_contract_program"
"""The reader of C, a room above this one."""

FOUND_IN_CONTRACTS: Final = FOUND | {"RR751", "RR752", "RR753", "RR754", "RR756", "RR757", "RR758"}
"""The codes of all warnings that are found here."""


def load_contracts(text: str, file: str) -> ContractProgram:
    """Return the contracts of the functions in `text`, with warnings; `file` is its name for messages.

    Raises ProgramError with every error of the file, also those of its processes and functions.
    """
    report = Reporter(file, text)
    if not file.endswith(MESSAGES_SUFFIX) and is_c(text, file):
        found, ignored, collectives = import_module(_C_READER).read_c_contracts(text, file, report)
        made = _checked(found, frozenset(), ignored, FOUND_IN_CONTRACTS - FOUND, report)
        return replace(made, collectives=collectives)
    found, layout, poisoned = parse_tree(text, report, message_grammar())
    if found is None:
        report.raise_errors()
        raise AssertionError("no tree and no error")
    return _checked(found, poisoned, suppressions(text, layout), FOUND_IN_CONTRACTS, report)


def _checked(
    found: ast.ProgramTree, poisoned: frozenset[str], ignored: Suppressions, codes: Set[str], report: Reporter
) -> ContractProgram:
    """Return the contracts of a tree, with the warnings that have one of these codes."""
    names = NameCheck(report, poisoned)
    world = names.read(found, any_number=True)
    functions = [
        item for item in tree.declarations(found) if isinstance(item, tree.FunctionItem) and item.contract is not None
    ]
    contracts = tuple(made for each in functions for made in _contracts(each, world, report))
    _check_loops(found, world, contracts, report)
    claims = read_claims(found, world, [each.name for each in contracts], report)
    report.raise_errors()
    if not contracts:
        what = "no function has a contract" if found.items else "the file is empty"
        report.warn("RR755", NO_SPAN, f"{what}: there is nothing to check")
    wrong = (replace(each, span=report.at(each.span)) for each in ignored.wrong)
    warnings = [each for each in report.warnings if each.code in codes or each.code not in FOUND_IN_CONTRACTS]
    return ContractProgram(
        names.declared.name or PurePath(report.file).stem,
        report.file,
        report.source,
        contracts,
        _library_contracts(frozenset(world.functions.keys() & library().keys())),
        tuple(world.globals),
        tuple(world.ports),
        claims,
        in_source_order((*ignored.applied(warnings, codes), *wrong)),
        found,
    )


def _contract(function: tree.FunctionItem, world: GlobalScope, report: Reporter) -> Contract:
    if function.contract is not None and function.contract.kind == "local":
        check_local(function, world, report)
    check_modes(function, world, report)
    return read_contract(world, report, function, contracted_calls(function.body, world))


def _contracts(function: tree.FunctionItem, world: GlobalScope, report: Reporter) -> tuple[Contract, ...]:
    """Return the contract of a function and those of its loops, of which it makes a call as of functions."""
    own = with_kinds(_contract(function, world, report), function, world, report)
    loops = read_loops(world, report, function, own)
    return replace(own, calls=(*own.calls, *(each.name for each in loops))), *loops


def _check_loops(program: ast.ProgramTree, world: GlobalScope, contracts: tuple[Contract, ...], report: Reporter) -> None:
    """Report loops with contracts where none can stand, and names of theirs that mean something else."""
    for item in tree.declarations(program):
        for line in misplaced_loops(item) if isinstance(item, tree.Proc | tree.FunctionItem) else ():
            said = "a loop with a contract stands in a function with a contract only"
            hint = "take its contract away, or write one for the function"
            report.error("RR960", first_line(line.span), said, hint=hint)
    names: dict[str, int] = {}
    for each in contracts:
        line_before = names.setdefault(each.name, each.span.line)
        taken = each.loop is not None and each.name in {*world.functions, *world.library}
        if line_before != each.span.line or taken:
            what = "is a function already" if taken else f"has a contract on line {line_before} already"
            said = f"{quote(each.name)} {what}"
            report.error("RR904", each.span, said, hint="loops with contracts and functions have names of their own")


@functools.lru_cache(maxsize=64)
def _library_contracts(hidden: frozenset[str]) -> tuple[Contract, ...]:
    """Return the contracts of the library procedures whose names mean no function of the program."""
    report = Reporter(LIBRARY_FILE, library_text())
    world = replace(library_world(GlobalScope(library=library())), hidden=hidden)
    functions = (each for name, each in library().items() if each.contract is not None and name not in hidden)
    found = tuple(_contract(each, world, report) for each in functions)
    report.raise_errors()
    return found


# What a file expects of its contracts.

_CLASSES: Final[dict[str, ErrorClass]] = {name: name for name in CLASSES}


def read_claims(
    program: ast.ProgramTree, world: GlobalScope, contracts: Collection[str], report: Reporter
) -> tuple[ContractClaim, ...]:
    """Return the claims of the `expect` lines about functions, of which `contracts` have one. Errors go to `report`."""
    found: dict[tuple[str, ContractBuffer], ContractClaim] = {}
    for line in (item for item in tree.declarations(program) if isinstance(item, tree.ExpectLine)):
        buffers = list(_buffers(line, report)) if line.contracts else []
        for claim in line.contracts:
            _check_name(claim.name, world, contracts, report)
            error = None if claim.error is None else _class(claim.error, report)
            if claim.since < 1:
                report.error("RR957", claim.span, "there is always a process", expected="`from 1`, or more")
            every = claim.every is not None
            if claim.every is not None and claim.every.text != "n":
                report.error("RR957", claim.every.span, "no number stands here", expected="`any n`")
            for buffer in buffers:
                made = ContractClaim(
                    claim.name.text, claim.verified, error, claim.since, report.at(claim.span), buffer, any_n=every
                )
                before = found.setdefault((claim.name.text, buffer), made)
                if before is not made:
                    at = f"{before.span.line}:{before.span.column}"
                    said = f"what is expected of {quote(claim.name.text)} was said before, at {at}"
                    report.error("RR921", claim.span, said, hint="take one of them out")
    return tuple(found.values())


def _buffers(line: tree.ExpectLine, report: Reporter) -> Iterator[ContractBuffer]:
    """Yield the buffers that a line is about: `infinite` if it names none."""
    if not line.buffers:
        yield "infinite"
    for word in dict.fromkeys(line.buffers):
        if word.buffer in ("any", "eager"):
            said = f"contracts are checked under `zero` and `infinite`, not under `{word.buffer}`"
            report.error("RR957", word.span, said, expected="`zero`, `infinite`, or both")
        else:
            yield "zero" if word.buffer == "zero" else "infinite"


def _check_name(name: ast.Ident, world: GlobalScope, contracts: Collection[str], report: Reporter) -> None:
    text = name.text
    if text in contracts or text in world.poisoned:
        return
    hint = meant_at(name.span, text, contracts)
    if text in world.functions:
        report.error("RR957", name.span, f"the function {quote(text)} has no contract", hint=hint)
    else:
        report.error("RR902", name.span, f"there is no function {quote(text)} with a contract", hint=hint)


def _class(name: ast.Ident, report: Reporter) -> ErrorClass | None:
    found = _CLASSES.get(name.text)
    if found is None:
        hint = meant_at(name.span, name.text, CLASSES)
        report.error("RR957", name.span, f"there is no class {quote(name.text)}", expected=listing(CLASSES), hint=hint)
    return found
