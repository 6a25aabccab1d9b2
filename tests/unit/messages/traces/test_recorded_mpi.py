"""Logs of `messages record`: communicators, collective calls, waits for one of several, and runs that were cut."""

from __future__ import annotations

import pytest

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import ProgramError
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.message_answers import BufferAnswer
from rdma_robust.messages.traces.mpi_log import import_mpi_log
from rdma_robust.messages.traces.observed import read_recorded
from rdma_robust.messages.traces.trace_program import program_of
from rdma_robust.messages.traces.trace_record import trace_json
from rdma_robust.questions.messages_question import MessagesAsking, decide_in_time


def lines(rank: int, *calls: str) -> str:
    """The log of a rank; a call is its name without `MPI_`, and members as they stand in the line."""
    named = [each.partition(" ") for each in calls]
    return "".join(f'{{"rank": {rank}, "call": "MPI_{name}"{", " * bool(rest)}{rest}}}\n' for name, _, rest in named)


def decided(*logs: str, buffer: str = "infinite") -> BufferAnswer:
    trace = trace_json(import_mpi_log([(f"{number}.jsonl", log) for number, log in enumerate(logs)]))
    asking = MessagesAsking(buffer=buffer)  # type: ignore[arg-type]
    (answer,) = decide_in_time(Source("run", None, trace.encode()), asking, NO_LIMITS).answers
    return answer


MADE = tuple(f'Comm_dup "newcomm": "{name}", "group": [0, 1]' for name in "ab")


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (('Barrier "comm": "b"', 'Barrier "comm": "a"'), ("no", "yes")),
        (('Barrier "comm": "a"', 'Barrier "comm": "b"'), ("no", "no")),
        (('Barrier "comm": "a"', 'Bcast "comm": "b", "root": 0'), ("yes", "no")),
    ],
)
def test_each_communicator_has_its_own_collective_calls(calls: tuple[str, str], said: tuple[str, str]) -> None:
    one = lines(0, *MADE, 'Barrier "comm": "a"', 'Barrier "comm": "b"')
    found = decided(one, lines(1, *MADE, *calls))
    assert (found.violated, found.deadlocked) == said


def test_nonblocking_collective_calls_of_two_communicators_may_cross() -> None:
    first, second = (f'Ibarrier "comm": "{name}", "request": {number}' for number, name in enumerate("ab"))
    waits = 'Waitall "requests": [0, 1]'
    found = decided(lines(0, *MADE, first, second, waits), lines(1, *MADE, second, first, waits))
    assert (found.violated, found.deadlocked) == ("no", "no")


def test_what_a_collective_call_gives_is_compared() -> None:
    calls = [f'Bcast "root": 0, "type": "MPI_INT", "count": {count}' for count in (4, 5)]
    assert decided(*(lines(rank, call) for rank, call in enumerate(calls))).violated == "yes"
    assert decided(*(lines(rank, calls[0]) for rank in (0, 1))).violated == "no"


INIT = 'Init "size": 2'


def waiting(rank: int, of: int) -> str:
    """A rank that waits for another one, and ends there."""
    return lines(rank, INIT) + f'{{"rank": {rank}, "call": "MPI_Recv", "source": {of}, "tag": 0'


def test_a_communicator_of_collective_calls_alone_is_no_port() -> None:
    logs = [(str(rank), lines(rank, MADE[0], 'Barrier "comm": "a"')) for rank in (0, 1)]
    read = read_recorded(trace_json(import_mpi_log(logs)), "t.json")
    assert (read.program.ports, read.program.warnings) == (("",), ())


def test_a_call_that_is_not_followed_is_no_other_one() -> None:
    with pytest.raises(ProgramError, match="that is not followed: record a run without it"):
        import_mpi_log([("0", lines(0, 'Cancel "request": 1'))])


