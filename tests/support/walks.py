"""Walk-throughs to test their writers with: random runs of litmus programs, and long ones with four nodes."""

from __future__ import annotations

from random import Random

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.teaching.demos.walk import Animation, CodeListing, Figure, Paragraph, WalkSection, WalkTable, Walkthrough
from tests.conftest import ROOT

NODES = ("Guesser", "First", "Second", "Checker")


def litmus(name: str) -> Program:
    path = ROOT / "litmus" / f"{name}.rdma"
    return load_program(path.read_text(encoding="utf-8"), path.name)


def random_run(program: Program, rng: Random, length: int, lazy: float = 0.5) -> tuple[Move, ...]:
    """Return the start and up to `length` moves; processors are preferred with probability `lazy`, so that queues grow."""
    machine = RdmaMachine(program)
    moves = [rng.choice(machine.initial())]
    while len(moves) <= length:
        possible = machine.successors(moves[-1].state)
        if not possible:
            break
        posts = [m for m in possible if m.action.verb in (Verb.ACCESS, Verb.ISSUE, Verb.POLL)]
        moves.append(rng.choice(posts if posts and rng.random() < lazy else possible))
    return tuple(moves)


def animation(program: Program, moves: tuple[Move, ...], title: str = "A run", every: int = 7) -> Animation:
    """Return a run in which every so many moves have a note."""
    notes = tuple(f"Note {n}: `{m.action.verb.value}`." if n % every == 0 else "" for n, m in enumerate(moves))
    return Animation(title, program, moves, notes)


def chain() -> Program:
    """Return a program of four threads on four nodes that pass symbols on forever, as the demos' programs do."""
    lines = ["// Four processes pass symbols on.", "domain 0..3"]
    for i, node in enumerate(NODES):
        behind = NODES[i - 1]
        lines += [
            f"node {node} {{",
            "  letter_a = 1, letter_b = 2, end = 3,",
            f"  from_{behind.lower()}, flag_{behind.lower()}",
            "}",
            "",
        ]
    for i, node in enumerate(NODES):
        ahead, behind = NODES[(i + 1) % 4], NODES[i - 1]
        lines += [
            f"thread {node}s on {node} {{",
            "  reg symbol",
            "  while symbol < 3 {  // forever: no symbol is greater than 2",
            "    choose {",
            f"      put {ahead}.from_{node.lower()} = letter_a",
            "    } or {",
            f"      put {ahead}.from_{node.lower()} = letter_b",
            "    }",
            f"    put {ahead}.flag_{node.lower()} = 1",
            f"    symbol = from_{behind.lower()}",
            f"    from_{behind.lower()} = 0",
            f"    flag_{behind.lower()} = 0",
            "  }",
            "}",
            "",
        ]
    return load_program("\n".join(lines), "chain.rdma")


def sample(*animations: Animation, title: str = "A walk-through", text: str = "Some `code` in a text.") -> Walkthrough:
    """Return a walk-through with a block of each kind and these runs."""
    source = animations[0].program.source if animations else "node A { x }\n"
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="60"><rect width="300" height="60" fill="#888"/></svg>'
    svg = f'<?xml version="1.0"?>\n<!DOCTYPE svg>\n{svg}'
    first = WalkSection(
        "What the theorem says",
        (
            Paragraph(text),
            WalkTable(
                "States and time", ("indices", "states", "how"), (("1", "120", "found"), ("2", "1,240", "no `solution`"))
            ),
            Figure("The processes", svg, "Guesser -> First -> Checker"),
        ),
    )
    code = WalkSection("The program", (CodeListing("The generated program", "rdma", source, "out/program.rdma"),))
    runs = WalkSection("The run", (Paragraph("Step through it."), *animations))
    after = WalkSection("What to try next", (CodeListing("", "console", "$ rdma-robust demo\n", ""),))
    return Walkthrough("sample", title, "rdma-robust demo sample", (first, code, runs, after))
