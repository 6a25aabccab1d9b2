"""Checked message programs as `.mp` text that is read as the same program.

Processes of one declaration stay together: where they differ, each has a branch that is left out of the others. Constants
and names of processes are numbers, and functions stand as they were called, so that one may be there several times, `f_2`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_tree
from rdma_robust.messages.language import message_program as made
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_printer import MESSAGE_STYLE
from rdma_robust.messages.language.message_words import WORDS, message_grammar
from rdma_robust.messages.language.message_world import BUILT_IN, COLLECTIVE
from rdma_robust.messages.language.written_process import ProcessTree, ProgramText, foreign_names
from rdma_robust.messages.language.written_terms import Families, FamilyNames, TextNames, number_text
from rdma_robust.text import free_name


def program_text(program: made.MessageProgram) -> str:
    """Return a text of the language that is read as `program`.

    Registers outside of processes are those that functions use and do not have themselves. A constant that is a fault, such
    as a process that is not there, is made of a register that is always 0: the reader refuses it as it is.
    Raises InternalError for what no text means, such as an element of a sum.
    """
    words = {text for kind, text in message_grammar().keywords.items() if kind not in WORDS}
    taken = {*words, *BUILT_IN, *(port for port in program.ports if port)}
    families = Families(tuple(_families(program)))
    names = TextNames(taken | {family.name for family in families.found})
    shared = sorted({name for process in program.processes for name in foreign_names(process.body)})
    text = ProgramText(program, families, names, shared)
    bodies = [[ProcessTree(text, each).block(each.body) for each in _members(program, family)] for family in families.found]
    counter = ast.Ident(free_name("k", names.taken))
    name = names.cleaned(program.name)
    items: list[object] = [ast.ProgramName(ast.Ident(f"{name}_" if name in words else name))]
    own_ports = tuple(ast.Ident(port) for port in program.ports[1:] if port != COLLECTIVE)
    globals_ = tuple(tree.Declarator(ast.Ident(name), None) for name in (*map(names.of, shared), *names.zero()))
    items += [tree.PortLine(own_ports)] if own_ports else []
    items += (_group(each) for each in program.declared)
    items += [tree.RegisterLine(globals_)] if globals_ else []
    items += text.functions.items
    items += [_proc(family, each, counter) for family, each in zip(families.found, bodies, strict=True)]
    items += (_expected(each, program) for each in program.claims)
    return format_tree(ast.ProgramTree(tree.as_part(tuple(items))), MESSAGE_STYLE)


def _group(group: made.ProcessGroup) -> tree.GroupLine:
    return tree.GroupLine(ast.Ident(group.name), tuple(map(number_text, group.members)))


def _members(program: made.MessageProgram, family: FamilyNames) -> tuple[made.Process, ...]:
    return program.processes[family.first : family.first + family.size]


def _families(program: made.MessageProgram) -> Iterable[FamilyNames]:
    """Yield which processes were declared together: those that follow each other as `P[1]`, `P[2]`."""
    numbered = list(enumerate(program.processes))
    for (name, _), found in groupby(numbered, lambda each: (_base(each[1].name), _run(each))):
        members = list(found)
        first, process = members[0]
        at = process.name.removeprefix(name)
        yield FamilyNames(name, first, int(at[1:-1]) if at else 0, len(members), bool(at), process.daemon)


def _base(name: str) -> str:
    return name.partition("[")[0]


def _run(each: tuple[int, made.Process]) -> int:
    """Return what is the same for numbers that go up by one along with the processes."""
    index, process = each
    at = process.name.removeprefix(_base(process.name))
    return index - int(at[1:-1]) if at else -index - 1


def _proc(family: FamilyNames, bodies: list[ast.Block], counter: ast.Ident) -> tree.Proc:
    body = bodies[0] if all(each == bodies[0] for each in bodies) else _branches(family, bodies, counter)
    high = family.low + family.size - 1
    numbers = tree.Range(counter, number_text(family.low), number_text(high)) if family.numbered else None
    return tree.Proc(ast.Ident(family.name), numbers, body, family.daemon)


def _branches(family: FamilyNames, bodies: list[ast.Block], counter: ast.Ident) -> ast.Block:
    """Return a body that is each of these, by the number of the process."""
    arms = []
    for at, body in enumerate(bodies):
        condition = ast.Binary("==", tree.as_part(tree.IndexedName(counter, ())), tree.as_part(number_text(family.low + at)))
        arms.append(ast.Arm(condition, body))
    return ast.Block((ast.If(tuple(arms[:-1]), arms[-1].block),))


def _expected(claim: made.MessageClaim, program: made.MessageProgram) -> tree.ExpectLine:
    limits = {"eager": program.eager}
    words = tuple(tree.BufferWord(each, limits.get(each)) for each in claim.buffers)
    buffers = () if claim.buffers == program.buffers else words
    return tree.ExpectLine((tree.ClaimWords(claim.kind, claim.number),), buffers)
