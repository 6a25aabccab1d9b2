"""The question of `models`: is a program robust on each hardware?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rdma_robust.frame.answer import Answer
from rdma_robust.frame.question import Question
from rdma_robust.frame.registry import late, late_record, loading
from rdma_robust.frame.shell.inputs import Source, read_source
from rdma_robust.frame.shell.stderr import warning_texts
from rdma_robust.limits import Limits, Progress
from rdma_robust.options import CheckOptions

if TYPE_CHECKING:
    from rdma_robust.reports.analyses.models_report import ModelsRecord


@dataclass(frozen=True, slots=True)
class ModelsAsking:
    """How programs are decided on each hardware, which has one of the `orders`."""

    options: CheckOptions
    orders: tuple[str, ...]
    explain: bool = True

    @property
    def expect(self) -> bool:
        """Nothing: `expect` lines are about the hardware of the program itself."""
        return False

    def described(self) -> dict[str, object]:
        """Return how the answers were found as the `options` of a report."""
        names = ("recv_depth", "await_loops", "define", "timeout", "max_states", "memory")
        return {name: getattr(self.options, name) for name in names} | {"define": list(self.options.define)}

    def limits(self) -> Limits:
        """Return the limits of a program, from now on."""
        return self.options.limits()


def _answer(
    source: Source, asking: ModelsAsking, limits: Limits, progress: Progress, _: Callable[[Answer[ModelsRecord]], None]
) -> Answer[ModelsRecord]:
    from rdma_robust.analyses.hardware.on_all_hardware import on_all_hardware  # noqa: PLC0415
    from rdma_robust.language.flow.spinning import spin_assumed  # noqa: PLC0415
    from rdma_robust.language.load import load_decidable  # noqa: PLC0415 - slow, and reading may have failed
    from rdma_robust.reports.analyses.models_report import models_record  # noqa: PLC0415

    text, options = read_source(source), asking.options
    program = spin_assumed(load_decidable(text, source.name, crowds=True), options.await_loops)
    found = on_all_hardware(program, options, progress, limits, asking.orders)
    messages = warning_texts(program.warnings, source.name, text)
    return Answer(replace(models_record(found), file=source.name), messages)


MODELS: Final[Question[ModelsAsking, ModelsRecord]] = Question(
    "models",
    ("rdma-robust/models", 1),
    "program",
    _answer,
    late_record("rdma_robust.reports.analyses.models_report:ModelsRecord"),
    late("rdma_robust.reports.analyses.models_report:ModelsView"),
    loading(
        "rdma_robust.analyses.hardware.on_all_hardware",
        "rdma_robust.language.load",
        "rdma_robust.reports.analyses.models_report",
    ),
)
