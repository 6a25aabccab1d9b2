"""The `reach` and `verify` commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rdma_robust import TOOL
from rdma_robust.cli.inputs import Item, Missing, expand, read_source
from rdma_robust.cli.output import StandardOutput
from rdma_robust.cli.processes.decide_program import exit_of_error, message_of
from rdma_robust.cli.stderr import warn
from rdma_robust.errors import UsageError
from rdma_robust.model import Model
from rdma_robust.reports.share.exits import Exit, worst
from rdma_robust.text import printable

Form = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class SafetyLimits:
    """The hardware and the limits for each program; None means no limit."""

    hardware: Model
    timeout: float | None
    max_states: int | None
    memory: int | None

    def described(self) -> dict[str, object]:
        """Return the limits as the `options` of a report."""
        limits = {"timeout": self.timeout, "max_states": self.max_states, "memory": self.memory}
        return self.hardware.described() | limits


def run_reach(file: str, target: str, model: Literal["sc", "rdma"], limits: SafetyLimits, form: Form) -> Exit:
    """Answer whether `target` is reachable; return the exit code. Raises UsageError, BrokenPipeError."""
    items = expand([file])
    if len(items) > 1:
        raise UsageError(f"reach takes one program, and {printable(file)} stands for {len(items)}")

    def answer(text: str, name: str) -> Exit:
        from rdma_robust.analyses.safety.goals import StateGoal  # noqa: PLC0415
        from rdma_robust.analyses.safety.reach import Bounds, reach  # noqa: PLC0415
        from rdma_robust.language.flow.waiting import blocking  # noqa: PLC0415
        from rdma_robust.language.load import load_program_and_target  # noqa: PLC0415 - slow, and reading may have failed
        from rdma_robust.reports.analyses import safety_report  # noqa: PLC0415
        from rdma_robust.reports.check import json_report  # noqa: PLC0415

        # Loops that only wait are taken for blocking reads: their failed reads change no state.
        program, meant = load_program_and_target(text, name, target)
        program = blocking(program)
        for warning in program.warnings:
            warn(printable(warning.render(name, text), "\n"))
        asked = reach(
            program, [StateGoal(meant)], model, Bounds(limits.hardware, limits.timeout, limits.max_states, limits.memory)
        )
        out = StandardOutput()
        if form == "json":
            options = limits.described()
            result = safety_report.reach_object(program, meant.text, model, asked, tool=TOOL, options=options)
            out.line(json_report.layout(result))
        else:
            out.line("\n".join(safety_report.reach_text(program, meant.text, model, asked)))
        return safety_report.REACH_EXITS[asked.answers[0].answer]

    return _each(items, answer)


def run_verify(files: Sequence[str], limits: SafetyLimits, form: Form, explain: bool | None) -> Exit:
    """Check the claims of every program; return the worst exit code. Raises BrokenPipeError."""
    items = expand(files)
    show = len(items) == 1 if explain is None else explain

    def answer(text: str, name: str) -> Exit:
        from rdma_robust.analyses.safety.reach import Bounds  # noqa: PLC0415
        from rdma_robust.analyses.safety.verify import verify  # noqa: PLC0415
        from rdma_robust.language.flow.waiting import blocking  # noqa: PLC0415
        from rdma_robust.language.load import load_program  # noqa: PLC0415 - slow, and reading may have failed
        from rdma_robust.reports.analyses import safety_report  # noqa: PLC0415
        from rdma_robust.reports.check import json_report  # noqa: PLC0415

        program = blocking(load_program(text, name))
        for warning in program.warnings:
            warn(printable(warning.render(name, text), "\n"))
        verified = verify(program, Bounds(limits.hardware, limits.timeout, limits.max_states, limits.memory))
        out = StandardOutput()
        if form == "json":
            out.line(json_report.layout(safety_report.verify_object(verified, TOOL, limits.described())))
        else:
            out.line("\n".join(safety_report.verify_text(verified, show)))
        return safety_report.VERIFY_EXITS[verified.status]

    return _each(items, answer)


def _each(items: Sequence[Item], answer: Callable[[str, str], Exit]) -> Exit:
    """Answer for each program; one that cannot be read or is invalid does not stop the others."""
    codes = []
    for item in items:
        if isinstance(item, Missing):
            warn(f"{printable(item.name)}: error: {item.reason}")
            codes.append(Exit.INVALID)
            continue
        try:
            codes.append(answer(read_source(item), item.name))
        except BrokenPipeError:
            raise
        except Exception as error:
            warn(message_of(error, item.name))
            codes.append(exit_of_error(error))
    return worst(codes)
