"""However traces and logs are broken, what is told is an error of the file."""

from __future__ import annotations

import random

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.messages.traces.mp_trace import import_mp_trace
from rdma_robust.messages.traces.mpi_log import import_mpi_log
from rdma_robust.messages.traces.observed import read_trace
from rdma_robust.messages.traces.trace_record import trace_json

TRACE = """{"format": "rdma-robust/message-trace", "version": 1, "processes": [
  {"name": "A", "events": [
    {"op": "irecv", "into": "a", "sender": "s", "port": "p", "request": "h", "matched": [1, 0]},
    {"op": "wait", "request": "h"},
    {"op": "assume", "expr": "a[0] > len(a)"}, {"op": "assign", "to": "b", "value": "new(2)"},
    {"op": "assign", "to": "b[1]", "value": "s"}, {"op": "collective", "name": "bcast", "root": 1, "into": "c"}]},
  {"name": "B", "daemon": true, "events": [{"op": "send", "to": 0, "port": "p", "tag": 3, "value": "1 / 2"}]}]}
"""
LINES = "T0_0: rcv(0, a)\nT0_1: wait(T0_0)\nT1_0: snd(0, (+ 1 2))\nT0_2: assume(and (> a 0) (= b 1))\nT0_3: assert(= b a)\n"
LOG = """{"rank": 0, "call": "MPI_Irecv", "source": "any", "tag": 5, "request": 1, "line": 12, "comm": "row"}
{"rank": 0, "call": "MPI_Waitall", "requests": [1], "statuses": [{"source": 1, "tag": 5}]}
{"rank": 1, "call": "MPI_Send", "dest": 0, "tag": 5, "value": 42, "comm": "row"}
{"rank": 1, "call": "MPI_Reduce", "root": 0}
"""
PIECES = [
    *'"{}[],:()\\ \n;#$\x00é',
    *("0", "-1", "1e5", "null", "true", "any", "9" * 30, "//", '"op"', '"matched"', "[0, 0]", "T0_0", "while", "MPI_Wait"),
]


def broken(text: str, chance: random.Random) -> str:
    """Return the text with a few pieces cut out, put in or doubled."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice([0, 0, 1, 2, 5, 20]))
        text = text[:start] + chance.choice([*PIECES, "", text[end : end + 10]]) + text[end:]
    return text


READERS = {
    "trace": (TRACE, lambda text: read_trace(text, "t.json")),
    "authors": (LINES, lambda text: read_trace(trace_json(import_mp_trace(text, "t.txt")), "t.json")),
    "log": (LOG, lambda text: read_trace(trace_json(import_mpi_log([("t.log", text)])), "t.json")),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("seed", [1, *(pytest.param(each, marks=pytest.mark.long) for each in range(2, 12))])
def test_what_is_broken_is_an_error_of_the_file(seed: int, reader: str) -> None:
    text, read = READERS[reader]
    chance, told = random.Random(seed), 0
    for _ in range(150 if seed == 1 else 2000):
        try:
            read(broken(text, chance))
        except ProgramError as wrong:
            assert str(wrong).startswith("t.")
            told += 1
    assert told > 50


@pytest.mark.parametrize("reader", READERS)
def test_what_is_whole_is_a_program(reader: str) -> None:
    text, read = READERS[reader]
    assert len(read(text).processes) == 2
