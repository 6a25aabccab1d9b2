"""Options of the commands about message programs."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

import typer

from rdma_robust.cli.asked_files import explains
from rdma_robust.cli.options.option_sets import OptionSet
from rdma_robust.errors import UsageError
from rdma_robust.frame.formats.lines import WRITERS
from rdma_robust.frame.shell.inputs import Item
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.messages.engines.engine_names import MessageEngineName
from rdma_robust.questions.messages_question import BufferName
from rdma_robust.solver_library import require_solver

NAMED: Final = (".c",)
"""Files that are read as programs of messages where they are named: C with MPI."""

Denied = Literal["race", "leak"]


def _installed(engine: MessageEngineName) -> MessageEngineName:
    """Return the engine itself. Raises UsageError, once for all programs, if it needs what is not installed."""
    if engine == "smt":
        require_solver("smt")
    return engine


BufferOption = Annotated[
    BufferName,
    typer.Option(
        "--buffer",
        help="When a send completes: zero, at its match; infinite, at once; any, as the runtime likes; "
        "eager, at once if it is small, with --eager. all: each of them.",
    ),
]
EagerOption = Annotated[
    int | None,
    typer.Option(
        "--eager",
        metavar="N",
        min=0,
        help="Ask about --buffer eager too: sends of at most N elements are buffered, larger ones wait for their match. "
        "Without it the program says N, or is not asked about it.",
        show_default=False,
    ),
]
LoopBound = Annotated[
    int, typer.Option(metavar="N", min=0, max=1000, help="Rounds of `while` and `loop` that sat and smt unroll.")
]
MessageEngineOption = Annotated[
    MessageEngineName,
    typer.Option("--engine", callback=_installed, help="How to decide; auto picks by the program. smt needs z3, an extra."),
]
MessagesSelfCheck = Annotated[
    bool, typer.Option("--self-check", help="Decide with every engine, and compare: a difference is a defect, exit code 4.")
]
Matches = Annotated[
    bool,
    typer.Option(
        help="Ask for races and the number of matchings too, which can take far longer than the rest. Claims of --expect "
        "and --deny race ask for them in any case."
    ),
]
Deny = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES", help="Count against the exit code too: race, leak, or both with a comma.", show_default=False
    ),
]


@dataclass(frozen=True)
class MessageOptions(OptionSet):
    """The question about a message program, and the engines that decide it: members of MessagesAsking."""

    reads_c: ClassVar[bool] = True
    buffer: BufferOption = "all"
    eager: EagerOption = None
    engine: MessageEngineOption = "auto"
    loop_bound: LoopBound = 8


@dataclass(frozen=True)
class MessageCheckOptions(MessageOptions):
    """The same, with what is asked besides the verdict."""

    self_check: MessagesSelfCheck = False
    matches: Matches = True


def reported(form: str, items: Sequence[Item], output: str | None, explain: bool | None) -> dict[str, Any]:
    """Return what a report in this form needs of answers: members of MessagesAsking."""
    return {
        "explain": form == "junit" or explains(items, explain),
        "full": explain is True,
        "width": width_of_output(output),
        "objects": form in ("json", "jsonl"),
        "findings": form in (*WRITERS, "sarif"),
    }


def denied(text: str | None) -> tuple[Denied, ...]:
    """Return what `--deny` names. Raises UsageError."""
    known: Final[tuple[Denied, ...]] = get_args(Denied)
    found: list[Denied] = []
    for name in [] if text is None else [part.strip() for part in text.split(",")]:
        word = next((each for each in known if each == name), None)
        if word is None:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"--deny: there is no {name!r} to deny, only {' and '.join(known)}{hint}")
        found.append(word)
    return tuple(dict.fromkeys(found))
