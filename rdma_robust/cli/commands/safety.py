"""The `reach` and `verify` commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rdma_robust import TOOL
from rdma_robust.cli.answering import answer_each, answer_item, only
from rdma_robust.cli.inputs import Source, expand
from rdma_robust.cli.output import StandardOutput
from rdma_robust.cli.processes.guard import ENDING
from rdma_robust.cli.stderr import warn
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.reports.share.exits import Exit
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

    def limits(self) -> Limits:
        """Return the limits of a program, from now on."""
        return Limits.of(self.timeout, self.max_states, self.memory)


def run_reach(file: str, target: str, model: Literal["sc", "rdma"], limits: SafetyLimits, form: Form) -> Exit:
    """Answer whether `target` is reachable; return the exit code. Raises UsageError, BrokenPipeError."""
    item = only(file, "reach")

    def answer(source: Source, text: str) -> Exit:
        from rdma_robust.analyses.safety.goals import StateGoal  # noqa: PLC0415
        from rdma_robust.analyses.safety.reach import reach  # noqa: PLC0415
        from rdma_robust.language.flow.waiting import blocking  # noqa: PLC0415
        from rdma_robust.language.load import load_program_and_target  # noqa: PLC0415 - slow, and reading may have failed
        from rdma_robust.reports.analyses import safety_report  # noqa: PLC0415
        from rdma_robust.reports.check import json_report  # noqa: PLC0415

        # Loops that only wait are taken for blocking reads: their failed reads change no state.
        program, meant = load_program_and_target(text, source.name, target)
        program = blocking(program)
        for warning in program.warnings:
            warn(printable(warning.render(source.name, text), "\n"))
        asked = reach(program, [StateGoal(meant)], model, limits.limits(), limits.hardware)
        out = StandardOutput()
        if form == "json":
            options = limits.described()
            result = safety_report.reach_object(program, meant.text, model, asked, tool=TOOL, options=options)
            out.line(json_report.layout(result))
        else:
            out.line("\n".join(safety_report.reach_text(program, meant.text, model, asked)))
        return safety_report.REACH_EXITS[asked.answers[0].answer]

    return answer_item(item, limits.limits(), answer, ENDING)


def run_verify(files: Sequence[str], limits: SafetyLimits, form: Form, explain: bool | None) -> Exit:
    """Check the claims of every program; return the worst exit code. Raises BrokenPipeError."""
    items = expand(files)
    show = len(items) == 1 if explain is None else explain

    def answer(source: Source, text: str) -> Exit:
        from rdma_robust.analyses.safety.verify import verify  # noqa: PLC0415
        from rdma_robust.language.flow.waiting import blocking  # noqa: PLC0415
        from rdma_robust.language.load import load_program  # noqa: PLC0415 - slow, and reading may have failed
        from rdma_robust.reports.analyses import safety_report  # noqa: PLC0415
        from rdma_robust.reports.check import json_report  # noqa: PLC0415

        program = blocking(load_program(text, source.name))
        for warning in program.warnings:
            warn(printable(warning.render(source.name, text), "\n"))
        verified = verify(program, limits.limits(), limits.hardware)
        out = StandardOutput()
        if form == "json":
            out.line(json_report.layout(safety_report.verify_object(verified, TOOL, limits.described())))
        else:
            out.line("\n".join(safety_report.verify_text(verified, show)))
        return safety_report.VERIFY_EXITS[verified.status]

    return answer_each(items, limits.limits, answer, ENDING)
