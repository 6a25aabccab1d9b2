"""The way into the language `.mp`."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import PurePath
from typing import Final

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import Const
from rdma_robust.language.load import in_source_order, is_c
from rdma_robust.language.suppressions import suppressions
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.messages.language import message_world as written_names
from rdma_robust.messages.language.message_names import NameCheck
from rdma_robust.messages.language.message_program import Block, MessageProgram, Process, ProcessGroup
from rdma_robust.messages.language.message_scope import ProcessScope
from rdma_robust.messages.language.message_words import message_grammar
from rdma_robust.messages.language.message_world import (
    COLLECTIVE,
    GlobalScope,
    ProcessDraft,
    ProcessFamily,
    TooLargeError,
    library_world,
)
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX
from rdma_robust.messages.language.writing_out import Writer

_C_READER: Final = "rdma_robust.c.lock_step.read_mpi"
"""The reader of C, a room above this one."""

FOUND: Final = frozenset({"RR701", "RR703", "RR705", "RR706", "RR741", "RR742", "RR743", "RR744", "RR745", "RR746"})
"""The codes of all warnings about programs of `.mp`."""


def load_messages(text: str, file: str) -> MessageProgram:
    """Return the checked program in `text`, with its warnings; `file` is its name for messages.

    Raises ProgramError with every error of the file. Names are checked once, processes are written out after that, so that
    it is too large is said of a program without other errors.
    """
    if not file.endswith(MESSAGES_SUFFIX) and is_c(text, file):
        made: MessageProgram = import_module(_C_READER).read_mpi(text, file)
        return made
    report = Reporter(file, text)
    found, layout, poisoned = parse_tree(text, report, message_grammar())
    if found is None:
        report.raise_errors()
        raise AssertionError("no tree and no error")
    program = program_of_tree(found, report, poisoned)
    ignored = suppressions(text, layout)
    wrong = (replace(each, span=report.at(each.span)) for each in ignored.wrong)
    return replace(program, warnings=in_source_order((*ignored.applied(program.warnings, FOUND), *wrong)))


def program_of_tree(found: ast.ProgramTree, report: Reporter, poisoned: frozenset[str] = frozenset()) -> MessageProgram:
    """Return the checked program of a tree; `poisoned` are names of which nothing certain is known. Raises ProgramError."""
    return _Reader(report, poisoned).program(found)


class _Reader:
    """Checks one program, and writes it out."""

    def __init__(self, report: Reporter, poisoned: frozenset[str]) -> None:
        self.report = report
        self.names = NameCheck(report, poisoned)

    def program(self, found: ast.ProgramTree) -> MessageProgram:
        world = self.names.read(found)
        self.report.raise_errors()
        ports = ("", *world.ports)
        processes, uses_library = self._processes(world, library_world(world))
        if not processes and not any(function.contract for function in world.functions.values()):
            what = "there is no `proc`" if found.items else "the file is empty"
            self.report.warn("RR706", NO_SPAN, f"{what}: nothing runs, and there is nothing to decide")
        return MessageProgram(
            name=self.names.declared.name or PurePath(self.report.file).stem,
            file=self.report.file,
            source=self.report.source,
            processes=processes,
            ports=(*ports, COLLECTIVE) if uses_library else ports,
            claims=tuple(self.names.declared.claims),
            warnings=self.report.warnings,
            eager=self.names.declared.eager,
            declared=tuple([ProcessGroup(*each) for each in world.groups.items()]),
        )

    def _processes(self, world: GlobalScope, library: GlobalScope) -> tuple[tuple[Process, ...], bool]:
        found: list[Process] = []
        written = ProcessDraft(written_names.MAX_STATEMENTS)
        for family in world.families.values():
            for number, name, values in family.members():
                written = ProcessDraft(written.left, dict.fromkeys(world.globals), uses_library=written.uses_library)
                constants = {each: Const(value) for each, value in values.items()}
                try:
                    found.append(
                        self._process(
                            family, name, ProcessScope(world, self.report, Const(number), constants), library, written
                        )
                    )
                except TooLargeError as too_large:
                    hint = "functions and families are written out: take smaller numbers, or fewer calls"
                    self.report.error("RR919", family.proc.name.span, f"written out there are {too_large}", hint=hint)
                    self.report.raise_errors()
        return tuple(found), written.uses_library

    def _process(
        self, family: ProcessFamily, name: str, scope: ProcessScope, library: GlobalScope, written: ProcessDraft
    ) -> Process:
        scope.strict = False
        writer = Writer(scope, library, written)
        start = self.names.globals(writer)
        body: Block = (*start, *writer.block(family.proc.body))
        proc = family.proc
        span = self.report.at(proc.name.span)
        return Process(name, body, tuple(written.registers), tuple(written.requests), proc.daemon, span)
