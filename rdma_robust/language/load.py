"""The way into the language room."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Final

from rdma_robust.diagnose import Reporter, listing, quote
from rdma_robust.errors import NO_SPAN, Diagnostic, ProgramError, Span, UsageError
from rdma_robust.language.check.control import AutomatonShape
from rdma_robust.language.check.declarations import ProgramChecker
from rdma_robust.language.check.names import ProgramNames, world_of
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.canonical import same_program
from rdma_robust.language.suppressions import Suppressions, suppressions
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_tree
from rdma_robust.language.syntax.layout import TokenLayout
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.value_ranges import file_of

if TYPE_CHECKING:
    from rdma_robust.language.check.targets import StateTarget

FOUND_BY_READING: Final = frozenset({"RR701", "RR704", "RR705", "RR706", "RR707", "RR845", "RR846", "RR851", "RR852"})
"""The codes of warnings of which reading a program finds all there are; lints find more of the others."""

OF_NO_FILE: Final = ""
"""The file of a text whose order tables are not read, which files are found from that of the program: who needs only the
structure of a program, or has its order from elsewhere, loads it so."""

TRENCHER_SUFFIX: Final = ".trencher"
_TRENCHER: Final = re.compile(
    r"\s*+(?:#[^\n]*+\s++|memory_size\s++\S++\s++)*+thread\s++\S++\s++(?:initial|transition|end|final)\s", re.ASCII
)

C_SUFFIX: Final = ".c"
_C: Final = re.compile(
    r"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+#\s*+(?:include|define|if|ifdef|ifndef|pragma)\b", re.ASCII
)
_C_READER: Final = "rdma_robust.c.read_c"
"""What reads C. It builds programs, as whoever uses this room, so it is named here and loaded once there is C."""
RECORDED: Final = "//@ "
"""Begins the comment behind a statement of a recorded run, which names the place of the code that it comes from."""
_RECORDED_PLACES: Final = "rdma_robust.record.recorded_places"


def load_program(text: str, file: str) -> cfg.Program:
    """Return the checked program in `text`, with its warnings; `file` is its name for messages.

    The text is one of the language, of Trencher, or C. Raises ProgramError with every error of the file; of a text of
    Trencher also SizeLimitError, see :func:`~rdma_robust.language.trencher.trencher_reader.read_trencher`; of C UsageError
    without libclang.
    """
    return _load(text, file)


def load_decidable(text: str, file: str, *, crowds: bool = False) -> cfg.Program:
    """Return the checked program in `text` as :func:`load_program` does, if others than proofs can decide it.

    Raises ProgramError with every error of the file, with every statement that only proofs can do something with, and unless
    it may have `crowds` as :func:`without_crowds`.
    """
    return decidable(_load(text, file, decide=True), crowds=crowds)


def without_crowds(program: cfg.Program) -> cfg.Program:
    """Return `program` itself. Raises ProgramError if it has threads or nodes of which there is any number.

    Whoever cannot answer for any number asks this first.
    """
    if not program.crowds and not program.many_nodes:
        return program
    names = [thread.name for thread in program.crowds]
    given = " ".join(f"-D {name}=2" for name in names)
    shown = listing((quote(f"{name}[*]") for name in names), "and")
    found = Diagnostic(
        "error",
        "RR508",
        f"there is any number of threads {shown}, and this is not answered for any number",
        _declared(program, names[0] if names else ""),
        hint=f"give a number: {given}",
    )
    raise ProgramError(program.file, program.source, (found,))


def _declared(program: cfg.Program, name: str) -> Span:
    """Return where the thread `name` is declared, if the program has a text."""
    report = Reporter(program.file, program.source)
    tree, _, _ = parse_tree(program.source, report)
    items = () if tree is None else tree.items
    found = (item.name.span for item in items if isinstance(item, ast.ThreadDeclaration) and item.name.text == name)
    return report.at(next(found, NO_SPAN))


def to_be_proven(program: cfg.Program) -> bool:
    """Return whether a program says that it is to be proven: it has an invariant, or `expect safe` or `expect unsafe`."""
    return bool(program.invariants) or any(each.kind == "safe" for each in program.expectations)


def decidable(program: cfg.Program, *, crowds: bool = False) -> cfg.Program:
    """Return `program` itself.

    Raises ProgramError with every statement that only proofs can do something with, and unless it may have `crowds` as
    :func:`without_crowds`.
    """
    if program.undecided:
        raise ProgramError(program.file, program.source, program.undecided)
    return program if crowds else without_crowds(program)


def load_automata(text: str, file: str, shapes: Mapping[str, AutomatonShape]) -> cfg.Program:
    """Return the program in `text` in which the statements of a thread with a shape are the edges of an automaton.

    Raises ProgramError with every error of the file.
    """
    return _load(text, file, shapes=shapes)


def has_text(program: cfg.Program) -> bool:
    """Return whether the source of `program` is the text of a program that does the same: then it can be edited.

    It is not where its file has a name of C and nothing that reads C is installed: then it was built.
    """
    try:
        return same_program(load_program(program.source, program.file), program)
    except (ProgramError, UsageError):
        return False


def load_program_and_target(text: str, file: str, target: str) -> tuple[cfg.Program, StateTarget]:
    """Return the checked program in `text` and what the condition `target` means in it, see :func:`load_program`.

    Raises ProgramError with every error of the file, or else of the target.
    """
    from rdma_robust.language.check.targets import target_reader  # noqa: PLC0415 - most programs come without a target

    read = target_reader(target)
    found: list[StateTarget] = []
    program = _load(text, file, lambda world, threads: found.append(read(world, threads)))
    return decidable(program, crowds=True), found[0]


def read_target(program: cfg.Program, target: str) -> StateTarget:
    """Return what the condition `target` means in `program`. Raises ProgramError with every error of the target."""
    from rdma_robust.language.check.targets import target_reader  # noqa: PLC0415 - most programs come without a target

    return target_reader(target)(world_of(program), program.threads)


def written_out_tree(text: str, file: str) -> ast.ProgramTree:
    """Return the tree of the checked program in `text` without `for`, macros and families, each copy in its place.

    Raises ProgramError with every error of the file.
    """
    return _checked(text, file).written_out


def without_families(text: str, file: str) -> tuple[str, dict[str, str]]:
    """Return a program that does the same, without families, and the names that their nodes and threads have in it, such as
    `P_0` for `P[0]`. A program without families stays as it is.

    Raises ProgramError with every error of the file.
    """
    checker = _checked(text, file)
    names = checker.plain_names
    return (format_tree(checker.written_out), names) if names else (text, names)


def refuse_c(text: str, file: str) -> None:
    """Raise UsageError for C, which has no syntax tree here: who asks for one works on statements of the language."""
    if is_c(text, file):
        raise UsageError(
            "this needs a program of the language, and not C: `rdma-robust import FILE.c -o FILE.rdma` writes one"
        )


def refuse_edits(text: str, file: str) -> None:
    """Raise UsageError for what cannot be edited as a text: C, and a recorded run, which only shows what a program did."""
    refuse_c(text, file)
    if RECORDED in text:
        raise UsageError("this is a recorded run: change the program that was recorded, and record it again")


def _checked(text: str, file: str) -> ProgramChecker:
    refuse_c(text, file)
    report = Reporter(file, text)
    checker, _ = _checker(text, report, None)
    checker.check()
    report.raise_errors()
    return checker


def _load(
    text: str,
    file: str,
    also: Callable[[ProgramNames, tuple[cfg.Thread, ...]], None] | None = None,
    shapes: Mapping[str, AutomatonShape] | None = None,
    *,
    decide: bool = False,
) -> cfg.Program:
    report = Reporter(file, text)
    if is_trencher(text, file):
        return _with(_trencher(text, file), also)
    if shapes is None and is_c(text, file):
        program, ignored = _c(text, file)
        return _with(replace(program, warnings=ignored.applied(program.warnings, FOUND_BY_READING)), also)
    program, ignored = _read(text, report, also, shapes, decide=decide)
    left = ignored.applied(program.warnings, FOUND_BY_READING)
    program = program if left == program.warnings else replace(program, warnings=in_source_order(left))
    if RECORDED not in text:
        return program
    placed: cfg.Program = import_module(_RECORDED_PLACES).with_places(program, text)
    return placed


def is_trencher(text: str, file: str) -> bool:
    """Return whether a text is one of Trencher: its name says so, or it begins as no program of the language can."""
    return file.endswith(TRENCHER_SUFFIX) or _TRENCHER.match(text) is not None


def is_c(text: str, file: str) -> bool:
    """Return whether a text is C: its name says so, or it begins as no program of the language can."""
    name = file_of(file)
    return name.endswith(C_SUFFIX) or (not name.endswith(".rdma") and _C.match(text) is not None)


def is_foreign(text: str, file: str) -> bool:
    """Return whether a text is of another language, Trencher or C: what edits programs of ours does not edit it."""
    return is_trencher(text, file) or is_c(text, file)


def _trencher(text: str, file: str) -> cfg.Program:
    from rdma_robust.language.trencher.trencher_reader import read_trencher  # noqa: PLC0415 - few programs are such

    return read_trencher(text, file)


def with_c_options(text: str, define: Sequence[str], file: str) -> str:
    """Return the text of a C file that is read with definitions and options. Raises UsageError."""
    made: str = import_module(_C_READER).with_options(text, define, file)
    return made


def _c(text: str, file: str) -> tuple[cfg.Program, Suppressions]:
    found: tuple[cfg.Program, Suppressions] = import_module(_C_READER).read_c(text, file)
    return found


def _with(program: cfg.Program, also: Callable[[ProgramNames, tuple[cfg.Thread, ...]], None] | None) -> cfg.Program:
    if also is not None:
        also(world_of(program), program.threads)
    return program


def load_with_all_warnings(text: str, file: str) -> tuple[cfg.Program, Suppressions]:
    """Return the checked program in `text` with all its warnings, and the comments that ask for some not to be shown.

    Raises ProgramError with every error of the file.
    """
    if is_trencher(text, file):
        return _trencher(text, file), Suppressions()
    return _c(text, file) if is_c(text, file) else _read(text, Reporter(file, text))


def in_source_order(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return diagnostics in the order of the source."""
    return tuple(sorted(found, key=lambda each: (each.span.start, each.message)))


