"""One program on all hardware, from the source to a record, whatever happens on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from rdma_robust.cli.processes.decide_program import (
    Answer,
    Progress,
    decide_item,
    guarded,
    ignore,
    in_time,
    limits_of,
    lost_program,
)
from rdma_robust.frame.shell.inputs import Item, Missing, Source, read_source
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.reports.analyses.models_report import ModelsRecord


@dataclass(frozen=True, slots=True)
class ModelsAnswer:
    """The record of one program, and what to say about it on standard error."""

    record: ModelsRecord
    messages: tuple[str, ...] = ()


def answer_models(item: Item, options: CheckOptions, progress: Progress = ignore) -> ModelsAnswer:
    """Return the answer for `item`. Raises nothing but KeyboardInterrupt."""
    if isinstance(item, Missing):
        return _unanswered(decide_item(item, CheckOptions()))
    loaded = guarded(item.name, load_models)
    if isinstance(loaded, Answer):
        return _unanswered(loaded)
    limits = limits_of(options)
    found = in_time(item.name, limits, partial(_decide, item, options, limits, progress))
    return found if isinstance(found, ModelsAnswer) else _unanswered(found)


def lost_models(name: str, why: str, defect: bool, time_s: float) -> ModelsAnswer:
    """Return the answer for a program whose process gave none."""
    return _unanswered(lost_program(name, why, defect, time_s))


def load_models() -> None:
    """Load what answers, once for all processes that will be started."""
    from rdma_robust.analyses.hardware import on_all_hardware  # noqa: F401, PLC0415
    from rdma_robust.language import load  # noqa: F401, PLC0415
    from rdma_robust.reports.analyses import models_report  # noqa: F401, PLC0415


def _decide(source: Source, options: CheckOptions, limits: Limits, progress: Progress) -> ModelsAnswer:
    text = read_source(source)
    from rdma_robust.analyses.hardware.on_all_hardware import on_all_hardware  # noqa: PLC0415
    from rdma_robust.language.flow.spinning import spin_assumed  # noqa: PLC0415
    from rdma_robust.language.load import load_decidable  # noqa: PLC0415 - slow, and reading may have failed
    from rdma_robust.reports.analyses.models_report import models_record  # noqa: PLC0415

    program = spin_assumed(load_decidable(text, source.name, crowds=True), options.await_loops)
    found = on_all_hardware(program, options, progress, limits)
    messages = tuple(printable(warning.render(source.name, text), "\n") for warning in program.warnings)
    return ModelsAnswer(replace(models_record(found), file=source.name), messages)


def _unanswered(answer: Answer) -> ModelsAnswer:
    from rdma_robust.reports.analyses.models_report import no_verdicts  # noqa: PLC0415 - slow

    messages = answer.messages if answer.result.verdict == "error" else ()
    return ModelsAnswer(no_verdicts(answer.result), messages)