def test_a_run_that_hangs_is_a_deadlock() -> None:
    found = decided(waiting(0, 1), waiting(1, 0))
    assert (found.violated, found.deadlocked, found.leaking) == ("unknown", "yes", "unknown")
    assert found.reason == "the recorded run stops before the end of rank 0 and rank 1"


@pytest.mark.parametrize("other", [lines(1, INIT), lines(1, INIT, 'Send "dest": 0, "tag": 0'), ""])
def test_a_run_that_was_cut_is_unknown(other: str) -> None:
    found = decided(waiting(0, 1), other)
    assert (found.deadlocked, found.deadlock, found.leaking) == ("unknown", None, "unknown")


def test_who_waits_for_one_that_has_ended_is_in_a_deadlock() -> None:
    assert decided(waiting(0, 1), lines(1, INIT, "Finalize")).deadlocked == "yes"


def test_a_receive_that_nothing_completes_may_have_taken_what_comes_first() -> None:
    receives = 'Irecv "source": "any", "tag": 0, "request": 1', 'Recv "source": 1, "tag": 0'
    sends = ('Send "dest": 0, "tag": 0', "Finalize")
    assert decided(lines(0, INIT, *receives, "Finalize"), lines(1, INIT, *sends[:1], *sends)).deadlocked == "no"


def test_waits_and_tests_say_what_they_completed() -> None:
    sends = lines(1, INIT, 'Isend "dest": 0, "tag": 0, "request": 1', 'Test "requests": [1], "statuses": [{}]', "Finalize")
    posted = [f'Irecv "source": 1, "tag": {tag}, "request": {tag}' for tag in (0, 1)]
    told = 'Waitany "among": [0, 1], "requests": [0], "statuses": [{"source": 1, "tag": 0}]'
    assert decided(lines(0, INIT, *posted, told, "Finalize"), sends).leaking == "yes"
    cut = lines(0, INIT, *posted) + '{"rank": 0, "call": "MPI_Waitany", "among": [1, 0]'
    assert decided(cut, lines(1, INIT, "Finalize")).deadlocked == "yes"


def test_receives_that_nobody_looks_at_are_told_apart_while_they_are_open() -> None:
    irecvs = [f'Irecv "source": 1, "tag": 0, "request": {each}' for each in (1, 2)]
    status = '{"source": 1, "tag": 0}'
    waits = f'Waitall "requests": [1, 2], "statuses": [{status}, {status}]'
    trace = import_mpi_log([("0", lines(0, *irecvs, waits)), ("1", lines(1, *['Send "dest": 0, "tag": 0'] * 2))])
    assert program_of(trace, Reporter("t.json", "")).warnings == ()


def took(source: int) -> str:
    return f'"status": {{"source": {source}, "tag": 0}}'


def status(source: int) -> str:
    return f'"source": "any", "tag": 0, {took(source)}'


def test_whom_a_process_answers_that_receives_another_message_is_not_known() -> None:
    """A farm that answers `status.MPI_SOURCE` has no deadlock, though the logged answers have one with other matches."""
    answers = [call for of in (2, 1) for call in (f"Recv {status(of)}", f'Ssend "dest": {of}, "tag": 0')]
    workers = [lines(rank, 'Ssend "dest": 0, "tag": 0', 'Recv "source": 0, "tag": 0') for rank in (1, 2)]
    found = decided(lines(0, *answers), *workers)
    assert (found.violated, found.deadlocked, found.deadlock, found.leaking) == ("no", "unknown", None, "no")
    assert "if rank 0 receives another message at line 9 than in the log" in found.reason


def test_a_deadlock_of_the_logged_matches_is_one_whatever_others_would_do() -> None:
    """Both workers wait for each other first, which buffers hide; the first receive of rank 0 can be another one too."""
    receives = [f"Recv {status(of)}" for of in (1, 2)]
    workers = [
        lines(me, f'Send "dest": {other}, "tag": 1', f'Recv "source": {other}, "tag": 1', 'Send "dest": 0, "tag": 0')
        for me, other in ((1, 2), (2, 1))
    ]
    assert decided(lines(0, *receives), *workers, buffer="zero").deadlocked == "yes"


