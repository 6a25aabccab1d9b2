"""rdma-robust: decides whether an RDMA program is robust.

`check`, `parse`, `prove`, `reach` and `verify` are the API; everything slow is imported when it is first used.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from rdma_robust.analyses.prove.safety_outcome import Safety, SafetyOutcome, SafetyRun
    from rdma_robust.analyses.safety.questions import Answer, Argument, Reached
    from rdma_robust.analyses.safety.verify import Checked, Claim, Status, Verified
    from rdma_robust.errors import Diagnostic, InternalError, ProgramError, RdmaRobustError, SizeLimitError, Span, UsageError
    from rdma_robust.language.flow.cfg import Program
    from rdma_robust.language.flow.claims import AnyModelName
    from rdma_robust.model import Atomics, Model, ModelName, Processor
    from rdma_robust.options import CheckOptions, EngineName, Instrumentation, KernelName
    from rdma_robust.outcome import Counts, Outcome, Verdict, Witness
    from rdma_robust.semantics.hang import Hang, Wait

__version__: Final = "0.1.0"


def _kernel() -> str:
    try:
        import_module(f"{__name__}.counters.kernel._kernel")
    except ImportError:
        return "python"
    return "compiled"


KERNEL: Final = _kernel()
"""The search kernel in use: the extension module, or Python where that could not be built."""
VERSION_TEXT: Final = f"rdma-robust {__version__}\nsearch kernel: {KERNEL}"
TOOL: Final = {"name": "rdma-robust", "version": __version__, "kernel": KERNEL}
"""What reports say about their maker."""

__all__ = [
    "Answer",
    "Argument",
    "CheckOptions",
    "Checked",
    "Claim",
    "Counts",
    "Diagnostic",
    "Hang",
    "InternalError",
    "Model",
    "Outcome",
    "Program",
    "ProgramError",
    "RdmaRobustError",
    "Reached",
    "Safety",
    "SafetyOutcome",
    "SafetyRun",
    "SizeLimitError",
    "Span",
    "Status",
    "UsageError",
    "Verdict",
    "Verified",
    "Wait",
    "Witness",
    "__version__",
    "check",
    "parse",
    "prove",
    "reach",
    "verify",
]

_HOMES: Final = {
    "errors": ("Diagnostic", "InternalError", "ProgramError", "RdmaRobustError", "SizeLimitError", "Span", "UsageError"),
    "language.flow.cfg": ("Program",),
    "model": ("Model",),
    "options": ("CheckOptions",),
    "outcome": ("Counts", "Outcome", "Verdict", "Witness"),
    "analyses.prove.safety_outcome": ("Safety", "SafetyOutcome", "SafetyRun"),
    "semantics.hang": ("Hang", "Wait"),
    "analyses.safety.reach": ("Answer", "Argument", "Reached"),
    "analyses.safety.verify": ("Checked", "Claim", "Status", "Verified"),
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
    hardware: Model | None
    recv_depth: int
    cpu: Processor | None
    atomics: Atomics | None
    order: str | None
    threads: int | None
    executor: str
    checkpoint: str


def parse(
    text: str, file: str = "<string>", *, await_loops: bool = False, define: Mapping[str, int | str] | None = None
) -> Program:
    """Return the checked program in `text`; `file` names it in messages.

    `await_loops` compiles loops without effect as blocking reads. `define` has values for constants of the program, numbers
    or constant expressions, which count instead of those in the text. Raises ProgramError, which carries every diagnostic,
    and UsageError for a constant that the program does not have.
    """
    from rdma_robust.language.defines import definitions, with_definitions  # noqa: PLC0415
    from rdma_robust.language.flow.spinning import blocking  # noqa: PLC0415
    from rdma_robust.language.load import load_program  # noqa: PLC0415 - slow

    return blocking(load_program(with_definitions(text, definitions(define), file=file), file), await_loops)


def check(
    program: Program | str | os.PathLike[str],
    options: CheckOptions | None = None,
    *,
    define: Mapping[str, int | str] | None = None,
    **values: Unpack[OptionValues],
) -> Outcome:
    """Decide whether `program` is robust.

    `program` is a parsed Program, the text of a program (a str), or the path of a file (a pathlib.Path). The options are
    `options`, without which there are no limits of time, memory or states, changed by `values`, the fields of CheckOptions.
    A Program is decided as it is; its source is for people. `define` is as for :func:`parse`. Raises ProgramError for an
    ill-formed program, UsageError for a constant that it does not have, UnicodeDecodeError or OSError for a file that cannot
    be read, LimitReached where reading C takes more than the options allow, and InternalError if the tool contradicts
    itself.
    """
    from dataclasses import replace  # noqa: PLC0415

    from rdma_robust.language.defines import definitions  # noqa: PLC0415
    from rdma_robust.options import CheckOptions  # noqa: PLC0415
    from rdma_robust.pipeline import Text, check_program  # noqa: PLC0415 - slow

    chosen = replace(options or CheckOptions(), **values)
    if define:
        chosen = replace(chosen, define=definitions(define))
    given = _defined(program, define)
    return check_program(given if not isinstance(given, tuple) else Text(*given), chosen, crowds=True)


def reach(
    program: Program | str | os.PathLike[str],
    target: str,
    *,
    model: ModelName = "rdma",
    ordered_reads: bool = False,
    cpu: Processor | None = None,
    atomics: Atomics | None = None,
    order: str | None = None,
    define: Mapping[str, int | str] | None = None,
    timeout: float | None = None,
    max_states: int | None = None,
    memory: int | None = None,
    threads: int | None = None,
    executor: str = "",
    checkpoint: str = "",
) -> Reached:
    """Answer whether a state in which `target` holds is reachable, see docs/safety.md; `program` is as for :func:`check`.

    `ordered_reads`, `cpu`, `atomics` and `order` say what the program runs on, and where they do not, its `hardware` line;
    `order` is the name of a table, FILE.toml or `fi(FLAG, ...)`.
    `timeout` is in seconds, `max_states` for each search, `memory` in MiB of the process, `threads` of a large search, by
    default as many as there are processors; `executor` and `checkpoint` share it among processes, as in CheckOptions.
    Raises ProgramError also for a target that means nothing in the program, and UsageError for another `model`.
    """
    from rdma_robust.analyses.safety.goals import StateGoal, with_blocking_waits  # noqa: PLC0415
    from rdma_robust.analyses.safety.reach import reach_goals as answer  # noqa: PLC0415 - slow
    from rdma_robust.errors import UsageError  # noqa: PLC0415
    from rdma_robust.language.load import decidable, read_target  # noqa: PLC0415
    from rdma_robust.model import NAMED, SEARCHED  # noqa: PLC0415
    from rdma_robust.options import CheckOptions  # noqa: PLC0415

    if model not in SEARCHED:
        why = f"`reach` has no search for model {model}" if model in NAMED else f"no model is called {model!r}"
        raise UsageError(f"{why}; there is {' and '.join(SEARCHED)}")
    loaded = decidable(_loaded(program, define, proofs=False, crowds=True), crowds=True)
    options = CheckOptions(
        ordered_reads=ordered_reads, cpu=cpu, atomics=atomics, order=order, timeout=timeout, max_states=max_states,
        memory=memory, threads=threads, executor=executor, checkpoint=checkpoint,
    )  # fmt: skip
    limits = options.limits()
    meant = read_target(loaded, target)
    return answer(
        with_blocking_waits(loaded, meant), [StateGoal(meant)], model, limits, options.on(loaded.hardware).model
    ).answers[0]


def verify(
    program: Program | str | os.PathLike[str],
    *,
    ordered_reads: bool = False,
    cpu: Processor | None = None,
    atomics: Atomics | None = None,
    order: str | None = None,
    define: Mapping[str, int | str] | None = None,
    timeout: float | None = None,
    max_states: int | None = None,
    memory: int | None = None,
    threads: int | None = None,
    executor: str = "",
    checkpoint: str = "",
    hangs: bool = True,
) -> Verified:
    """Check every `assert`, `invariant` and `outcome` line of `program`, and that it cannot hang, see docs/safety.md.

    Parameters are those of :func:`reach`; with `hangs=False` only what the program says itself about hangs is checked.
    """
    from rdma_robust.analyses.safety.handing_over import verify_all  # noqa: PLC0415 - slow
    from rdma_robust.language.flow.spinning import blocking  # noqa: PLC0415
    from rdma_robust.options import CheckOptions  # noqa: PLC0415

    options = CheckOptions(
        ordered_reads=ordered_reads, cpu=cpu, atomics=atomics, order=order, timeout=timeout, max_states=max_states,
        memory=memory, threads=threads, executor=executor, checkpoint=checkpoint,
    )  # fmt: skip
    limits = options.limits()
    loaded = blocking(_loaded(program, define, crowds=True))
    return verify_all(loaded, limits, options.on(loaded.hardware).model, hangs=hangs)


def prove(
    program: Program | str | os.PathLike[str],
    model: AnyModelName = "sc",
    *,
    engine: Literal["auto", "explicit", "zones", "predicates", "spacer"] = "auto",
    reduction: Literal["slots", "sets"] = "slots",
    bound: int = 1,
    define: Mapping[str, int | str] | None = None,
    timeout: float | None = None,
    max_states: int | None = None,
    memory: int | None = None,
    threads: int | None = None,
    executor: str = "",
    checkpoint: str = "",
) -> SafetyOutcome:
    """Answer whether `program` is safe under a memory `model`, for all runs and with unbounded integers, see docs/prove.md.

    SAFE comes with an inductive invariant, UNSAFE with a run that the model's machine has replayed, UNKNOWN with the reason.
    `program` is as for :func:`check`; `engine`, `reduction` and `bound` are the options of the command, `timeout` is in
    seconds, `max_states` for each search, `memory` in MiB of the process; `threads`, `executor` and `checkpoint` are as for
    :func:`reach`. Raises ProgramError also for a statement that the model does not have, and UsageError for another
    `model`, or for an engine whose solver is not installed.
    """
    from typing import get_args  # noqa: PLC0415 - only here

    from rdma_robust.analyses.prove.prove import decide_safety  # noqa: PLC0415 - slow
    from rdma_robust.analyses.prove.safety_outcome import ReductionOptions  # noqa: PLC0415
    from rdma_robust.errors import ProgramError, UsageError  # noqa: PLC0415
    from rdma_robust.language.check.refusals import model_refusals  # noqa: PLC0415
    from rdma_robust.language.flow.claims import AnyModelName  # noqa: PLC0415
    from rdma_robust.options import CheckOptions  # noqa: PLC0415

    if model not in get_args(AnyModelName):
        raise UsageError(f"no model is called {model!r}; there is {', '.join(get_args(AnyModelName))}")
    loaded = _loaded(program, define)
    if refused := model_refusals(loaded, model):
        raise ProgramError(loaded.file, loaded.source, refused)
    options = CheckOptions(
        timeout=timeout, max_states=max_states, memory=memory, threads=threads, executor=executor, checkpoint=checkpoint
    )
    return decide_safety(loaded, model, options.limits(), engine=engine, reduction=ReductionOptions(reduction, bound))


def _loaded(
    program: Program | str | os.PathLike[str],
    define: Mapping[str, int | str] | None,
    *,
    proofs: bool = True,
    crowds: bool = False,
) -> Program:
    """Return the program itself, validated, or the one in a text or a file; `proofs` say that they are to be made, `crowds`
    that it may have any number of a thread."""
    from rdma_robust.language.flow.valid import valid_for_proofs, validate  # noqa: PLC0415
    from rdma_robust.language.load import load_program, without_crowds  # noqa: PLC0415 - slow

    given = _defined(program, define)
    if isinstance(given, tuple):
        read = load_program(*given)
        return read if crowds else without_crowds(read)
    if not crowds:
        without_crowds(given)
    if proofs:
        return valid_for_proofs(given)
    validate(given)
    return given


def _defined(program: Program | str | os.PathLike[str], define: Mapping[str, int | str] | None) -> Program | tuple[str, str]:
    """Return the program itself, or the text of one with what is defined and its name for messages."""
    from rdma_robust.errors import UsageError  # noqa: PLC0415
    from rdma_robust.language.defines import definitions, with_definitions  # noqa: PLC0415

    if isinstance(program, str | os.PathLike):
        text, file = _read(program)
        return with_definitions(text, definitions(define), file=file), file
    if define:
        raise UsageError("constants are defined for a text or a file: this program is loaded already")
    return program


def _read(program: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the text of a program and its name for messages."""
    from rdma_robust.files import LARGEST, read_regular  # noqa: PLC0415

    if isinstance(program, str):
        return program, "<string>"
    return read_regular(program, LARGEST).decode("utf-8-sig"), os.fspath(program)


def __getattr__(name: str) -> object:
    for module, members in _HOMES.items():
        if name in members:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
