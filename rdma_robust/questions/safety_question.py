"""The questions of `verify` and `reach`: do the claims of a program hold, and is a state of it reachable?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from rdma_robust.frame.answer import Answer, Failure
from rdma_robust.frame.formats.columns import PAPER
from rdma_robust.frame.question import Question
from rdma_robust.frame.registry import loading
from rdma_robust.frame.shell.inputs import Source, read_source
from rdma_robust.frame.shell.stderr import warning_texts
from rdma_robust.guard import found_within
from rdma_robust.limits import ENDLESS, Limits, Progress
from rdma_robust.model import Hardware, Model, ModelName
from rdma_robust.options import RECV_DEPTH
from rdma_robust.questions.checkpoint_claim import claim_checkpoints
from rdma_robust.text import filled

if TYPE_CHECKING:
    from rdma_robust.analyses.safety.questions import Reached, ReachOutcome
    from rdma_robust.analyses.safety.verify import Verified
    from rdma_robust.language.flow.cfg import Program
    from rdma_robust.reports.analyses.safety_record import SafetyRecord, SafetyView


@dataclass(frozen=True, slots=True)
class SafetyAsking:
    """The question about every program: its claims, or with a `target` whether that is reachable under `model`.

    The limits are those of one program, None is no limit. `explain` asks for runs in the text, which is `width` wide,
    `full` for every step of them. `hangs` and `strict` are for claims.
    `define` are definitions that reports repeat.
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
    threads: int = 1
    executor: str = ""
    checkpoint: str = ""

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

    @property
    def expect(self) -> bool:
        """Nothing: what a program claims is the question itself."""
        return False

    def model_of(self, program: Program) -> Model:
        """Return the memory model that a program is asked about."""
        return self.hardware.over(program.hardware).model

    def limits(self) -> Limits:
        """Return the limits of a program, from now on."""
        threads, executor, checkpoint = self.threads, self.executor, self.checkpoint
        given = (self.timeout, self.max_states, self.memory)
        return Limits.of(*given, threads=threads, executor=executor, checkpoint=checkpoint)


def _answer(
    source: Source, asking: SafetyAsking, limits: Limits, progress: Progress, _: Callable[[Answer[SafetyRecord]], None]
) -> Answer[SafetyRecord]:
    answer = _claims if asking.target is None else _target
    text = read_source(source)
    claim_checkpoints(text, source, asking, limits)
    return answer(text, source.name, asking=asking, progress=progress)


def _claims(text: str, name: str, *, asking: SafetyAsking, progress: Progress) -> Answer[SafetyRecord]:
    from rdma_robust.analyses.safety.handing_over import verify_all  # noqa: PLC0415
    from rdma_robust.language.flow.spinning import blocking  # noqa: PLC0415
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
            lines=(*verify_text(found, asking.explain, asking.width, full=asking.full), *_searched(asking, limits)),
            source=text,
        )

    def without_runs(why: str) -> SafetyRecord:
        checked = (replace(each, answer=_without_run(each.answer, why), model_run=None) for each in verified.checked)
        return told(replace(verified, checked=tuple(checked)))

    record = found_within(limits, partial(told, verified), without_runs)
    return Answer(record, warning_texts(program.warnings, name, text), text=text)


def _without_run(answer: Reached, why: str) -> Reached:
    """Return an answer without its run, which could not be told."""
    if answer.run is None:
        return answer
    return replace(answer, run=None, reason=f"{answer.reason}; the run was left out: {why}")


def _searched(asking: SafetyAsking, limits: Limits) -> list[str]:
    """Return how the searches were shared, for who wants to know all."""
    from rdma_robust.reports.share.searchers_text import shared_text  # noqa: PLC0415 - few ask

    return ["", *filled(shared_text(limits.searchers or ()), asking.width or PAPER, "  ")] if asking.full else []


def _target(text: str, name: str, *, asking: SafetyAsking, progress: Progress) -> Answer[SafetyRecord]:
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
        shown = lines if asking.explain or "" not in lines else lines[: lines.index("")]
        return replace(
            reached_record(program, meant.text, asking.model, found),
            answer=reach_object(program, meant.text, asking.model, found),
            lines=(*shown, *_searched(asking, limits)),
            source=text,
        )

    def without_runs(why: str) -> SafetyRecord:
        return told(replace(asked, answers=tuple(_without_run(each, why) for each in asked.answers)))

    record = found_within(limits, partial(told, asked), without_runs)
    return Answer(record, warning_texts(program.warnings, name, text), text=text)


def _unanswered(failure: Failure, asking: SafetyAsking) -> SafetyRecord:
    from rdma_robust.reports.analyses.safety_record import unanswered  # noqa: PLC0415 - slow

    return unanswered(failure, asking.target, asking.model)


def _verify_view(asking: SafetyAsking) -> SafetyView:
    from rdma_robust.reports.analyses.safety_record import VERIFY_WORDS, SafetyView  # noqa: PLC0415 - slow

    return SafetyView(asking, VERIFY_WORDS)


def _reach_view(asking: SafetyAsking) -> SafetyView:
    from rdma_robust.reports.analyses.safety_record import REACH_WORDS, SafetyView  # noqa: PLC0415 - slow

    return SafetyView(asking, REACH_WORDS)


_LOAD: Final = loading(
    "rdma_robust.analyses.safety.handing_over", "rdma_robust.language.load", "rdma_robust.reports.analyses.safety_record"
)
VERIFY: Final[Question[SafetyAsking, SafetyRecord]] = Question(
    "verify",
    ("rdma-robust/verify", 1),
    "program",
    _answer,
    _unanswered,
    _verify_view,
    _LOAD,
    heavy_records=True,
)
REACH: Final[Question[SafetyAsking, SafetyRecord]] = Question(
    "reach",
    ("rdma-robust/reach", 1),
    "program",
    _answer,
    _unanswered,
    _reach_view,
    _LOAD,
    heavy_records=True,
)
