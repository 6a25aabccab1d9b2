"""Imports of the authors' text format and of logs of MPI."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, MessageQuestions
from rdma_robust.messages.traces.mp_trace import import_mp_trace
from rdma_robust.messages.traces.mpi_log import AS_LOGGED, import_mpi_log
from rdma_robust.messages.traces.observed import read_recorded
from rdma_robust.messages.traces.trace_record import MessageTrace, trace_json

FIGURE_1 = """\
T2_0: snd(0, 4)
T2_1: wait(T2_0)
T0_0: rcv(0, a)
T0_1: wait(T0_0)
T2_2: snd(1, 9)
T2_3: wait(T2_2)
T1_0: rcv(1, c)
T1_1: wait(T1_0)
T1_2: snd(0, 1)
T1_3: wait(T1_2)
T0_2: rcv(0, b)
T0_3: wait(T0_2)
T0_4: assume(> b 0)
T0_5: assert(= a 4)
"""


def answer(trace: MessageTrace) -> BufferAnswer:
    program = read_recorded(trace_json(trace), "t.json").program
    return by_states(program, "infinite", MessageQuestions(count=True), NO_LIMITS)


def errors(read: Callable[[], object]) -> str:
    with pytest.raises(ProgramError) as raised:
        read()
    return str(raised.value)


def test_the_first_figure_in_the_authors_format() -> None:
    found = answer(import_mp_trace(FIGURE_1, PurePath("f1.txt").name))
    assert found.matchings is not None
    assert (found.violated, len(found.pairs or ()), found.matchings.count) == ("yes", 5, 2)


def test_a_receive_without_a_wait_ends_with_the_nearest_enclosing_one() -> None:
    text = "T0_0: rcv(0, a)\nT0_1: rcv(0, b)\nT0_2: wait(T0_1)\nT0_3: assert(and (= a 1) (= b 2))\n"
    trace = import_mp_trace(text + "T1_0: snd(0, 1)\nT1_1: snd(0, (+ 1 1))\n", "t")
    assert [each.op for each in trace.processes[0].events] == ["irecv", "irecv", "wait", "wait", "assert"]
    assert (answer(trace).violated, answer(trace).deadlocked) == ("no", "no")


def test_names_without_a_value_get_it_from_an_equation_or_are_left_out() -> None:
    start = "T0_0: rcv(0, a)\nT0_1: assume(= (+ a 1) m[i]_0)\nT0_2: assume(/= tid 0)\n"
    end = "T0_3: rcv(0, a)\nT0_4: assert(= m[i]_0 a)\nT1_0: snd(0, 1)\nT1_1: snd(0, 2)\n"
    trace = import_mp_trace(start + end, "t")
    assert [(each.severity, each.code, each.span.line) for each in trace.warnings] == [("warning", "RR946", 3)]
    assert [each.fields.get("into") or each.fields.get("to") for each in trace.processes[0].events][:3] == [
        "a",
        "m_i__0",
        "a_2",
    ]
    assert answer(trace).violated == "no"


def test_names_that_are_words_of_the_language_get_others() -> None:
    text = "T0_0: rcv(0, while)\nT0_1: rcv(0, len)\nT0_2: assert(= while len)\nT1_0: snd(0, 1)\nT1_1: snd(0, 1)\n"
    assert answer(import_mp_trace(text, "t")).violated == "no"


def test_a_task_can_have_several_endpoints() -> None:
    text = "T0_0: rcv(5, a)\nT0_1: rcv(7, b)\nT0_2: assert(= a 1)\nT1_0: snd(7, 2)\nT1_1: snd(5, 1)\n"
    found = answer(import_mp_trace(text, "t"))
    assert (found.violated, found.deadlocked, len(found.pairs or ())) == ("no", "no", 2)


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "there are no events"),
        ("T0_0: foo(1)", "t:1:1: error: this line is no event"),
        ("T0_0: rcv(0)", "`rcv` has an endpoint"),
        ("T0_0: rcv(0, 1)", "t:1:13: error: `rcv` has the name"),
        ("T0_0: rcv(0, a)\nT0_0: wait(T0_0)", "t:2:1: error: there is a line `T0_0` before"),
        ("T0_0: rcv(0, a)\nT1_0: rcv(0, a)", "t:2:1: error: endpoint 0 belongs to T0"),
        ("T0_0: snd(3, 1)", "no task receives at endpoint 3"),
        ("T0_0: rcv(0, a)\nT1_0: wait(T0_0)", "`T0_0` is no `snd` or `rcv` of T1"),
        ("T0_0: snd(0, zz)", "`zz` has no value here"),
        ("T0_0: assume(> 1)", "t:1:14: error: `>` has another number of operands"),
        ("T0_0: assume(~ 1 2)", "there is something behind the expression"),
        ("T0_0: assume((~ 1 2))", "t:1:15: error: no operator"),
        ("T0_0: assume((> 1 2)", "a parenthesis is not closed"),
    ],
)
def test_errors_in_the_authors_format_are_told_where_they_are(text: str, said: str) -> None:
    assert said in errors(lambda: import_mp_trace(text, "t"))


LOG = """\
{"rank": 0, "call": "MPI_Init"}
{"rank": 0, "call": "MPI_Irecv", "source": "any", "tag": 5, "request": 1, "line": 12}
{"rank": 0, "call": "MPI_Recv", "source": 2, "tag": "any", "status": {"source": 2, "tag": 7}}
{"rank": 0, "call": "MPI_Waitall", "requests": [1], "statuses": [{"source": 1, "tag": 5}]}
{"rank": 0, "call": "MPI_Barrier"}
{"rank": 1, "call": "MPI_Send", "dest": 0, "tag": 5, "value": 42}
{"rank": 1, "call": "MPI_Barrier"}
{"rank": 1, "call": "MPI_Sendrecv", "dest": 2, "sendtag": 0, "source": 2, "recvtag": 0}
{"rank": 2, "call": "MPI_Send", "dest": 0, "tag": 7, "comm": "MPI_COMM_WORLD"}
{"rank": 2, "call": "MPI_Barrier"}
{"rank": 2, "call": "MPI_Isend", "dest": 1, "tag": 0, "request": "s"}
{"rank": 2, "call": "MPI_Recv", "source": 1, "tag": 0}
{"rank": 2, "call": "MPI_Wait", "request": "s"}
"""


def test_a_log_of_mpi_says_what_its_receives_took() -> None:
    trace = import_mpi_log([("log", LOG)])
    assert trace.notes == (AS_LOGGED,)
    taken = [[each.fields.get("matched") for each in rank.events if "recv" in each.op] for rank in trace.processes]
    assert taken == [[(1, 0), (2, 0)], [(2, 1)], [(1, 1)]]
    assert read_recorded(trace_json(trace), "t.json").observed is not None
    assert (answer(trace).deadlocked, answer(trace).leaking) == ("no", "no")


def test_a_log_for_each_rank_is_the_same() -> None:
    lines = LOG.splitlines(keepends=True)
    parts = [(f"{rank}.log", "".join(line for line in lines if f'"rank": {rank}' in line)) for rank in range(3)]
    without = [(file, text.replace(f'"rank": {rank}, ', "")) for rank, (file, text) in enumerate(parts)]
    assert import_mpi_log(parts) == import_mpi_log(without) == import_mpi_log([("log", LOG)])


def test_sends_have_modes() -> None:
    made = import_mpi_log([("log", LOG.replace('MPI_Send"', 'MPI_Ssend"').replace("MPI_Isend", "MPI_Issend"))])
    assert [each.mode for rank in made.processes for each in rank.events if "send" in each.op] == [
        "sync",
        "standard",
        "sync",
        "sync",
    ]
    made = import_mpi_log([("log", LOG.replace('MPI_Send"', 'MPI_Bsend"'))])
    assert sum(each.mode == "buffered" for rank in made.processes for each in rank.events) == 2


PROBED = """\
{"rank": 0, "call": "MPI_Iprobe", "source": "any", "tag": "any", "flag": 0}
{"rank": 0, "call": "MPI_Probe", "source": "any", "tag": "any", "status": {"source": 2, "tag": 7}}
{"rank": 0, "call": "MPI_Mprobe", "source": 1, "tag": "any", "message": "m", "status": {"source": 1, "tag": 5}}
{"rank": 0, "call": "MPI_Improbe", "source": "any", "tag": 5, "flag": 1, "message": 7, "status": {"source": 1, "tag": 5}}
{"rank": 0, "call": "MPI_Imrecv", "message": 7, "request": "h"}
{"rank": 0, "call": "MPI_Recv", "source": 2, "tag": 7}
{"rank": 0, "call": "MPI_Mrecv", "message": "m", "line": 9}
{"rank": 0, "call": "MPI_Wait", "request": "h"}
{"rank": 1, "call": "MPI_Bsend", "dest": 0, "tag": 5}
{"rank": 1, "call": "MPI_Send", "dest": 0, "tag": 5}
{"rank": 2, "call": "MPI_Send", "dest": 0, "tag": 7}
"""


def test_a_log_has_probes_as_what_they_saw() -> None:
    trace = import_mpi_log([("log", PROBED)])
    events = trace.processes[0].events
    assert [each.op for each in events] == ["probe", "mprobe", "mprobe", "imrecv", "recv", "mrecv", "wait"]
    assert [events[at].fields["matched"] for at in (3, 4, 5)] == [(1, 1), (2, 0), (1, 0)]
    assert read_recorded(trace_json(trace), "t.json").observed is not None
    found = answer(trace)
    assert (found.violated, found.deadlocked, found.leaking, len(found.pairs or ())) == ("no", "no", "no", 3)


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('"flag": 0', '"tag": 0', "the member `tag` is there twice"),
        (', "flag": 0', "", "MPI_Iprobe needs `flag`, a number from 0"),
        ('"message": 7, "status"', '"message": "m", "status"', "log:4:85: error: the message `m` was not received yet"),
        ('"message": "m", "line"', '"message": "n", "line"', "no message `n` is held"),
        ('"message": 7, "request"', '"request"', "MPI_Imrecv needs its message, a name or a number"),
        ('"status": {"source": 2, "tag": 7}', '"status": {"source": 2}', "a receive of any tag does not say which tag came"),
    ],
)
def test_errors_about_probes_are_told_where_they_are(old: str, new: str, said: str) -> None:
    assert said in errors(lambda: import_mpi_log([("log", PROBED.replace(old, new, 1))]))


@pytest.mark.parametrize(
    "old, new, said",
    [
        (
            '"statuses": [{"source": 1, "tag": 5}]',
            '"statuses": []',
            "log:2:21: error: a receive of any source does not",
        ),
        ('"status": {"source": 2, "tag": 7}', '"status": {"source": 2}', "a receive of any tag does not say which tag came"),
        ('"dest": 0, "tag": 5', '"dest": 0, "tag": 6', "log:2:21: error: the log has no send of rank 1 with tag 5"),
        ("MPI_Irecv", "MPI_Irec", "did you mean `MPI_Irecv`?"),
        ("MPI_Irecv", "MPI_Start", "this call cannot be read here"),
        ('"dest": 2', '"dest": 9', "there is no rank 9 in the log"),
        ('"requests": [1]', '"requests": [2]', "no request `2` is open"),
        ('"requests": [1], ', "", "MPI_Waitall needs `requests`"),
        ('"rank": 1', '"rank": -1', "`rank` is a number"),
        ('"dest": 0', '"destt": 0', "did you mean `dest`?"),
        ('"MPI_Wait", "request": "s"', '"MPI_Wait"', "needs its request"),
        ('{"rank": 0, "call": "MPI_Init"}', "[1]", "log:1:1: error: a line of a log is an object"),
        ('{"rank": 0, "call": "MPI_Init"}', "{", "log:1:2: error"),
        ('"request": "s"}\n{"rank": 2', '"request": "s"}\n{"rank": 2, "request": "s", "comm": 3', ""),
    ],
)
def test_errors_in_a_log_are_told_where_they_are(old: str, new: str, said: str) -> None:
    assert old in LOG
    assert said in errors(lambda: import_mpi_log([("log", LOG.replace(old, new, 1))]))