def _read(
    text: str,
    report: Reporter,
    also: Callable[[ProgramNames, tuple[cfg.Thread, ...]], None] | None = None,
    shapes: Mapping[str, AutomatonShape] | None = None,
    *,
    decide: bool = False,
) -> tuple[cfg.Program, Suppressions]:
    checker, layout = _checker(text, report, shapes)
    program = checker.check() if also is None else checker.check(also)
    report.raise_errors(proofs=not decide and to_be_proven(program))
    ignored = suppressions(text, layout)
    if ignored.wrong:
        wrong = (replace(each, span=report.at(each.span)) for each in ignored.wrong)
        program = replace(program, warnings=in_source_order((*program.warnings, *wrong)))
    return program, ignored


def _checker(text: str, report: Reporter, shapes: Mapping[str, AutomatonShape] | None) -> tuple[ProgramChecker, TokenLayout]:
    tree, layout, poisoned = parse_tree(text, report)
    if tree is None:
        report.raise_errors()
        raise AssertionError("no tree and no error")
    taken = frozenset(str(token) for token in layout.tokens if token.type == "NAME")
    return ProgramChecker(tree, report, poisoned, shapes, taken), layout


def parse_program(text: str, file: str) -> ast.ProgramTree:
    """Return the syntax tree of `text`. Raises ProgramError with every syntax error of the file, and UsageError for C."""
    refuse_c(text, file)
    report = Reporter(file, text)
    tree, _, _ = parse_tree(text, report)
    report.raise_errors()
    assert tree is not None
    return tree
