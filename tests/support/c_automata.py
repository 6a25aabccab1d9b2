"""Evaluated C as a program of `.rdma`: the automata as they are, by the builder."""

from __future__ import annotations

from rdma_robust.build import Initial, ProgramBuilder, Relaxed, Sync
from rdma_robust.c.automaton import CProgram, EvaluatedThread, WordPlace
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.language.flow.cfg import Program


def evaluated(text: str) -> CProgram:
    """Read and evaluate C."""
    return evaluate_units(read_units("test.c", COptions(), text), name="evaluated")


def program_of(evaluated_c: CProgram) -> Program:
    """Return the program of evaluated C."""
    said = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in evaluated_c.head}
    low, _, high = said.get("domain", "").partition("..")
    builder = ProgramBuilder("evaluated", domain=(int(low), int(high)) if low else None)
    if "hardware" in said:
        settings = dict(each.split(" ", 1) for each in said["hardware"].split(", "))
        builder.hardware(cpu=settings.get("cpu", ""), rnr=settings.get("rnr", ""), order=settings.get("order", ""))
    for node, words in evaluated_c.nodes.items():
        builder.node(node, {word.name: _initial(word) for word in words})
    for thread in evaluated_c.threads:
        _add(builder, thread)
    return builder.program()


def _initial(word: WordPlace) -> Initial:
    found: Initial = Relaxed(word.initial) if "relaxed" in word.qualifiers else word.initial
    return Sync(found) if "sync" in word.qualifiers else found


def _add(builder: ProgramBuilder, thread: EvaluatedThread) -> None:
    automaton = builder.automaton(
        thread.name, thread.process, "0" if thread.edges[0] else "end", "end", **dict.fromkeys(thread.registers, 0)
    )
    for line in thread.posted:
        automaton.lines.add(f"  {line}", None)
    reached, todo = {0}, [0]
    while todo:
        place = todo.pop()
        for edge in thread.edges[place]:
            if edge.to not in reached:
                reached.add(edge.to)
                todo.append(edge.to)
            if edge.to == place and not edge.statement and edge.guard is None:
                continue
            ends = edge.statement == "halt" or not thread.edges[edge.to]
            action = "skip" if edge.statement in ("", "halt") else edge.statement
            values = sorted(edge.guard.values) if edge.guard else []
            when = " || ".join(f"{edge.guard.register} == {value}" for value in values) if edge.guard else ""
            automaton.edge(str(place), "end" if ends else str(edge.to), action, when=when)


def statements(evaluated_c: CProgram, thread: str) -> list[str]:
    """Return the statements of a thread of evaluated C, in the order of its places."""
    found = next(each for each in evaluated_c.threads if each.name == thread)
    return [edge.statement for place in sorted(found.edges) for edge in found.edges[place] if edge.statement]
