"""The way into the language room."""

from __future__ import annotations

from rdma_robust.language import ast, cfg
from rdma_robust.language.declarations import ProgramChecker
from rdma_robust.language.diagnose import Reporter
from rdma_robust.language.formatter import format_source
from rdma_robust.language.parse import parse

__all__ = ["format_source", "load_program", "parse_program"]


def load_program(text: str, file: str, *, await_loops: bool = False) -> cfg.Program:
    """Return the checked program in `text`, with its warnings; `file` is its name for messages.

    With `await_loops`, loops `while c { }` that only wait for a shared variable become blocking reads.
    Raises ProgramError, and nothing else, with every error of the file.
    """
    report = Reporter(file, text)
    tree, _, poisoned = parse(text, report)
    if tree is None:
        report.raise_errors()
        raise AssertionError("no tree and no error")
    program = ProgramChecker(tree, report, poisoned, await_loops=await_loops).check()
    report.raise_errors()
    return program


def parse_program(text: str, file: str) -> ast.Program:
    """Return the syntax tree of `text`. Raises ProgramError with every syntax error of the file."""
    report = Reporter(file, text)
    tree, _, _ = parse(text, report)
    report.raise_errors()
    assert tree is not None
    return tree
