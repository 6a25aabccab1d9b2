"""The extracted checker in tests: what it answers, and what the axioms of the tool say of the same questions."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from rdma_robust.certify import proven_judge
from rdma_robust.certify.hardware import EventKind
from rdma_robust.certify.judge_question import EventLabels, JudgeQuestion, Place, judged_cycle, question_of
from rdma_robust.certify.proven_judge import ask_judge, find_judge
from rdma_robust.certify.violations import claimed_events
from rdma_robust.errors import UsageError
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.semantics.axioms import is_violating, ob, sc
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.trace import Event, EventType, Trace
from tests.support.checker_search import platform_of


def answers(documents: Sequence[str]) -> list[str]:
    """What the judge says of each document, nothing of none. Skips the test where it is not built."""
    try:
        judge = find_judge()
    except UsageError:
        pytest.skip("NOT RUN: the extracted checker is not built (make proofs)")
    found = ask_judge(judge, "".join(documents)) if documents else []
    assert len(found) == len(documents)
    return found


SOURCES = ("judged.mli", "judged.ml", "rdma_words.ml", "rdma_search.ml", "rdma_judge.ml")
"""What the judge is compiled from, as proofs/Makefile does it."""


def flawed_judge(folder: Path, name: str, body: str) -> Path:
    """A judge in which the extracted function of that name has another body. Skips where none can be built."""
    built = proven_judge.BUILT.parent
    if shutil.which("ocamlfind") is None or not (built / "judged.ml").exists():
        pytest.skip("NOT RUN: the extracted checker is not built here (make proofs), or there is no OCaml")
    shutil.copytree(built, folder, dirs_exist_ok=True)
    text = (built / "judged.ml").read_text("utf-8")
    begun = rf"^(let (?:rec )?{name} (?:[\w']+ )*)=( function)?(?s:.*?)(?=^\(\*\*|^type )"
    found = re.search(begun, text, flags=re.M)
    assert found is not None
    head = f"{found[1]}= {'fun _ -> ' if found[2] else ''}"
    (folder / "judged.ml").write_text(f"{text[: found.start()]}{head}{body}\n\n{text[found.end() :]}")
    command = ["ocamlfind", "ocamlopt", "-w", "-a", *SOURCES, "-o", "flawed"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "flawed"


def question_about(program: Program, model: Model, trace: Trace) -> JudgeQuestion:
    """What the judge is asked of a trace whose events are in RDMA order. Raises NotCovered."""
    platform = platform_of(model)
    return question_of(program, platform, claimed_events(program, trace_evidence(program, trace)["events"]))


def model_of(question: JudgeQuestion) -> Model:
    return Model(order="relaxed" if question.weaker else "default", ordered_reads=question.ordered_reads)


def trace_of(question: JudgeQuestion) -> Trace:
    """The trace in which the events take effect in the order of the question."""
    words = ", ".join(f"c{n} = {value}" for n, value in enumerate(question.cells)) or "none"
    program = load_program(f"node A {{ {words} }}\nthread T on A {{ }}", "cells")
    events = []
    for thread, at in question.order:
        label = question.threads[thread][at]
        events.append(
            Event(
                -1,
                EventType(label.kind.value),
                thread,
                at,
                f"q{label.queue}" if label.queue >= 0 else None,
                program.cells[label.cell] if label.cell >= 0 else None,
                label.read if label.reads else None,
                label.written if label.writes else None,
                unsignaled=not label.signaled,
            )
        )
    return trace_of_order(events, program, model_of(question))


def is_counterexample(question: JudgeQuestion) -> bool:
    """Whether threads can make these events, reads read what memory holds, and the trace is violating, by the axioms of the
    tool; whatever alpha, beta and the cycle are."""
    return _all_there(question) and _values_fit(question) and is_violating(trace_of(question), model_of(question))


def is_split_counterexample(question: JudgeQuestion) -> bool:
    """Whether moreover no edge of ob leads backward, and alpha with the pivot, and beta, are in program order."""
    model = model_of(question)
    if not (_all_there(question) and _values_fit(question)):
        return False
    first = (*question.alpha, question.pivot)
    if any(
        list(filter(lambda p: p[0] == t, part)) != sorted(p for p in part if p[0] == t)
        for part in (first, question.beta)
        for t in range(len(question.threads))
    ):
        return False
    trace = trace_of(question)
    return all(a < b for a, b in ob(trace, model)) and not sc(trace).closure().is_irreflexive()


def _all_there(question: JudgeQuestion) -> bool:
    places = [(t, at) for t, labels in enumerate(question.threads) for at in range(len(labels))]
    if sorted(question.order) != places:
        return False
    return all(_shaped(labels) for labels in question.threads)


def _shaped(labels: Sequence[EventLabels]) -> bool:
    """Whether a thread can make these events: the two of an operation together, no poll too early."""
    ready: dict[int, int] = {}
    for at, label in enumerate(labels):
        before = labels[at - 1] if at else None
        for reads, writes in ((EventKind.PUT_READS, EventKind.PUT_WRITES), (EventKind.GET_READS, EventKind.GET_WRITES)):
            second = label.kind is writes and not label.inline
            opened = before is not None and before.kind is reads
            if second != opened or (second and before is not None and before.queue != label.queue):
                return False
        if label.kind in (EventKind.PUT_WRITES, EventKind.GET_WRITES) and label.signaled:
            ready[label.queue] = ready.get(label.queue, 0) + 1
        if label.kind is EventKind.POLL:
            ready[label.queue] = ready.get(label.queue, 0) - 1
            if ready[label.queue] < 0:
                return False
    return True


def _values_fit(question: JudgeQuestion) -> bool:
    memory = list(question.cells)
    for thread, at in question.order:
        labels = question.threads[thread]
        label = labels[at]
        if label.reads and memory[label.cell] != label.read:
            return False
        if (
            label.kind in (EventKind.PUT_WRITES, EventKind.GET_WRITES)
            and not label.inline
            and labels[at - 1].read != label.written
        ):
            return False
        if label.writes:
            memory[label.cell] = label.written
    return True


def with_values(order: Sequence[Event], cells: int, size: int, model: Model) -> JudgeQuestion:
    """The question about a split run: events without values get those that they have in this order."""
    memory = [0] * cells
    made: dict[Place, EventLabels] = {}
    numbers: dict[object, int] = {}
    for n, e in enumerate(order):
        cell = -1 if e.cell is None else numbers.setdefault(e.cell, len(numbers))
        read = memory[cell] if e.type.value in ("lR", "CAS", "nlR", "nrR") else 0
        source = made.get((e.thread, e.position - 1))
        carried = source.read if source is not None and e.type in (EventType.NRW, EventType.NLW) else n + 1
        label = EventLabels(EventKind(e.type.value), -1 if e.remote is None else "ABC".index(e.remote), cell, read, carried)
        made[e.thread, e.position] = label if label.writes else replace(label, written=0)
        if label.writes:
            memory[cell] = carried
    threads = tuple(
        tuple(made[t, at] for at in range(sum(place[0] == t for place in made)))
        for t in range(1 + max((place[0] for place in made), default=-1))
    )
    places = tuple((e.thread, e.position) for e in order)
    weaker = model.order != "default"
    return JudgeQuestion(
        weaker,
        model.ordered_reads,
        (0,) * cells,
        threads,
        places[: size - 1],
        places[size - 1],
        places[size:],
        judged_cycle(places, threads),
    )


SWAPPED = {
    EventKind.PUT_READS: EventKind.GET_READS,
    EventKind.GET_READS: EventKind.PUT_READS,
    EventKind.PUT_WRITES: EventKind.GET_WRITES,
    EventKind.GET_WRITES: EventKind.PUT_WRITES,
}


def mutated(question: JudgeQuestion, rng: Random) -> JudgeQuestion:
    """A question that differs in one thing: two events exchanged, a value, a queue pair, what a card's event is, an event
    left out or one poll more, the pivot, the cycle, or the hardware; half of the time with a cycle that fits again."""
    order = list(question.order)
    size = len(question.alpha) + 1
    threads = [list(labels) for labels in question.threads]
    cycle = list(question.cycle)
    thread, at = rng.choice(order)
    label = threads[thread][at]
    match rng.randrange(10):
        case 0 | 1 if len(order) > 1:
            a, b = rng.sample(range(len(order)), 2)
            order[a], order[b] = order[b], order[a]
        case 2:
            changed = replace(label, read=label.read + 1) if label.reads else replace(label, written=label.written + 1)
            threads[thread][at] = changed if label.reads or label.writes else label
        case 3 | 4 if len(order) > 2:
            gone = order.index((thread, at))
            del order[gone], threads[thread][at]
            order = [(t, n - (t == thread and n > at)) for t, n in order]
            size = max(1, size - (gone < size))
        case 5:
            size = rng.randint(1, len(order))
        case 6 if cycle:
            cycle[rng.randrange(len(cycle))] = (rng.randrange(len(order)), rng.choice(("po", "rf", "rb", "mo")))
        case 7:
            queue = 1 - label.queue if label.queue in (0, 1) else label.queue
            kind = label.kind if label.inline else SWAPPED.get(label.kind, label.kind)
            threads[thread][at] = replace(label, queue=queue, kind=rng.choice((label.kind, kind)))
        case 8:
            threads[thread].append(EventLabels(EventKind.POLL, rng.choice((0, 0, 1))))
            order.append((thread, len(threads[thread]) - 1))
        case _:
            question = replace(question, weaker=not question.weaker)
    made = tuple(map(tuple, threads))
    if rng.random() < 0.5:
        cycle = list(judged_cycle(order, made))
    first, rest = order[:size], order[size:]
    return replace(question, threads=made, alpha=tuple(first[:-1]), pivot=first[-1], beta=tuple(rest), cycle=tuple(cycle))
