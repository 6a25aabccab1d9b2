"""The passes: each makes what the next one needs, on every litmus program, and nothing is computed twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rdma_robust.counters.program import Assign, Body, Target
from rdma_robust.expr import Const, Name
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.pipeline import PASSES, Text, check_program, dump
from rdma_robust.robustness.decide import DECISION, decide
from rdma_robust.robustness.passes import Context, artefacts
from rdma_robust.semantics.trace import Relation
from tests.support.random_programs import SMALL, random_program

PROGRAMS = sorted((Path(__file__).parents[3] / "litmus").glob("*.rdma"))
SB = "node A { x }\nnode B { y }\nthread T on A { reg r\nput B.y = 1\nr = x }\nthread U on B { reg r\nput A.x = 1\nr = y }\n"
PUMP = (
    "node A { x }\nnode B { y }\nthread T on A { loop { put B.y = x }; poll B; x = 1 }\nthread U on B { put A.x = y; y = 1 }"
)
LOOP = "node A { x }\nnode B { y }\nthread T on A { loop { put B.y = x\npoll B } }\nthread U on B { loop { put A.x = y } }\n"


def broken(given: object, options: CheckOptions) -> Iterator[str]:
    """Yield what a pass needs and does not get, or promises and does not give."""
    for each, took, made in artefacts(PASSES, given, Context.of(options)):
        yield from (f"{each.name} needs: {wrong}" for wrong in each.requires.broken(took))
        yield from (f"{each.name} gives: {wrong}" for wrong in each.ensures.broken(made))


@pytest.mark.ci
def test_contracts_hold_on_litmus_programs() -> None:
    check_contracts(4, 9)


@pytest.mark.long
@pytest.mark.parametrize("part", [k for k in range(9) if k != 4])
def test_contracts_hold_on_every_litmus_program(part: int) -> None:
    check_contracts(part, 9)


def check_contracts(part: int, parts: int) -> None:
    for number, path in enumerate(PROGRAMS[part::parts]):
        text = Text(path.read_text(encoding="utf-8"), path.name)
        by = "paper" if number % 3 == 2 else "pivot"
        options = CheckOptions(
            instrumentation=by, max_states=200, large=10_000 if number % 2 else 0, await_loops=bool(part % 2)
        )
        assert list(broken(text, options)) == [], path.name


@pytest.mark.ci
@pytest.mark.parametrize("loops", [False, True])
def test_contracts_hold_on_random_programs(loops: bool) -> None:
    for seed in range(25):
        text = Text(random_program(Random(seed), SMALL, loops=loops), f"seed {seed}")
        reductions = ALL_REDUCTIONS if seed % 2 else frozenset[str]()
        options = CheckOptions(max_states=300, reductions=reductions, ordered_reads=seed % 3 == 0, await_loops=seed % 4 == 0)
        assert list(broken(text, options)) == [], text.text


def test_each_pass_makes_what_the_next_one_takes() -> None:
    assert [p.name for p in PASSES] == [
        *("parse", "await"),
        *("events", "filter", "instrument", "lower", "cover", "lift", "confirm"),
        "hangs",
    ]
    for before, after in pairwise(PASSES):
        assert before.ensures is after.requires


def made_by(name: str, text: str = SB) -> Any:
    return next(made for p, _, made in artefacts(PASSES, Text(text, "p"), Context.of(CheckOptions())) if p.name == name)


def worse(name: str) -> Iterator[Any]:
    """Yield artefacts of a pass of which something is wrong."""
    made = made_by(name)
    match name:
        case "events":
            graph = made.graphs[0]
            edge = graph.edges[0]
            for bad in (
                replace(edge, thread=1),
                replace(edge, target=99),
                replace(edge, cell=None),
                replace(edge, assigns=(("T.q", Const(1)),)),
                replace(edge, guard=Name("nobody")),
            ):
                yield replace(made, graphs=(replace(graph, edges=(bad, *graph.edges[1:])), *made.graphs[1:]))
            yield replace(made, graphs=made.graphs[:1])
            yield replace(made, graphs=(replace(graph, edges=graph.edges[:2]), *made.graphs[1:]))
        case "filter":
            classes = made.pivots.classes
            for change in ({"writes": True}, {"thread": 1}):
                others = replace(classes, tried=tuple(replace(c, **change) for c in classes.tried))
                yield replace(made, pivots=replace(made.pivots, classes=others))
        case "instrument":
            program = made.counters
            process = program.processes[0]
            command = process.commands[0]
            yield replace(made, counters=replace(program, variables=(*program.variables, program.variables[0])))
            yield replace(made, counters=replace(program, variables=()))
            yield replace(made, counters=replace(program, targets=(Target(None, Name("nobody")),)))
            for body in (Body((Assign((("A.x", Name("nobody")),)),), (), command.body.labels), Body(())):
                commands = (replace(command, body=body), *process.commands[1:])
                processes = (replace(process, commands=commands), *program.processes[1:])
                yield replace(made, counters=replace(program, processes=processes))
        case "lower":
            made.vass.fields = made.vass.fields[1:]
            yield made
            made = made_by(name, PUMP)
            assert made.vass.unbounded
            made.vass.unbounded = ()
            yield made
        case "cover":
            found = made.found
            yield replace(made, found=replace(found, result=replace(found.result, cut="time")))
            yield replace(made, shortest=replace(made.shortest, result=replace(found.result, target=-1)))
            yield replace(made, shortest=replace(made.shortest, run=made.shortest.run[1:]))
        case "lift":
            yield replace(made, lifted=None)
            trace = made.lifted.trace
            yield replace(made, lifted=replace(made.lifted, trace=replace(trace, po=trace.rf)))
        case "confirm":
            yield replace(made, witness=None)
            yield replace(made, verdict=Verdict.ROBUST)
            trace = made.witness.trace
            yield replace(made, witness=replace(made.witness, trace=replace(trace, po=Relation.of(len(trace.events), ()))))


@pytest.mark.parametrize("name", [p.name for p in DECISION])
def test_contracts_can_be_broken(name: str) -> None:
    contract = next(p.ensures for p in PASSES if p.name == name)
    assert list(contract.broken(made_by(name))) == []
    for number, artefact in enumerate(worse(name)):
        assert list(contract.broken(artefact)), (name, number)


def test_every_pass_can_be_shown() -> None:
    for text in (SB, LOOP, "node A { x }\nthread T on A { x = 1 }"):
        for by in ("pivot", "paper"):
            shown = [dump(text, "p", CheckOptions(instrumentation=by), p.name) for p in PASSES]
            assert all(each.endswith("\n") for each in shown)
    assert dump(SB, "p", CheckOptions(), "confirm").startswith("not-robust: a violating trace was found")
    assert dump(SB, "p", CheckOptions(), "filter").startswith("pivot classes to try: 1\nclass 1: thread T reads A.x\n")


def test_nothing_is_computed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()

    def counted(path: str, name: str) -> None:
        original: Callable[..., object] = getattr(__import__(path, fromlist=[name]), name)

        def call(*arguments: object, **named: object) -> object:
            calls[name] += 1
            return original(*arguments, **named)

        monkeypatch.setattr(f"{path}.{name}", call)

    counted("rdma_robust.counters.lower", "counter_bounds")
    counted("rdma_robust.robustness.frame", "event_graph")
    counted("rdma_robust.robustness.static_filter", "CriticalCycles")
    for text in (SB, LOOP):
        for options in (CheckOptions(), CheckOptions(kernel="python"), CheckOptions(engine="bfs", max_states=500)):
            calls.clear()
            check_program(Text(text, "p"), options)
            assert calls == {"counter_bounds": 1, "event_graph": 2, "CriticalCycles": 1}, options


def test_a_decision_is_the_run_of_its_passes() -> None:
    program: Program = load_program(SB, "p")
    last: Outcome = [made for _, _, made in artefacts(DECISION, program, Context.of(CheckOptions()))][-1]
    outcome = decide(program, CheckOptions())
    assert replace(last, time_s=0.0) == replace(outcome, time_s=0.0)
    assert outcome.time_s > 0
