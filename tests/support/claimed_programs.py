"""Random programs for the models of `prove`, with operations that only these have, and random claims about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from rdma_robust.analyses.prove.transition_system import SafetyClaim, safety_claims
from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import Const, Expr, Name, conj, equals
from rdma_robust.language.flow.cfg import Flush, Get, MFence, Poll, Program, Put, RemoteRmw, RFence, Rmw, Step, Write
from rdma_robust.language.flow.claims import AnyModelName, PointAt
from rdma_robust.language.load import load_program
from tests.support.random_programs import TINY, Size, random_program

SIZES = (TINY, Size(threads=(2, 2), instructions=(2, 4), total=7), Size(threads=(2, 3), instructions=(1, 3), total=6))


def claimed_program(seed: int, model: AnyModelName, *, loops: bool) -> tuple[Program, tuple[SafetyClaim, ...]]:
    """Return a program with few values, all of whose operations the model has, and claims about it; most do not hold."""
    rng = Random(seed)
    program = load_program(random_program(rng, rng.choice(SIZES), loops=loops), f"claimed {seed}.rdma")
    program = _mapped(program, lambda step: _of_model(step, model, rng))
    program = replace(program, threads=tuple(replace(t, labels=(("L", rng.choice(t.points)),)) for t in program.threads))
    claims = list(safety_claims(program, model))
    names = [str(cell) for cell in program.cells if not cell.hidden]
    names += [f"{thread.name}.{register}" for thread in program.threads for register, _ in thread.registers]
    for _ in range(rng.randint(1, 2)):
        claims.append(SafetyClaim("outcome", "", NO_SPAN, len(claims), bad=_condition(rng, names), final=True))
    for _ in range(rng.randint(0, 2)):
        claims.append(_invariant(rng, program, names, len(claims)))
    return program, tuple(claims)


def _mapped(program: Program, of: Callable[[Step], Step]) -> Program:
    threads = (replace(t, edges=tuple((a, b, of(step)) for a, b, step in t.edges)) for t in program.threads)
    return replace(program, threads=tuple(threads))


def _of_model(step: Step, model: AnyModelName, rng: Random) -> Step:
    """Replace what the model does not have, and some of what it has by what texts of other commands do not have."""
    match step.op:
        case Put() | Get() | Poll() | RFence() if model in ("tso", "pso"):
            return replace(step, op=MFence())
        case Poll(node) | RFence(node) if model == "rma":
            return replace(step, op=Flush(node))
        case Poll(node) if rng.random() < 0.3:
            return replace(step, op=Flush(node))
        case Get(target, source) if model != "rdma" and rng.random() < 0.3:
            return replace(step, op=RemoteRmw(target, source, Const(rng.randint(0, 1))))
        case Write(cell, value) if rng.random() < 0.1:
            return replace(step, op=Rmw(cell, value))
        case _:
            return step


def _condition(rng: Random, names: list[str]) -> Expr:
    asked = (equals(Name(rng.choice(names)), Const(rng.choice([0, 1, 1, 2]))) for _ in range(rng.randint(1, 3)))
    return conj(*asked)


def _invariant(rng: Random, program: Program, names: list[str], number: int) -> SafetyClaim:
    bad = _condition(rng, names) if rng.random() < 0.7 else Const(1)
    at = [t.name for t in program.threads if rng.random() < 0.5]
    bad = conj(bad, *(Name(f"{name} at L") for name in at))
    atoms = tuple((f"{name} at L", PointAt(name, "L")) for name in at)
    return SafetyClaim("invariant", "", NO_SPAN, number, bad=bad, atoms=atoms)


def landing_program(seed: int) -> tuple[Program, tuple[SafetyClaim, ...]]:
    """Return a program of two threads with words of their own, which gets write to and puts read, and invariants."""
    rng = Random(seed)
    text = "domain 0..2\nnode A { x, g, p }\nnode B { y, h, q }\n"
    for number, (node, other, mine, theirs, own) in enumerate((("A", "B", "x", "y", "gp"), ("B", "A", "y", "x", "hq"))):
        lines = [_landing(rng, rng.choice(own), other, mine, theirs) for _ in range(rng.randint(3, 5))]
        body = "\n".join(["loop {", *lines, "}"] if rng.random() < 0.3 else lines)
        text += f"thread T{number} on {node} {{ reg r, s\n{body}\n}}\n"
    program = load_program(text, f"landing-{seed}.rdma")
    names = ["A.x", "B.y", "T0.r", "T0.s", "T1.r", "T1.s", *(["A.g"] if rng.random() < 0.2 else [])]
    conditions = (_condition(rng, names) for _ in range(3))
    return program, tuple(SafetyClaim("invariant", "", NO_SPAN, i, bad=bad) for i, bad in enumerate(conditions))


def _landing(rng: Random, word: str, other: str, mine: str, theirs: str) -> str:
    register, get = rng.choice(["r", "s"]), f"get {word} = {other}.{theirs}"
    return rng.choice(
        [
            f"{word} = {rng.choice(['0', '1', '2', 'r', 's'])}",
            f"{register} = {word}",
            get,
            f"put {other}.{theirs} = {word}",
            f"flush {other}",
            f"{mine} = {rng.choice(['1', '2', 'r'])}",
            f"{get}; flush {other}; {register} = {word}",
            f"if {register} == 1 {{ {get} }} else {{ flush {other} }}",
        ]
    )
