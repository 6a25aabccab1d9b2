"""Random programs of two processes twice: as `.rdma`, and as C of OpenSHMEM or one-sided MPI, call by call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final


@dataclass(frozen=True, slots=True)
class SpmdTwin:
    """A program in both languages."""

    c: str
    rdma: str


@dataclass(frozen=True, slots=True)
class SpmdDialect:
    """A library: its calls with what each is, for register R, words X and Y, constant K and peer P; calls that both
    make, with what each is for process 0 and 1; and the text around."""

    calls: Sequence[tuple[str, str]]
    words: tuple[str, ...]
    named: dict[str, str]
    meetings: Sequence[tuple[str, str, str]]
    begin: str
    outputs: tuple[str, str]
    keep: tuple[str, str]


_TOLD: Final = "on told inline unsignaled"
_TELL: Final = f"order told; put P.f = 1 {_TOLD}"
_ANSWER: Final = "poll P; R = got"
SHMEM: Final = SpmdDialect(
    calls=[
        ("R = X;", "R = X"),
        ("X = K;", "X = K"),
        ("shmem_p(&X, K, p);", "put P.X = K inline unsignaled"),
        ("shmem_put(&X, &Y, 1, p);", "put P.X = Y inline unsignaled"),
        ("shmem_long_put_nbi(&X, &Y, 1, p);", "put P.X = Y unsignaled"),
        ("R = shmem_g(&X, p);", f"get got = P.X; {_ANSWER}"),
        ("shmem_get_nbi(&Y, &X, 1, p);", "get Y = P.X unsignaled"),
        ("shmem_atomic_inc(&X, p);", "faa(P.X, 1) unsignaled"),
        ("shmem_atomic_set(&X, K, p);", "swap(P.X, K) unsignaled"),
        ("R = shmem_atomic_fetch(&X, p);", f"get got = fetch(P.X); {_ANSWER}"),
        ("R = shmem_atomic_swap(&X, K, p);", f"get got = swap(P.X, K); {_ANSWER}"),
        ("R = shmem_atomic_fetch_add(&X, K, p);", f"get got = faa(P.X, K); {_ANSWER}"),
        ("R = shmem_atomic_compare_swap(&X, 0, K, p);", f"get got = cas(P.X, 0, K); {_ANSWER}"),
        ("shmem_fence();", "order P"),
        ("shmem_quiet();", "flush P"),
        ("shmem_wait_until(&X, SHMEM_CMP_GE, K);", "await X >= K"),
        ("if (R == K) { shmem_p(&X, 2, p); }", "if R == K { put P.X = 2 inline unsignaled }"),
        ("shmem_long_p(&X, R, p);", "put P.X = R inline unsignaled"),
        ("shmem_p(&l[1], K, p);", "put P.l_1 = K inline unsignaled"),
        ("m[1] = K;", "m_1 = K"),
        (
            "R = shmem_test_all(l, 2, 0, SHMEM_CMP_GE, 1);",
            "R = l_0; if R >= 1 { R = l_1; if R >= 1 { R = 1 } else { R = 0 } } else { R = 0 }",
        ),
        ("shmem_wait_until_all(l, 2, 0, SHMEM_CMP_NE, 0);", "await l_0 != 0; await l_1 != 0"),
    ],
    words=("x", "y", "z"),
    named={},
    meetings=[
        ("shmem_barrier_all();", "flush P; barrier", "flush P; barrier"),
        (
            "shmem_broadcast(SHMEM_TEAM_WORLD, &x, &y, 1, 0);",
            f"c = y; x = c; put P.x = y {_TOLD}; {_TELL}",
            "await f == 1",
        ),
        ("shmem_broadcast64(&x, &y, 1, 1, 0, 0, 2, psync);", "await f == 1", f"put P.x = y {_TOLD}; {_TELL}"),
        (
            "shmem_fcollect(SHMEM_TEAM_WORLD, l, &y, 1);",
            f"c = y; l_0 = c; put P.l_0 = y {_TOLD}; {_TELL}; await f == 1",
            f"put P.l_1 = y {_TOLD}; {_TELL}; c = y; l_1 = c; await f == 1",
        ),
        (
            "shmem_alltoalls(SHMEM_TEAM_WORLD, l, m, 1, 1, 1);",
            f"c = m_0; l_0 = c; put P.l_0 = m_1 {_TOLD}; {_TELL}; await f == 1",
            f"put P.l_1 = m_0 {_TOLD}; {_TELL}; c = m_1; l_1 = c; await f == 1",
        ),
        (
            "shmem_collect(SHMEM_TEAM_WORLD, l, &y, me);",
            "await f == 1",
            f"c = y; l_0 = c; put P.l_0 = y {_TOLD}; {_TELL}",
        ),
    ],
    begin="#include <shmem.h>\nstatic long x, y, z, l[2], m[2], out0, out1, psync[4];\n"
    "int main(void) { long r0 = 0, r1 = 0; int me, p;\n"
    "shmem_init(); me = shmem_my_pe(); p = 1 - me; shmem_barrier_all();\n",
    outputs=("out0", "out1"),
    keep=("shmem_p(&OUT, R, me);", "put OWN.OUT = R inline unsignaled"),
)
_LOCAL: Final = ("b0", "b1", "b2")
_MORE: Final = ("f", "d", "l_0", "l_1", "m_0", "m_1")


def _mpi(name: str, origin: str, more: str = "") -> str:
    return f"MPI_{name}(&{origin}, 1, MPI_LONG, p, X, 1, MPI_LONG, {more}win);"


MPI: Final = SpmdDialect(
    calls=[
        ("R = m[X];", "R = X"),
        ("m[X] = K;", "X = K"),
        ("R = B;", "R = B"),
        ("B = K;", "B = K"),
        ("B = R;", "B = R"),
        (_mpi("Put", "B"), "put P.X = B unsignaled"),
        (_mpi("Get", "B"), "get B = P.X unsignaled"),
        (_mpi("Accumulate", "B", "MPI_SUM, "), "faa(P.X, B) unsignaled"),
        (_mpi("Accumulate", "B", "MPI_REPLACE, "), "swap(P.X, B) unsignaled"),
        ("MPI_Fetch_and_op(0, &B, MPI_LONG, p, X, MPI_NO_OP, win);", "get B = fetch(P.X) unsignaled"),
        ("MPI_Fetch_and_op(&B, &C, MPI_LONG, p, X, MPI_SUM, win);", "get C = faa(P.X, B) unsignaled"),
        ("MPI_Compare_and_swap(&B, &C, &D, MPI_LONG, p, X, win);", "get D = cas(P.X, C, B) unsignaled"),
        ("MPI_Win_flush(p, win);", "flush P"),
        ("MPI_Win_flush_all(win);", "flush P"),
        ("if (R == K) { m[X] = 2; }", "if R == K { X = 2 }"),
    ],
    words=("0", "1"),
    named={"0": "win_o0", "1": "win_o8"},
    meetings=[
        ("MPI_Win_fence(0, win);", "flush P; barrier", "flush P; barrier"),
        (
            "MPI_Bcast(&b0, 1, MPI_LONG, 0, MPI_COMM_WORLD);",
            f"put P.d = b0 {_TOLD}; {_TELL}",
            "await f == 1; c = d; b0 = c",
        ),
        (
            "MPI_Allgather(&b0, 1, MPI_LONG, m, 1, MPI_LONG, MPI_COMM_WORLD);",
            f"put P.d = b0 {_TOLD}; {_TELL}; c = b0; win_o0 = c; await f == 1; c = d; win_o8 = c",
            f"put P.d = b0 {_TOLD}; {_TELL}; c = b0; win_o8 = c; await f == 1; c = d; win_o0 = c",
        ),
        (
            "MPI_Gather(&b0, 1, MPI_LONG, m, 1, MPI_LONG, 1, MPI_COMM_WORLD);",
            f"put P.d = b0 {_TOLD}; {_TELL}",
            "c = b0; win_o8 = c; await f == 1; c = d; win_o0 = c",
        ),
        (
            "MPI_Scatter(m, 1, MPI_LONG, &b0, 1, MPI_LONG, 0, MPI_COMM_WORLD);",
            f"c = win_o0; b0 = c; put P.d = win_o8 {_TOLD}; {_TELL}",
            "await f == 1; c = d; b0 = c",
        ),
        (
            "MPI_Alltoall(m + 2, 1, MPI_LONG, m, 1, MPI_LONG, MPI_COMM_WORLD);",
            f"put P.d = win_o24 {_TOLD}; {_TELL}; c = win_o16; win_o0 = c; await f == 1; c = d; win_o8 = c",
            f"put P.d = win_o16 {_TOLD}; {_TELL}; c = win_o24; win_o8 = c; await f == 1; c = d; win_o0 = c",
        ),
    ],
    begin="#include <mpi.h>\nint main(int argc, char **argv) { long r0 = 0, r1 = 0, b0 = 0, b1 = 0, b2 = 0, *m;\n"
    "int me, p; MPI_Win win; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me); p = 1 - me;\n"
    "MPI_Win_allocate(32, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &win); m[0] = m[1] = m[2] = m[3] = 0;\n"
    "MPI_Win_fence(0, win);\n",
    outputs=("2", "3"),
    keep=("m[OUT] = R;", "OUT = R"),
)


def random_spmd(dialect: SpmdDialect, seed: int, size: int) -> SpmdTwin:
    """Return a random program: two phases of calls for each process, with a meeting between them."""
    rng = Random(f"spmd {dialect.outputs} {seed}")
    meeting, *met = rng.choice(dialect.meetings)
    parts: list[tuple[list[str], list[str]]] = []
    for number, (own, peer) in enumerate((("P0", "P1"), ("P1", "P0"))):
        phases = [[_call(dialect, rng, peer) for _ in range(rng.randint(1, size))] for _ in range(2)]
        kept = [_kept(dialect, own, register, out) for register, out in zip(("r0", "r1"), dialect.outputs, strict=True)]
        parts.append(
            (
                [c for c, _ in phases[0]] + [meeting] + [c for c, _ in phases[1]] + [c for c, _ in kept],
                [r for _, r in phases[0]]
                + [_filled(met[number], {"P": peer})]
                + [r for _, r in phases[1]]
                + [r for _, r in kept],
            )
        )
    first, second = (" ".join(c) for c, _ in parts)
    text = f"{dialect.begin}if (me == 0) {{ {first} }} else {{ {second} }}\nreturn 0; }}\n"
    names = [dialect.named.get(each, each) for each in dialect.words]
    outs = [{"2": "win_o16", "3": "win_o24"}.get(each, each) for each in dialect.outputs]
    words = ", ".join([*names, *outs, *_LOCAL, *_MORE, "got"])
    nodes = "".join(f"node {process} {{ {words} }}\n" for process in ("P0", "P1"))
    threads = "".join(
        f"thread T{number} on P{number} {{\nreg r0, r1, c\nqp told to P{1 - number}\n{'; '.join(lines)}\n}}\n"
        for number, (_, lines) in enumerate(parts)
    )
    lines = threads.replace("; ", "\n")
    return SpmdTwin(text, f"domain 0..60\nallow loopback\n{nodes}{lines}")


def _kept(dialect: SpmdDialect, own: str, register: str, out: str) -> tuple[str, str]:
    c, said = dialect.keep
    named = {"2": "win_o16", "3": "win_o24"}.get(out, out)
    return (
        c.replace("OUT", out).replace("R", register),
        said.replace("OUT", named).replace("OWN", own).replace("R", register),
    )


def _call(dialect: SpmdDialect, rng: Random, peer: str) -> tuple[str, str]:
    """Return a random call in both languages."""
    c, said = rng.choice(dialect.calls)
    x, y = rng.sample(dialect.words, 2)
    register, constant, locals_ = rng.choice(("r0", "r1")), str(rng.randint(1, 2)), rng.sample(_LOCAL, 3)
    found = []
    for text, names in ((c, {}), (said, dialect.named)):
        marks = {"X": names.get(x, x), "Y": names.get(y, y), "K": constant, "R": register}
        marks |= dict(zip("BCD", locals_, strict=True)) if dialect is MPI else {}
        marks |= {"P": peer} if text is said else {}
        found.append(_filled(text, marks))
    return found[0], found[1]


def _filled(text: str, marks: dict[str, str]) -> str:
    import re  # noqa: PLC0415 - only here

    return re.sub(r"\b[A-Z]\b", lambda found: marks.get(found[0], found[0]), text)
