"""The canonical text: the same for programs that do the same, another for all others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

from rdma_robust.expr import Const
from rdma_robust.language.flow import cfg, claims
from rdma_robust.language.flow.canonical import canonical_text, same_program, with_listing
from rdma_robust.language.load import load_program
from tests.support.random_programs import random_program
from tests.unit.language.language_support import load

LITMUS = Path(__file__).parents[3] / "litmus"
STATEMENTS = """\
r = cas(x, 0, 1); put B.z = x; put B.buf[r] = 3; get y = B.z; poll B; rfence B
if r == 1 && !q { x = r + 1 } else { assert x != -2 }
"""


def mutants(program: cfg.Program) -> list[cfg.Program]:
    """Return programs that each do something else, by one part."""
    thread = program.threads[0]
    at = cfg.steps(thread)
    cells = program.cells

    def with_thread(new: cfg.Thread) -> cfg.Program:
        return replace(program, threads=(new, *program.threads[1:]))

    def with_step(number: int, source: int, target: int, step: cfg.Step) -> cfg.Program:
        return with_thread(replace(thread, edges=(*at[:number], (source, target, step), *at[number + 1 :])))

    found = [
        replace(program, name="other"),
        replace(program, nodes=program.nodes[::-1]),
        replace(program, cells=cells[::-1]),
        replace(program, cells=(replace(cells[0], init=7), *cells[1:])),
        replace(program, cells=(replace(cells[0], hidden=True), *cells[1:])),
        replace(program, domain=None),
        replace(program, allow_loopback=True),
        replace(program, constants=()),
        replace(program, expectations=(claims.ExpectedAnswer("robust", False, None),)),
        replace(program, expectations=(claims.ExpectedAnswer("robust", True, None),)),
        replace(program, expectations=(claims.ExpectedAnswer("hang", True, "sc"),)),
        replace(program, expectations=(claims.ExpectedAnswer("hang", True, "rdma"),)),
        replace(program, expectations=(claims.ExpectedAnswer("hang", False, "rdma"),)),
        replace(program, threads=program.threads * 2),
        with_thread(replace(thread, name="U")),
        with_thread(replace(thread, node="B")),
        with_thread(replace(thread, entry=1)),
        with_thread(replace(thread, exit=0)),
        with_thread(replace(thread, registers=thread.registers[::-1])),
        with_thread(replace(thread, registers=(("r", 1), *thread.registers[1:]))),
        replace(program, outcomes=(claims.OutcomeLine(Const(1), (claims.OutcomeClaim(True, "sc"),), at[0][2].span, ""),)),
        replace(program, outcomes=(claims.OutcomeLine(Const(1), (claims.OutcomeClaim(False, "sc"),), at[0][2].span, ""),)),
        replace(program, outcomes=(claims.OutcomeLine(Const(1), (claims.OutcomeClaim(True, "rdma"),), at[0][2].span, ""),)),
    ]
    for number, (u, v, step) in enumerate(at):
        found += [
            with_step(number, u + 100, v, step),
            with_step(number, u, v + 100, step),
            with_step(number, u, v, replace(step, guard=Const(5))),
            with_step(number, u, v, replace(step, assigns=(*step.assigns, ("q", Const(9))))),
            with_step(number, u, v, replace(step, op=cfg.Poll("A"))),
            with_step(number, u, v, replace(step, fault=None if step.fault else cfg.Fault("overflow", "", step.span))),
        ]
    return found


def test_a_change_of_any_part_is_seen() -> None:
    program = load(STATEMENTS)
    texts = [canonical_text(each) for each in (program, *mutants(program))]
    assert len(set(texts)) == len(texts)


def test_names_cannot_forge_one_another() -> None:
    program = load("x = 1")
    tricky = ["x = 0\ncell A y", 'x"', "x = 0 hidden", "", "x y", '"x"']
    texts = [canonical_text(replace(program, cells=(cfg.Cell("A", each),))) for each in ("x", *tricky)]
    assert len(set(texts)) == len(texts)
    assert all(text.count("\n") == texts[0].count("\n") for text in texts)


def test_what_is_for_people_does_not_count() -> None:
    text = "node A { x }\nnode B { y }\nthread T on A { x = 1; put B.y = x; assert x == 1 }\n"
    assert same_program(load_program(text, "p.rdma"), load_program(f"// a comment\n{text}".replace("; ", "\n"), "p.rdma"))
    for path in sorted(LITMUS.glob("*.rdma"))[::12]:
        program = load_program(path.read_text(encoding="utf-8"), path.name)
        assert canonical_text(program) == canonical_text(replace(program, source="", file="", warnings=()))


def test_the_listing_has_a_line_for_every_step() -> None:
    for seed in range(25):
        program = load_program(random_program(Random(seed), loops=True), "random")
        listed = with_listing(replace(program, source=""))
        assert listed.source == canonical_text(program) == canonical_text(listed)
        lines = listed.source.split("\n")
        for thread in listed.threads:
            for source, target, step in cfg.steps(thread):
                assert listed.source[step.span.start : step.span.end] == lines[step.span.line - 1].strip()
                assert lines[step.span.line - 1].startswith(f"  {source} -> {target}: ")