def test_who_only_tests_does_not_wait_forever() -> None:
    asks = ('Isend "dest": 1, "tag": 0, "request": 1', 'Test "requests": [1]')
    other = lines(1, 'Send "dest": 0, "tag": 0', 'Recv "source": 0, "tag": 0')
    both = (lines(0, *asks, 'Recv "source": 1, "tag": 0'), other)
    found = decided(*both, buffer="zero")
    assert (found.deadlocked, "where the program can go on with something else" in found.reason) == ("unknown", True)
    assert decided(*(each.replace("Test", "Waitall") for each in both), buffer="zero").deadlocked == "yes"


INTS = '"dest": 0, "tag": 0, "type": "MPI_INT", "count"'


ANY = '"any"'


def room(source: str, kind: str, count: int) -> str:
    """A receive of so many elements of a type."""
    return f'Recv "source": {source}, "tag": 0, "recvtype": "{kind}", "room": {count}'


@pytest.mark.parametrize(
    ("sent", "kind", "count", "said"),
    [
        (2, "MPI_INT", 2, ()),
        (3, "MPI_INT", 2, ("room",)),
        (2, "MPI_FLOAT", 2, ("type",)),
        (0, "MPI_FLOAT", 0, ()),
        (1, "MPI_INT", 0, ("room",)),
    ],
)
def test_types_and_lengths_of_messages_are_compared(sent: int, kind: str, count: int, said: tuple[str, ...]) -> None:
    found = decided(lines(0, room("1", kind, count)), lines(1, f"Send {INTS}: {sent}"))
    assert tuple(each.kind for each in found.violations) == said


def test_a_message_that_another_receive_took_may_be_too_long() -> None:
    receives = [f"{room(ANY, 'MPI_INT', count)}, {took(of)}" for of, count in ((1, 1), (2, 4))]
    sends = [lines(me, f"Send {INTS}: {count}") for me, count in ((1, 1), (2, 4))]
    found = decided(lines(0, *receives), *sends)
    assert [each.kind for each in found.violations] == ["room"]


def test_what_agrees_wherever_it_may_go_is_not_compared() -> None:
    trace = import_mpi_log([("0", lines(0, room("1", "MPI_INT", 4))), ("1", lines(1, f"Send {INTS}: 3"))])
    assert trace.processes[1].events[0].fields["size"] == 3
    assert not program_of(trace, Reporter("t.json", "")).checks_matches


def test_who_looks_for_any_message_may_see_another_one() -> None:
    """Without buffers rank 0 sees the message of rank 2 first, though the log has that of rank 1."""
    looks = [call for of in (1, 2) for call in (f"Probe {status(of)}", f'Recv "source": {of}, "tag": 0')]
    one = lines(1, 'Recv "source": 2, "tag": 0', 'Send "dest": 0, "tag": 0')
    two = lines(2, 'Send "dest": 0, "tag": 0', 'Send "dest": 1, "tag": 0')
    assert decided(lines(0, *looks), one, two, buffer="zero").deadlocked == "unknown"
    assert decided(lines(0, *looks[1::2]), one, two, buffer="zero").deadlocked == "yes"


@pytest.mark.parametrize("call", ["Probe", "Mprobe"])
@pytest.mark.parametrize("source", [ANY, "1"])
def test_a_run_that_hangs_in_a_look_is_a_deadlock(call: str, source: str) -> None:
    cut = lines(0, INIT) + f'{{"rank": 0, "call": "MPI_{call}", "source": {source}, "tag": 0'
    assert decided(cut, lines(1, INIT, "Finalize")).deadlocked == "yes"
    assert decided(cut, lines(1, INIT, 'Send "dest": 0, "tag": 0', "Finalize"), buffer="zero").deadlocked != "no"
