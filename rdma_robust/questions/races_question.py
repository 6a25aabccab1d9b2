"""The question of `races`: does a program have a data race?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rdma_robust.frame.answer import Answer
from rdma_robust.frame.question import Question
from rdma_robust.frame.registry import late, late_record, loading
from rdma_robust.frame.shell.inputs import Source, read_source
from rdma_robust.frame.shell.stderr import no_certificate, warning_texts
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.options import CheckOptions

if TYPE_CHECKING:
    from rdma_robust.analyses.races.find_races import RaceOutcome
    from rdma_robust.reports.analyses.races_report import RacesRecord


@dataclass(frozen=True, slots=True)
class RacesAsking:
    """How programs are asked: of the `options` count the hardware, the depth of receive queues, loops that wait, and limits.

    `explain` asks for the races beneath the rows, with their runs.
    """

    options: CheckOptions
    expect: bool = False
    explain: bool = True

    def described(self) -> dict[str, object]:
        """Return how the answers were found as the `options` of a report."""
        names = ("recv_depth", "await_loops", "timeout", "max_states", "memory")
        found: dict[str, object] = {name: getattr(self.options, name) for name in names}
        found |= {"define": list(self.options.define), "expect": self.expect}
        return found | self.options.model.described()

    def limits(self) -> Limits:
        """Return the limits of a program, from now on."""
        return self.options.limits()


def races_found(name: str, text: str, asking: RacesAsking, limits: Limits, progress: Progress = ignore) -> RaceOutcome:
    """Return the answer for the text of a program of this name. Raises ProgramError."""
    from rdma_robust.analyses.races.find_races import find_races  # noqa: PLC0415
    from rdma_robust.language.flow.spinning import blocking, spin_assumed  # noqa: PLC0415
    from rdma_robust.language.load import load_decidable, with_c_options  # noqa: PLC0415 - slow, and may have failed

    # A loop that only waits is one look that waits: its word is one by which threads tell each other something.
    asked = with_c_options(text, ("--about=races",), name) if _of_standard(name, text, asking) else text
    program = blocking(load_decidable(asked, name))
    program = spin_assumed(program, asking.options.await_loops)
    options = asking.options.on(program.hardware)
    return find_races(program, options.model, limits, progress, recv_depth=options.recv_depth)


def _of_standard(name: str, text: str, asking: RacesAsking) -> bool:
    """Whether the question is what the standard of a library promises: a program of OpenSHMEM or MPI may rely on that."""
    from rdma_robust.language.load import is_c  # noqa: PLC0415 - slow, and may have failed

    return is_c(text, name) and asking.options.order is None and asking.options.hardware is None


def _answer(
    source: Source, asking: RacesAsking, limits: Limits, progress: Progress, _: Callable[[Answer[RacesRecord]], None]
) -> Answer[RacesRecord]:
    from rdma_robust.reports.analyses.races_report import races_record  # noqa: PLC0415 - slow, and may have failed

    text = read_source(source)
    found = races_found(source.name, text, asking, limits, progress)
    messages = warning_texts(found.program.warnings, source.name, text)
    of_standard = _of_standard(source.name, text, asking)
    complaint = _certified(source, text, found, asking.options, of_standard=of_standard)
    missing = (no_certificate(source.name, complaint),) if complaint else ()
    record = races_record(found, source.name)
    return Answer(record, (*messages, *missing), uncertified=len(missing), text=text)


def _certified(source: Source, text: str, found: RaceOutcome, options: CheckOptions, *, of_standard: bool) -> str:
    """Write the certificate of a race where one is wanted; return why there is none, '' for a verdict of UNKNOWN."""
    if source.certificate is None:
        return ""
    from rdma_robust.questions.certificate_files import certify_race  # noqa: PLC0415 - slow, and seldom wanted

    return certify_race(found, text, source, options, of_standard=of_standard)


RACES: Final[Question[RacesAsking, RacesRecord]] = Question(
    "races",
    ("rdma-robust/races", 1),
    "program",
    _answer,
    late_record("rdma_robust.reports.analyses.races_report:RacesRecord"),
    late("rdma_robust.reports.analyses.races_report:RacesView"),
    loading(
        "rdma_robust.analyses.races.find_races", "rdma_robust.language.load", "rdma_robust.reports.analyses.races_report"
    ),
)
