"""The way into the language room."""

from __future__ import annotations

from collections.abc import Callable

from rdma_robust.diagnose import Reporter
from rdma_robust.language.check.declarations import ProgramChecker
from rdma_robust.language.check.names import World
from rdma_robust.language.check.targets import Target, target_reader
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.language.syntax.parse import parse

__all__ = ["format_source", "load_program", "load_program_and_target", "parse_program"]


def load_program(text: str, file: str, *, await_loops: bool = False) -> cfg.Program:
    """Return the checked program in `text`, with its warnings; `file` is its name for messages.

    With `await_loops`, loops `while c { }` that only wait for a shared variable become blocking reads.
    Raises ProgramError, and nothing else, with every error of the file.
    """
    return _load(text, file, await_loops)


def load_program_and_target(text: str, file: str, target: str, *, await_loops: bool = False) -> tuple[cfg.Program, Target]:
    """Return the checked program in `text` and what the condition `target` means in it, see :func:`load_program`.

    Raises ProgramError with every error of the file, or else of the target.
    """
    read = target_reader(target)
    found: list[Target] = []
    program = _load(text, file, await_loops, lambda world, threads: found.append(read(world, threads)))
    return program, found[0]


def _load(
    text: str, file: str, await_loops: bool, also: Callable[[World, tuple[cfg.Thread, ...]], None] | None = None
) -> cfg.Program:
    report = Reporter(file, text)
    tree, _, poisoned = parse(text, report)
    if tree is None:
        report.raise_errors()
        raise AssertionError("no tree and no error")
    checker = ProgramChecker(tree, report, poisoned, await_loops=await_loops)
    program = checker.check() if also is None else checker.check(also)
    report.raise_errors()
    return program


def parse_program(text: str, file: str) -> ast.Program:
    """Return the syntax tree of `text`. Raises ProgramError with every syntax error of the file."""
    report = Reporter(file, text)
    tree, _, _ = parse(text, report)
    report.raise_errors()
    assert tree is not None
    return tree
