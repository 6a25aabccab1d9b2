"""Random C programs with MPI messages against the same programs written as `.mp`: one verdict under each buffer.

A program is a list of operations for each process; C and `.mp` are written from it side by side.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from rdma_robust.c.lock_step import window_calls
from rdma_robust.c.lock_step.channels import Channels, PostedReceive
from rdma_robust.c.lock_step.own_windows import OwnWindow
from rdma_robust.c.lock_step.rank_machine import RankMachine
from rdma_robust.c.lock_step.window_conflicts import WindowAccess
from rdma_robust.errors import ProgramError
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.engine_table import answered
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, MessageProgram
from rdma_robust.messages.message_answers import MessageQuestions
from tests.conftest import ROOT
from tests.support.patches import Patch, mutated

HEAD = """#include <mpi.h>
#define IGNORED MPI_STATUS_IGNORE
int main(int argc, char **argv)
{
	int rank, v[40] = {0}, k, f, at[2];
	MPI_Request q[30], all[30];
	MPI_Status s;
	MPI_Message m;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
"""
SENDS = {"Send": "send", "Ssend": "send sync", "Bsend": "send buffered"}


class Twins:
    """A random program as C and as `.mp`: a few operations for each of some processes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.size = self.random.choice((2, 2, 3))
        self.c = [HEAD]
        self.mp = [f"program twin{seed}"]
        for process in range(self.size):
            self._process(process)
        self.c.append(f"\tMPI_Finalize();\n\treturn 0;\n}}\n/* rdma-robust: options -n {self.size} */\n")

    def _process(self, own: int) -> None:
        self.active: list[int] = []
        self.issued = 0
        self.c.append(f"\tif (rank == {own}) {{")
        self.mp.append(f"proc P{own} {{\n  reg v, w\n  req r[30]")
        for _ in range(self.random.randint(1, 4)):
            self._operation(own)
        if self.active:
            self._wait_for_all()
        self.c.append("\t}")
        self.mp.append("}")

    def _operation(self, own: int) -> None:
        peer = self.random.choice([each for each in range(self.size) if each != own])
        tag, kind = self.random.randint(0, 1), self.random.choice(("send", "recv", "isend", "irecv", "exchange", "wait"))
        if kind == "send":
            name, words = self.random.choice(list(SENDS.items()))
            self.c.append(f"\t\tMPI_{name}(v, 1, MPI_INT, {peer}, {tag}, MPI_COMM_WORLD);")
            self.mp.append(f"  {words} 0 to P{peer} tag {tag}")
        elif kind == "isend":
            self.c.append(f"\t\tMPI_Isend(v, 1, MPI_INT, {peer}, {tag}, MPI_COMM_WORLD, &q[{self._new()}]);")
            self.mp.append(f"  r[{self.issued}] = isend 0 to P{peer} tag {tag}")
        elif kind == "exchange":
            self.c.append(
                f"\t\tMPI_Sendrecv(v, 1, MPI_INT, {peer}, {tag}, v + 1, 1, MPI_INT, {peer}, {tag}, MPI_COMM_WORLD, IGNORED);"
            )
            self.mp.append(
                f"  r[0] = irecv v from P{peer} tag {tag}\n  r[29] = isend 0 to P{peer} tag {tag}\n  wait r[0], r[29]"
            )
        elif kind == "wait" and self.active:
            self._wait_for_all() if self.random.random() < 0.5 else self._wait_for_one()
        else:
            self._receive(peer, tag, waits=kind != "irecv")

    def _receive(self, peer: int, tag: int, *, waits: bool) -> None:
        source, of = ("MPI_ANY_SOURCE", "any") if self.random.random() < 0.3 else (str(peer), f"P{peer}")
        named, words = ("MPI_ANY_TAG", "any") if self.random.random() < 0.3 else (str(tag), str(tag))
        if waits:
            self.c.append(f"\t\tMPI_Recv(v + 1, 1, MPI_INT, {source}, {named}, MPI_COMM_WORLD, IGNORED);")
            self.mp.append(f"  recv v from {of} tag {words}")
        else:
            at = self._new()
            self.c.append(f"\t\tMPI_Irecv(v + 1 + {at}, 1, MPI_INT, {source}, {named}, MPI_COMM_WORLD, &q[{at}]);")
            self.mp.append(f"  r[{at}] = irecv v from {of} tag {words}")

    def _new(self) -> int:
        self.issued += 1
        self.active.append(self.issued)
        return self.issued

    def _wait_for_all(self) -> None:
        fill = " ".join(f"all[{at}] = q[{each}];" for at, each in enumerate(self.active))
        number = len(self.active)
        if number > 1 and self.random.random() < 0.4:
            one = f"for (int i = 0; i < {number}; i++) MPI_Waitany({number}, all, &k, MPI_STATUS_IGNORE);"
            line = f"  wait any {', '.join(f'r[{each}]' for each in self.active)} into w"
            self.mp += [line] * number
        else:
            one = f"MPI_Waitall({number}, all, MPI_STATUSES_IGNORE);"
            self.mp.append(f"  wait {', '.join(f'r[{each}]' for each in self.active)}")
        self.c.append(f"\t\t{fill} {one}")
        self.active = []

    def _wait_for_one(self) -> None:
        at = self.active.pop(self.random.randrange(len(self.active)))
        self.c.append(f"\t\tMPI_Wait(&q[{at}], MPI_STATUS_IGNORE);")
        self.mp.append(f"  wait r[{at}]")


ASKED = (
    ("Waitany", "&k, MPI_STATUS_IGNORE", "wait any {r} into k", [("k == 0", "k == 0")]),
    ("Waitsome", "&k, at, MPI_STATUSES_IGNORE", "wait some {r} into k, e", [("k == 2", "k == 2"), ("at[0]", "e[0]")]),
    ("Testany", "&k, &f, MPI_STATUS_IGNORE", "test any {r} into f, k", [("!f", "f == 0"), ("k == 1", "k == 1")]),
    ("Testsome", "&k, at, MPI_STATUSES_IGNORE", "test some {r} into k, e", [("k == 1", "k == 1"), ("!k", "k == 0")]),
    ("Testall", "&f, MPI_STATUSES_IGNORE", "test all {r} into f", [("f", "f != 0")]),
)
"""Calls that say which of two requests are complete: in C, in `.mp`, and conditions on what they say."""


def _pattern(source: int | str, tag: int | str) -> str:
    """Return source, tag and communicator as arguments."""
    return f"{source}, {tag}, MPI_COMM_WORLD".replace("any", "MPI_ANY_SOURCE", source == "any").replace("any", "MPI_ANY_TAG")


class DecidingTwins:
    """Twins in which what a receive takes may decide what a process does next: its value, its source or its tag.

    Mostly, messages are planned with their receives, so that not every program hangs."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.size = self.random.choice((2, 3, 3))
        self.c, self.mp = [HEAD], [f"program deciding{seed}"]
        plans: list[list[tuple[str, int, int]]] = [[] for _ in range(self.size)]
        for _ in range(self.random.randint(2, 5)):
            sender, receiver = self.random.sample(range(self.size), 2)
            plans[sender].append(("send", receiver, self.random.randint(0, 1)))
            plans[receiver].append(("recv", sender, plans[sender][-1][2]))
        for process, plan in enumerate(plans):
            self.c.append(f"\tif (rank == {process}) {{")
            self.mp.append(f"proc P{process} {{\n  reg v, w, a, b, k, f, e[2]\n  req r[30]")
            self.sent, self.depth, self.own = 9, 0, process
            for each in plan:
                self._operation(*each)
            self.c.append("\t}")
            self.mp.append("}")
        self.c.append(f"\tMPI_Finalize();\n\treturn 0;\n}}\n/* rdma-robust: options -n {self.size} */\n")

    def _operation(self, what: str, peer: int, tag: int) -> None:
        if what == "send":
            self._send(peer, tag)
            return
        patterns = [peer if self.random.random() < 0.3 else "any", tag if self.random.random() < 0.5 else "any"]
        if self.random.random() < 0.25:
            self._several(*patterns)
            return
        self._receive(*patterns)
        if self.depth < 2 and self.random.random() < 0.7:
            self._decision(*patterns)

    def _send(self, peer: int, tag: int) -> None:
        self.sent += 1
        number, name = self.random.randint(0, 2), self.random.choice(list(SENDS))
        self.c.append(
            f"\t\tv[{self.sent}] = {number}; MPI_{name}(v + {self.sent}, 1, MPI_INT, {peer}, {tag}, MPI_COMM_WORLD);"
        )
        self.mp.append(f"  {SENDS[name]} {number} to P{peer} tag {tag}")

    def _receive(self, source: int | str, tag: int | str) -> None:
        """Receive at once, or after others by a request; or look for a message first."""
        pattern = _pattern(source, tag)
        of, named = ("any a" if source == "any" else f"P{source}"), "any b" if tag == "any" else str(tag)
        way = self.random.random()
        if way < 0.15:
            self.c.append(f"\t\tMPI_Mprobe({pattern}, &m, &s);\n\t\tMPI_Mrecv(v + 1, 1, MPI_INT, &m, &s);")
            self.mp.append(f"  mprobe r[0] from {of} tag {named}\n  mrecv v of r[0]")
            return
        if way < 0.3:
            self.c.append(f"\t\tMPI_Probe({pattern}, &s);")
            self.mp.append(f"  probe from {of} tag {named}")
        if way < 0.6:
            self.c.append(f"\t\tMPI_Recv(v + 1, 1, MPI_INT, {pattern}, &s);")
            self.mp.append(f"  recv v from {of} tag {named}")
            return
        self.c.append(f"\t\tMPI_Irecv(v + 1, 1, MPI_INT, {pattern}, &q[0]);")
        self.mp.append(f"  r[0] = irecv v from {of} tag {named}")
        self._send(self.random.choice([each for each in range(self.size) if each != self.own]), 0)
        self.c.append("\t\tMPI_Wait(&q[0], &s);")
        self.mp.append("  wait r[0]")

    def _several(self, source: int | str, tag: int | str) -> None:
        """Receive and send, or receive twice, and ask which is complete: that may decide what is done before both are."""
        peer, again = self.random.choice([each for each in range(self.size) if each != self.own]), self.random.random() < 0.4
        pattern = _pattern(source, tag)
        words = f"from {source if source == 'any' else f'P{source}'} tag {tag}"
        self.c.append(f"\t\tMPI_Irecv(v + 1, 1, MPI_INT, {pattern}, &all[0]);")
        self.c.append(f"\t\tMPI_I{'recv' if again else 'send'}(v + 2, 1, MPI_INT, {peer}, 0, MPI_COMM_WORLD, &all[1]);")
        self.mp.append(f"  r[0] = irecv v {words}")
        self.mp.append(f"  r[1] = irecv w from P{peer} tag 0" if again else f"  r[1] = isend 0 to P{peer} tag 0")
        name, c, mp, conditions = self.random.choice(ASKED)
        self.c.append(f"\t\tMPI_{name}(2, all, {c});")
        self.mp.append(f"  {mp.format(r='r[0], r[1]')}")
        in_c, in_mp = self.random.choice(conditions)
        self.c.append(f"\t\tif ({in_c}) {{")
        self.mp.append(f"  if {in_mp} {{")
        self._send(peer, 1)
        self.c.append("\t\t}\n\t\tMPI_Waitall(2, all, MPI_STATUSES_IGNORE);\n\t\tv[2] = 0;")
        self.mp.append("  }\n  wait r[0], r[1]")

    def _decision(self, source: int | str, tag: int | str) -> None:
        """Go one of two ways: sends and receives of this process alone, of which some hang."""
        what = self.random.choice(("value", "source", "tag"))
        of_c = {"value": "v[1]", "source": "s.MPI_SOURCE", "tag": "s.MPI_TAG"}[what]
        of_mp = {"value": "v", "source": "a" if source == "any" else source, "tag": "b" if tag == "any" else tag}[what]
        number = self.random.randint(0, 2)
        self.c.append(f"\t\tif ({of_c} == {number}) {{")
        self.mp.append(f"  if {of_mp} == {number} {{")
        self.depth += 1
        for between in (("\t\t} else {", "  } else {"), ("\t\t}", "  }")):
            for _ in range(self.random.randint(0, 2)):
                peer = self.random.choice([each for each in range(self.size) if each != self.own])
                self._operation(self.random.choice(("send", "send", "recv")), peer, self.random.randint(0, 1))
            self.c.append(between[0])
            self.mp.append(between[1])
        self.depth -= 1


def verdicts(program: MessageProgram) -> list[tuple[object, ...]]:
    """Return what is answered under each buffer."""
    found: list[tuple[object, ...]] = []
    for buffer in BUFFERS:
        answer = answered(program, buffer, MessageQuestions(count=True), Limits.of(60), "states")
        count = None if answer.matchings is None else answer.matchings.count
        found.append((buffer, answer.violated, answer.deadlocked, answer.leaking, answer.pairs, count))
    return found


def agree(seeds: range, kind: type[Twins | DecidingTwins] = Twins) -> set[str]:
    """Compare the twins of seeds; return the answers that were seen."""
    seen = set()
    for seed in seeds:
        twins = kind(seed)
        c, mp = load_messages("\n".join(twins.c), "twin.c"), load_messages("\n".join(twins.mp), "twin.mp")
        found = verdicts(c)
        assert found == verdicts(mp), f"seed {seed}\n" + "\n".join((*twins.c, *twins.mp))
        seen |= {f"{name} {answer}" for each in found for name, answer in zip(("deadlock", "leak"), each[2:4], strict=True)}
    return seen


def test_c_and_its_twin_have_the_same_verdicts() -> None:
    agree(range(5))


@pytest.mark.ci
def test_many_twins() -> None:
    assert {"deadlock yes", "deadlock no", "leak yes", "leak no"} <= agree(range(5, 80))
    agree(range(12, 22), DecidingTwins)


def test_where_open_values_decide_both_twins_do_the_same() -> None:
    agree(range(1, 4), DecidingTwins)


DATA = ROOT / "tests/data/data_of_messages.c"
"""A program whose assertions say what messages, collective calls and types move."""


GRID = ROOT / "tests/data/grid_of_processes.c"
"""One whose assertions say what topologies are."""

WINDOWS = ROOT / "tests/data/windows_beside_messages.c"
"""One whose assertions say what transfers move."""


@pytest.mark.ci
@pytest.mark.parametrize(
    ("file", "size"), [(DATA, 2), (DATA, 3), (DATA, 4), (GRID, 2), (GRID, 6), (WINDOWS, 2), (WINDOWS, 3)]
)
def test_data_is_where_a_library_of_mpi_puts_it(file: Path, size: int, tmp_path: Path) -> None:
    text = file.read_text(encoding="utf-8")
    program = load_messages(f"{text}/* rdma-robust: options -n {size} */\n", "data.c")
    assert not program.found
    answer = answered(program, "infinite", MessageQuestions(pairs=False), Limits.of(100), "auto")
    assert (answer.violated, answer.deadlocked, answer.leaking) == ("no", "no", "no")
    if shutil.which("mpicc") is None or shutil.which("mpirun") is None:
        pytest.skip("no mpicc, so that no library of MPI was asked")
    subprocess.run(["mpicc", "-o", tmp_path / "data", file], check=True)
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = ["mpirun", *(["--oversubscribe"] if "Open MPI" in _version() else []), "-n", str(size), str(tmp_path / "data")]
    subprocess.run(command, check=True, timeout=120, env=os.environ | allowed)


def _version() -> str:
    return subprocess.run(["mpirun", "--version"], check=True, capture_output=True, text=True).stdout


WINDOW = "MPI_Win o; MPI_Win_create(v, 4, 4, MPI_INFO_NULL, w, &o);"
PUT = "MPI_Put(v + 1, 1, MPI_INT, 1, 0, 1, MPI_INT, o);"
FENCE, FREE, ALONE = "MPI_Win_fence(0, o);", "MPI_Win_free(&o);", "MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, o);"
REAL_COMPLETE = window_calls.complete


def _all_complete(rank: RankMachine, window: OwnWindow, targets: tuple[int, ...] | None = None, **_: bool) -> None:
    REAL_COMPLETE(rank, window, targets)


MUTANTS: dict[str, tuple[Patch, str, str]] = {
    "a receive behind one from any is forced": (
        (PostedReceive, "is_like", lambda *_: False),
        "MPI_Irecv(v + 1, 1, MPI_INT, MPI_ANY_SOURCE, 3, w, q);"
        " MPI_Recv(v, 1, MPI_INT, 1, 3, w, IGNORED); if (v[0] == 5) exit(0);",
        "int x = 4; MPI_Send(&x, 1, MPI_INT, 0, 3, w); x = 5; MPI_Send(&x, 1, MPI_INT, 0, 3, w);",
    ),
    "tags do not tell messages apart": (
        (PostedReceive, "fits", lambda *_: True),
        "MPI_Recv(v, 1, MPI_INT, 1, 3, w, IGNORED); if (v[0] == 4) exit(0); MPI_Recv(v, 1, MPI_INT, 1, 2, w, IGNORED);",
        "int x = 4; MPI_Send(&x, 1, MPI_INT, 0, 2, w); x = 5; MPI_Send(&x, 1, MPI_INT, 0, 3, w);",
    ),
    "an open receive waits for more than it needs": (
        (Channels, "may_complete", lambda _, receive: not receive.is_open),
        "MPI_Recv(v, 1, MPI_INT, MPI_ANY_SOURCE, 3, w, IGNORED); exit(0);",
        "int x = 4; MPI_Send(&x, 1, MPI_INT, 0, 3, w);",
    ),
    "accesses beside active operations are not looked at": (
        (RankMachine, "note", lambda *_, **__: None),
        "MPI_Irecv(v, 1, MPI_INT, 1, 3, w, q); v[0] = 1; MPI_Wait(q, IGNORED);",
        "int x = 4; MPI_Send(&x, 1, MPI_INT, 0, 3, w);",
    ),
    "transfers are complete when their buffers are free": (
        (window_calls, "complete", _all_complete),
        f"{WINDOW} {ALONE} {PUT} MPI_Win_flush_local(1, o); MPI_Send(v, 0, MPI_INT, 1, 3, w); MPI_Win_unlock(1, o); {FREE}",
        f"{WINDOW} MPI_Recv(v + 2, 0, MPI_INT, 0, 3, w, IGNORED); v[0] = 1; {FREE}",
    ),
    "nothing orders transfers and stores": (
        (WindowAccess, "is_before", lambda self, other: self.process == other.process),
        f"{WINDOW} {FENCE} {PUT} {FENCE} {FREE}",
        f"{WINDOW} {FENCE} {FENCE} v[0] = 1; {FREE}",
    ),
    "exclusive locks exclude nobody": (
        (WindowAccess, "excludes", lambda *_: False),
        f"{WINDOW} {ALONE} {PUT} MPI_Win_unlock(1, o); {FREE}",
        f"{WINDOW} {ALONE} v[0] = 1; MPI_Win_unlock(1, o); {FREE}",
    ),
}  # fmt: skip
"""What is changed, and the two sides of a program that notices it."""


def _told(first: str, second: str) -> object:
    """Return what is found of a program: what is wrong by itself with its kind, or the refusal."""
    head = HEAD.replace("#include <mpi.h>", "#include <mpi.h>\n#include <stdlib.h>\n#define w MPI_COMM_WORLD")
    text = f"{head}if (rank == 0) {{ {first} }} else {{ {second} }} MPI_Finalize(); return 0; }}\n"
    try:
        program = load_messages(f"{text}/* rdma-robust: options -n 2 */\n", "mutant.c")
    except ProgramError as error:
        return [each.code for each in error.diagnostics]
    return {each.kind for found in (program.found or {}).values() for each in found}


@pytest.mark.ci
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_noticed(name: str) -> None:
    change, *sides = MUTANTS[name]
    honest = _told(*sides)
    with mutated((change,)):
        assert _told(*sides) != honest
