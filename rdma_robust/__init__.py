"""rdma-robust: decides whether an RDMA program is robust.

`check` and `parse` are the API; everything slow is imported when it is first used.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

if TYPE_CHECKING:
    from rdma_robust.errors import Diagnostic, InternalError, ProgramError, RdmaRobustError, SizeLimitError, Span, UsageError
    from rdma_robust.language.cfg import Program
    from rdma_robust.options import CheckOptions, EngineName, Instrumentation, KernelName
    from rdma_robust.outcome import Counts, Outcome, Verdict, Witness

__version__: Final = "0.1.0"


def _kernel() -> str:
    try:
        import_module(f"{__name__}.vass._kernel")
    except ImportError:
        return "python"
    return "compiled"


KERNEL: Final = _kernel()
"""The search kernel in use: the extension module, or Python where that could not be built."""
VERSION_TEXT: Final = f"rdma-robust {__version__}\nsearch kernel: {KERNEL}"
TOOL: Final = {"name": "rdma-robust", "version": __version__, "kernel": KERNEL}
"""What reports say about their maker."""

__all__ = [
    "CheckOptions",
    "Counts",
    "Diagnostic",
    "InternalError",
    "Outcome",
    "Program",
    "ProgramError",
    "RdmaRobustError",
    "SizeLimitError",
    "Span",
    "UsageError",
    "Verdict",
    "Witness",
    "__version__",
    "check",
    "parse",
]

_HOMES: Final = {
    "errors": ("Diagnostic", "InternalError", "ProgramError", "RdmaRobustError", "SizeLimitError", "Span", "UsageError"),
    "language.cfg": ("Program",),
    "options": ("CheckOptions",),
    "outcome": ("Counts", "Outcome", "Verdict", "Witness"),
}


class OptionValues(TypedDict, total=False):
    """The fields of CheckOptions as keyword arguments."""

    instrumentation: Instrumentation
    engine: EngineName
    kernel: KernelName
    ordered_reads: bool
    await_loops: bool
    timeout: float | None
    max_states: int | None
    memory: int | None
    self_check: bool
    reductions: frozenset[str]


def parse(text: str, file: str = "<string>", *, await_loops: bool = False) -> Program:
    """Return the checked program in `text`; `file` names it in messages.

    `await_loops` compiles loops without effect as blocking reads. Raises ProgramError, which carries every diagnostic.
    """
    from rdma_robust.language.load import load_program  # noqa: PLC0415 - slow

    return load_program(text, file, await_loops=await_loops)


def check(
    program: Program | str | os.PathLike[str], options: CheckOptions | None = None, **values: Unpack[OptionValues]
) -> Outcome:
    """Decide whether `program` is robust.

    `program` is a parsed Program, the text of a program (a str), or the path of a file (a pathlib.Path). The options are
    `options`, without which there are no limits of time, memory or states, changed by `values`, the fields of CheckOptions.
    A Program is loaded anew from its source, so `await_loops` counts as given here. Raises ProgramError for an ill-formed
    program, UnicodeDecodeError or OSError for a file that cannot be read, and InternalError if the tool contradicts itself.
    """
    from dataclasses import replace  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    from rdma_robust.options import CheckOptions  # noqa: PLC0415
    from rdma_robust.pipeline import check_text  # noqa: PLC0415 - slow

    chosen = replace(options or CheckOptions(), **values)
    if isinstance(program, str):
        return check_text(program, "<string>", chosen)
    if isinstance(program, os.PathLike):
        return check_text(Path(program).read_text(encoding="utf-8-sig"), os.fspath(program), chosen)
    return check_text(program.source, program.file, chosen)


def __getattr__(name: str) -> object:
    for module, members in _HOMES.items():
        if name in members:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
