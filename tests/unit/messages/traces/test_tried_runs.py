"""Runs of a recorded program that are tried: what the program does with the matches of a counterexample."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from rdma_robust.errors import UsageError
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.message_answers import BufferAnswer
from rdma_robust.messages.traces.mpi_log import import_mpi_log
from rdma_robust.messages.traces.trace_record import MessageTrace, trace_json
from rdma_robust.questions.messages_question import MessagesAsking, decide_in_time
from rdma_robust.record import mpi_runs
from rdma_robust.record.mpi_runs import RecordableProgram, RecordedMessages
from rdma_robust.record.recorder_of_mpi import recorder_source
from rdma_robust.record.tried_runs import TriedRuns


def trace_of(first: int, behind: str, *, ends: bool) -> MessageTrace:
    """A run of three processes: the first receives from any, in this run of `first`, and then what stands `behind`."""

    def log(*calls: str) -> str:
        return "}\n".join(f'{{"call": "MPI_{each}' for each in ('Init"', *calls))

    took = f'"source": "any", "tag": 0, "status": {{"source": {first}, "tag": 0}}'
    receives = log(f'Recv", {took}', f'Recv", "tag": 0, {behind}', *(['Finalize"}'] if ends else []))
    sends = log('Send", "dest": 0, "tag": 0', 'Finalize"}')
    return import_mpi_log([(str(rank), each) for rank, each in enumerate((receives, sends, sends))])


@dataclass
class Again:
    """In the place of a program: another run of it, None if it cannot be run again."""

    trace: MessageTrace | None
    forced: list[str] = field(default_factory=list)

    def run(self, _: float, forced: str) -> RecordedMessages:
        self.forced.append(forced)
        if self.trace is None:
            raise UsageError("it cannot be run")
        return RecordedMessages(self.trace, ())


def decided(recorded: MessageTrace, again: Again | None) -> BufferAnswer:
    tried = None if again is None else TriedRuns(cast("RecordableProgram", again), recorded, 1.0)
    asking = MessagesAsking(buffer="infinite", tried=tried)
    (answer,) = decide_in_time(Source("run", None, trace_json(recorded).encode()), asking, NO_LIMITS).answers
    return answer


RECORDED = trace_of(2, '"source": 1', ends=True)


def test_a_deadlock_is_one_if_the_program_makes_the_same_calls_again() -> None:
    again = Again(trace_of(1, '"source": 1', ends=False))
    found = decided(RECORDED, again)
    assert (found.deadlocked, again.forced) == ("yes", ["0 0 1 0\n"])
    assert decided(RECORDED, None).deadlocked == "unknown"


def test_a_program_that_makes_other_calls_has_no_deadlock_that_is_known() -> None:
    for again in (trace_of(1, '"source": 2', ends=True), trace_of(2, '"source": 1', ends=True), None):
        found = decided(RECORDED, Again(again))
        assert (found.deadlocked, found.deadlock) == ("unknown", None)
        assert "run again so, it was not seen to" in found.reason


def test_receives_of_c_and_fortran_can_be_forced() -> None:
    source = recorder_source()
    for call, forces in (
        ("int MPI_Recv(", "record_force(&a3, &a4, a5);"),
        ("void mpi_recv_(", "f3 = forced + 0; f4 = forced + 1;"),
        ("int MPI_Sendrecv(", "record_force(&a8, &a9, a10);"),
        ("void mpi_sendrecv_replace_(", "f5 = forced + 0; f6 = forced + 1;"),
    ):
        assert forces in source[source.index(call) :].partition("\n}")[0]


def test_a_note_says_which_transfers_of_windows_are_not_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mpi_runs, "_said", lambda _: "   U MPI_Rput\n   U mpi_win_lock_f08_\n   U MPI_Win_fence\n")
    monkeypatch.setattr(mpi_runs, "mpi_of", lambda _: None)
    monkeypatch.setattr(mpi_runs, "build_library", lambda *_: None)
    (note,) = mpi_runs.recordable(["true"], 2, tmp_path).notes
    assert note.startswith("MPI_Rput and MPI_Win_lock: what transfers between windows do is not recorded")
