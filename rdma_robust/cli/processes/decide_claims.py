"""The claims of one program, or a target of `reach`, from the source to a record, whatever happens on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
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
    lost_program,
    timed,
)
from rdma_robust.errors import Diagnostic
from rdma_robust.frame.shell.inputs import Item, Missing, Source, read_source
from rdma_robust.guard import found_within
from rdma_robust.limits import ENDLESS, Limits
from rdma_robust.model import Hardware, Model, ModelName
from rdma_robust.options import RECV_DEPTH, CheckOptions
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.analyses.safety.questions import Reached, ReachOutcome
    from rdma_robust.analyses.safety.verify import Verified
    from rdma_robust.language.flow.cfg import Program
    from rdma_robust.reports.analyses.safety_record import SafetyRecord


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked of every program: its claims, or with a `target` whether that is reachable under `model`.

    The limits are those of one program, None is no limit. `explain` asks for runs in the text, which is `width` wide,
    `full` for every step of them. `hangs` and `strict` are for claims. `define` are definitions that reports repeat.
    `hardware` is what is said of it besides by the programs, `recv_depth` the room of a receive queue.
    """

    hardware: Hardware
    timeout: float | None
    max_states: int | None
    memory: int | None
    explain: bool = False
    full: bool = False
    width: int | None = None
    target: str | None = None
    model: ModelName = "rdma"
    hangs: bool = True
    strict: bool = False
    define: tuple[str, ...] = ()
    recv_depth: int = RECV_DEPTH

    def described(self) -> dict[str, object]:
        """Return how the answers were found as the `options` of a report."""
        limits = {
            "timeout": self.timeout,
            "max_states": None if self.max_states == ENDLESS else self.max_states,
            "memory": self.memory,
        }
        claims = {} if self.target is not None else {"hangs": self.hangs, "strict": self.strict}
        more = {"define": list(self.define), "recv_depth": self.recv_depth}
        return self.hardware.model.described() | limits | claims | more

    def model_of(self, program: Program) -> Model:
        """Return the memory model that a program is asked about."""
        return self.hardware.over(program.hardware).model

    def limits(self) -> Limits:
        """Return the limits of a program, from now on."""
        return Limits.of(self.timeout, self.max_states, self.memory)


@dataclass(frozen=True, slots=True)
class SafetyAnswer:
    """The record of one program, and what to say about it on standard error."""

    record: SafetyRecord
    messages: tuple[str, ...] = ()


def answer_safety(item: Item, asking: Asking, progress: Progress = ignore) -> SafetyAnswer:
    """Return the answer for `item`. Raises nothing but KeyboardInterrupt."""
    if isinstance(item, Missing):
        return _unanswered(asking, decide_item(item, CheckOptions()))
    action = _claims if asking.target is None else _target
    loaded = guarded(item.name, load_safety)
    if isinstance(loaded, Answer):
        return _unanswered(asking, loaded)
    started = time.monotonic()
    reading = partial(_read, item, partial(action, asking=asking, progress=progress))
    found = in_time(item.name, asking.limits(), reading)
    return found if isinstance(found, SafetyAnswer) else _unanswered(asking, timed(found, started))


def lost_safety(asking: Asking, name: str, why: str, defect: bool, time_s: float) -> SafetyAnswer:
    """Return the answer for a program whose process gave none."""
    return _unanswered(asking, lost_program(name, why, defect, time_s))


def load_safety() -> None:
    """Load what answers, once for all processes that will be started."""
    from rdma_robust.analyses.safety import handing_over  # noqa: F401, PLC0415
    from rdma_robust.language import load  # noqa: F401, PLC0415
    from rdma_robust.reports.analyses import safety_record  # noqa: F401, PLC0415


def _unanswered(asking: Asking, answer: Answer) -> SafetyAnswer:
    from rdma_robust.reports.analyses.safety_record import unanswered  # noqa: PLC0415 - slow

    messages = answer.messages if answer.result.verdict == "error" else ()
    return SafetyAnswer(unanswered(answer.result, asking.target, asking.model), messages)


def _read(source: Source, answer: Callable[[str, str], SafetyAnswer]) -> SafetyAnswer:
    return answer(read_source(source), source.name)


def _claims(text: str, name: str, *, asking: Asking, progress: Progress) -> SafetyAnswer:
    from rdma_robust.analyses.safety.handing_over import verify_all  # noqa: PLC0415
    from rdma_robust.language.flow.waiting import blocking  # noqa: PLC0415
    from rdma_robust.language.load import load_program  # noqa: PLC0415 - slow, not always needed
    from rdma_robust.reports.analyses.safety_record import verified_record  # noqa: PLC0415
    from rdma_robust.reports.analyses.safety_report import verify_object, verify_text  # noqa: PLC0415

    limits = asking.limits()
    program = blocking(load_program(text, name))
    verified = verify_all(
        program,
        limits,
        asking.model_of(program),
        hangs=asking.hangs,
        recv_depth=asking.recv_depth,
        progress=progress,
    )

    def told(found: Verified) -> SafetyRecord:
        return replace(
            verified_record(found, strict=asking.strict),
            answer=verify_object(found),
            lines=tuple(verify_text(found, asking.explain, asking.width, full=asking.full)),
            source=text,
        )

    def without_runs(why: str) -> SafetyRecord:
        checked = (replace(each, answer=_without_run(each.answer, why), model_run=None) for each in verified.checked)
        return told(replace(verified, checked=tuple(checked)))

    record = found_within(limits, partial(told, verified), without_runs)
    return SafetyAnswer(record, _warnings(program.warnings, name, text))


def _without_run(answer: Reached, why: str) -> Reached:
    """Return an answer without its run, which could not be told."""
    if answer.run is None:
        return answer
    return replace(answer, run=None, reason=f"{answer.reason}; the run was left out: {why}")


def _target(text: str, name: str, *, asking: Asking, progress: Progress) -> SafetyAnswer:
    from rdma_robust.analyses.safety.goals import StateGoal, with_blocking_waits  # noqa: PLC0415
    from rdma_robust.analyses.safety.reach import reach_goals  # noqa: PLC0415
    from rdma_robust.language.load import load_program_and_target  # noqa: PLC0415 - slow, and reading may have failed
    from rdma_robust.reports.analyses.safety_record import reached_record  # noqa: PLC0415
    from rdma_robust.reports.analyses.safety_report import reach_object, reach_text  # noqa: PLC0415

    program, meant = load_program_and_target(text, name, asking.target or "")
    program = with_blocking_waits(program, meant)
    limits = asking.limits()
    asked = reach_goals(
        program,
        [StateGoal(meant)],
        asking.model,
        limits,
        asking.model_of(program),
        recv_depth=asking.recv_depth,
        progress=progress,
    )

    def told(found: ReachOutcome) -> SafetyRecord:
        lines = reach_text(program, meant, asking.model, found, asking.width, full=asking.full)
        return replace(
            reached_record(program, meant.text, asking.model, found),
            answer=reach_object(program, meant.text, asking.model, found),
            lines=tuple(lines if asking.explain else lines[: lines.index("")] if "" in lines else lines),
            source=text,
        )

    def without_runs(why: str) -> SafetyRecord:
        return told(replace(asked, answers=tuple(_without_run(each, why) for each in asked.answers)))

    record = found_within(limits, partial(told, asked), without_runs)
    return SafetyAnswer(record, _warnings(program.warnings, name, text))


def _warnings(warnings: tuple[Diagnostic, ...], name: str, text: str) -> tuple[str, ...]:
    return tuple(printable(warning.render(name, text), "\n") for warning in warnings)
