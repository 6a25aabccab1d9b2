"""Random programs with templates, and questions about their copies."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from rdma_robust.expr import Binary, Const, Expr, Name, conj
from rdma_robust.language.check.targets import Atom, CopyCountAtom, StateTarget, ThreadAtExit, ThreadAtPoints
from rdma_robust.language.flow.cfg import Program
from tests.support.crowded import crowd


class Asked(NamedTuple):
    program: Program
    target: StateTarget
    text: str


def random_asked(rng: Random, *, loops: bool = False, templates: int = 1) -> Asked:
    """Return a program with crowds and a target that asks for copies of them."""
    own = [rng.random() < 0.5 for _ in range(templates)]
    names = ["C", "D"][:templates]
    shared = ["x", "y", "z"][: rng.randint(1, 3)]
    lines = ["domain 0..2", "node S { " + ", ".join(f"{v} = {rng.choice([0, 0, 1])}" for v in shared) + " }"]
    lines.append("node O { o = 1 }")
    lines += [f"node {c}N {{ p = {rng.choice([0, 1])}, q }}" for c, mine in zip(names, own, strict=True) if mine]
    for c, mine in zip(names, own, strict=True):
        node = f"{c}N" if mine else "S"
        body = _body(rng, shared, mine, loops, rng.randint(2, 4))
        lines.append(f"thread {c} on {node} {{ reg a, b\n" + "\n".join(body) + "\n}")
    if rng.random() < 0.4:
        body = _body(rng, shared, False, loops, rng.randint(1, 3))
        lines.append("thread T on S { reg a, b\n" + "\n".join(body) + "\n}")
    text = "\n".join(lines)
    program = crowd(text, *names)
    return Asked(program, _target(rng, program, shared), text)


def _body(rng: Random, shared: list[str], remote: bool, loops: bool, length: int) -> list[str]:
    """Return statements; on an own node the shared words are reached by put and get."""
    found = []
    if rng.random() < 0.3:
        get = "get q = cas(S.{}, 0, 1); poll S; b = q" if remote else "b = cas({}, 0, 1)"
        found += ["b = 1", f"while b != 0 {{ {get.format(rng.choice(shared))} }}"]
    for _ in range(length):
        kinds = ["remote"] * 3 + ["own"] if remote else ["write", "read", "cas", "cas", "faa"]
        kind = rng.choice([*kinds, "if", "assume", "loop" if loops else "if"])
        v, r, k = rng.choice(shared), rng.choice("ab"), rng.randint(0, 2)
        match kind:
            case "write":
                found.append(f"{v} = {rng.choice([str(k), r])}")
            case "read":
                found.append(f"{r} = {v}")
            case "cas":
                found.append(f"{r} = cas({v}, {rng.randint(0, 1)}, {rng.randint(0, 2)})")
                if rng.random() < 0.5:
                    found.append(f"assume {r} == {rng.randint(0, 1)}")
            case "faa":
                found.append(f"if {v} < 2 {{ skip }}")
            case "remote":
                put = f"put S.{v} = {rng.choice(['p', 'q', str(k)])}"
                get = f"get {rng.choice('pq')} = S.{v}"
                found.append(rng.choice([put, get, f"get q = cas(S.{v}, {rng.randint(0, 1)}, {k})"]))
                if rng.random() < 0.7:
                    found.append("poll S")
            case "own":
                found.append(rng.choice([f"p = {k}", f"{r} = q", f"q = {r}"]))
            case "if":
                inner = _body(rng, shared, remote, False, 1)
                found.append(f"if {r} == {k} {{ {'; '.join(inner)} }}")
            case "assume":
                found.append(f"assume {r} == {k}" if rng.random() < 0.5 else "skip")
            case _:
                inner = _body(rng, shared, remote, False, rng.randint(1, 2))
                found.append(f"loop {{ {'; '.join(inner)} }}")
    return found


def _target(rng: Random, program: Program, shared: list[str]) -> StateTarget:
    counts: list[tuple[str, CopyCountAtom]] = []
    parts: list[Expr] = []
    for n in range(rng.randint(1, 2)):
        thread = rng.choice(program.crowds)
        condition, atoms = _of_copy(rng, program, thread.name, shared)
        name = f"count {n}"
        counts.append((name, CopyCountAtom(thread.name, condition, atoms)))
        parts.append(Binary(">=", Name(name), Const(rng.choice([1, 1, 2, 2, 3]))))
    if rng.random() < 0.4:
        parts.append(Binary(rng.choice(["==", "!="]), Name(f"S.{rng.choice(shared)}"), Const(rng.randint(0, 2))))
    return StateTarget("target", conj(*parts), (), tuple(counts))


def _of_copy(rng: Random, program: Program, name: str, shared: list[str]) -> tuple[Expr, tuple[tuple[str, Atom], ...]]:
    thread = next(t for t in program.crowds if t.name == name)
    parts: list[Expr] = []
    atoms: list[tuple[str, Atom]] = []
    kind = rng.choice(["ended", "at", "register", "word", "both"])
    if kind in ("ended", "both"):
        atoms.append((f"{name} ended", ThreadAtExit(name)))
        parts.append(Name(f"{name} ended"))
    if kind == "at":
        points = [p for p in thread.points if p != thread.exit] or [thread.entry]
        point = rng.choice(points)
        atoms.append((f"{name} at {point}", ThreadAtPoints(name, (point,))))
        parts.append(Name(f"{name} at {point}"))
    if kind in ("register", "both"):
        parts.append(Binary("==", Name(f"{name}.{rng.choice('ab')}"), Const(rng.randint(0, 2))))
    if kind == "word":
        own = thread.node in program.many_nodes
        word = f"{thread.node}.{rng.choice('pq')}" if own else f"S.{rng.choice(shared)}"
        parts.append(Binary("==", Name(word), Const(rng.randint(0, 2))))
    return conj(*parts), tuple(atoms)
