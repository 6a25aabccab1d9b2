"""The extracted checker: a program that `make proofs` builds from proofs/judge; where it is, what it says of a certificate.

It judges counterexamples, and makes the search of Theorem 8 for programs that are said to be robust.

A program as the proven search reads it: for each thread a finite automaton, whose edges are events with the values that
CPUs read and write.

Source: proofs/search/Automata.v. That the paths of the automata are what the threads can do is not proven: they are what the
checker's own reading of the threads gives, for all values that cells may come to hold.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rdma_robust.certify.checker import program_of_certificate
from rdma_robust.certify.copies_invariants import with_claimed_copies
from rdma_robust.certify.document import PROGRAM, Certificate, json_array, mapping, natural, read_program_options
from rdma_robust.certify.hardware import CPU, NIC_WRITES, READS, EventKind, Platform
from rdma_robust.certify.judge_account import Account, account_of
from rdma_robust.certify.judge_question import (
    NOTHING_PROMISED,
    OTHER_WORDS,
    JudgeQuestion,
    NotCovered,
    check_covered,
    check_in_order,
    check_polls,
    question_of,
)
from rdma_robust.certify.thread_events import Completion, LocalState, ThreadMove
from rdma_robust.certify.thread_reading import Ahead, ThreadReading, readings_of
from rdma_robust.certify.violations import claimed_events
from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import BarrierWait, Cell, Poll, Program, RemoteRmw, steps

VERSION: Final = "program 1"
"""The first line of a question."""

MOST_POINTS: Final = 20_000
"""Points of one thread, each with the values of its registers, beyond which the search is not asked."""

MOST_VALUES: Final = 300
"""Values that the cells may hold, all together, beyond which the search is not asked."""

_VALUES: Final = {EventKind.LOCAL_READ: 3, EventKind.LOCAL_WRITE: 3, EventKind.SWAP: 4}
"""How many words a label has whose values a CPU knows."""

_Graph = dict[LocalState, list[tuple[str, LocalState]]]
"""From each place of a thread the labels of the events that it can make, and where it is then."""

Edge = tuple[int, int, str]
"""Where an edge starts, where it leads, and its label as the search reads it."""


@dataclass(frozen=True, slots=True)
class ThreadAutomaton:
    """A thread: where it starts, and its edges."""

    start: int
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class ProgramQuestion:
    """The question for the search: whether the program is robust. Its counters stop at `counters`; it gives up behind
    `states` states."""

    buffered: bool
    weaker: bool
    ordered_reads: bool
    cells: tuple[int, ...]
    threads: tuple[ThreadAutomaton, ...]
    counters: int = 2
    states: int = 200_000

    def text(self) -> str:
        """Return the lines that the search reads."""
        lines = [VERSION, f"cpu {'tso' if self.buffered else 'sc'}", f"order {'weaker' if self.weaker else 'default'}"]
        lines.append(f"reads {'ordered' if self.ordered_reads else 'unordered'}")
        lines.append(" ".join(map(str, ("cells", *self.cells))))
        lines += [f"counters {self.counters}", f"states {self.states}"]
        for thread in self.threads:
            lines.append(f"thread {thread.start}")
            lines += [f"e {source} {target} {label}" for source, target, label in thread.edges]
        return "\n".join([*lines, "end", ""])


def program_question_of(program: Program, platform: Platform) -> ProgramQuestion:
    """Return what the search is asked about a program. Raises NotCovered for what the proof does not cover."""
    if not platform.promised:
        raise NotCovered(NOTHING_PROMISED)
    if program.crowds:
        raise NotCovered("any number of copies")
    for op in (step.op for thread in program.threads for _, _, step in steps(thread)):
        if isinstance(op, BarrierWait):
            raise NotCovered("barriers")
        if isinstance(op, RemoteRmw):
            raise NotCovered("remote atomics")
    check_polls(platform, any(isinstance(step.op, Poll) for thread in program.threads for _, _, step in steps(thread)))
    if not program.plain:
        raise NotCovered(OTHER_WORDS)
    cells = tuple(cell.init for cell in program.cells) or (0,)  # events without a cell name the first one
    threads = tuple(_Threads(program, platform).automata())
    return ProgramQuestion(platform.buffered, platform.weaker, platform.ordered_reads, cells, threads)


class _Threads:
    """The threads of a program, with all values that cells may come to hold."""

    def __init__(self, program: Program, platform: Platform) -> None:
        self._readings = readings_of(program, platform)
        self._numbers = {cell: number for number, cell in enumerate(program.cells)}
        self._values = {cell: {cell.init} for cell in program.cells}
        self._copied: set[tuple[Cell, Cell]] = set()

    def automata(self) -> list[ThreadAutomaton]:
        """Return the automaton of each thread: with more values its graph has more edges, until no cell gets a new one."""
        known = -1
        graphs: list[_Graph] = []
        while known != (known := self._known()):
            if sum(map(len, self._values.values())) > MOST_VALUES:
                raise NotCovered(f"cells that may hold more than {MOST_VALUES} values, all together")
            graphs = [self._graph(reading) for reading in self._readings]
            for source, target in self._copied:
                self._values[target] |= self._values[source]
        return [_merged(reading.start, graph) for reading, graph in zip(self._readings, graphs, strict=True)]

    def _known(self) -> int:
        return len(self._copied) + sum(map(len, self._values.values()))

    def _graph(self, reading: ThreadReading) -> _Graph:
        queues: dict[str, int] = {}
        carried: dict[LocalState, Cell] = {}
        graph: _Graph = {reading.start: []}
        todo = [reading.start]
        while todo:
            local = todo.pop()
            for ahead in reading.ahead(local):
                for value in self._values_read(reading, ahead):
                    for move in reading.moves(ahead, value):
                        graph[local].append((self._label(move, value, queues), move.after))
                        self._note(move, local, carried)
                        if move.after not in graph:
                            graph[move.after] = []
                            todo.append(move.after)
            if len(graph) > MOST_POINTS:
                raise NotCovered(f"a thread that can be at more than {MOST_POINTS} points, with the values of its registers")
        return graph

    def _values_read(self, reading: ThreadReading, ahead: Ahead) -> list[int] | list[None]:
        """The values that the next event may read, if that is one of a CPU: only these are known to the thread."""
        if ahead.words:
            raise NotCovered("locked sections of several locations")
        if ahead.reads is None or not any(move.event.kind in CPU for move in reading.moves(ahead, None)):
            return [None]
        return sorted(self._values[ahead.reads])

    def _note(self, move: ThreadMove, local: LocalState, carried: dict[LocalState, Cell]) -> None:
        """Note what a cell may hold after this event."""
        event = move.event
        if event.cell is None:
            return
        if event.kind in READS and event.kind not in CPU:
            carried[move.after] = event.cell
        elif move.written is not None:
            self._values[event.cell].add(move.written)
        elif event.kind in NIC_WRITES:
            self._copied.add((carried[local], event.cell))

    def _label(self, move: ThreadMove, value: int | None, queues: dict[str, int]) -> str:
        """What the event is, as the search reads it."""
        event = move.event
        check_covered(event)
        if event.kind is EventKind.MEMORY_FENCE:
            return str(event.kind)  # also that of a swap, whose value is read by what comes next
        words: list[object] = [event.kind]
        if event.kind in NIC_WRITES:
            words = [f"{event.kind}-inline" if move.written is not None else event.kind]
            words.append("s" if event.completion is Completion.SIGNALED else "u")
        if event.remote is not None:
            words.append(queues.setdefault(event.remote, len(queues)))
        if event.cell is not None:
            words.append(self._numbers[event.cell])
        words += [known for known in (value, move.written) if known is not None]
        if event.kind in _VALUES and len(words) != _VALUES[event.kind]:
            raise NotCovered("values that are not known")
        return " ".join(map(str, words))


def _merged(start: LocalState, graph: _Graph) -> ThreadAutomaton:
    """Return the automaton of a graph with one point for all from where the thread can do the same."""
    number = _classes(graph)
    edges = {(number[local], number[after], label): None for local, leading in graph.items() for label, after in leading}
    return ThreadAutomaton(number[start], tuple(edges))


def _classes(graph: _Graph) -> dict[LocalState, int]:
    """Number the places so that two have one number iff the thread can do the same from both.

    At first all have one; those of one number from where edges lead to different ones are told apart, until there are none.
    """
    number = dict.fromkeys(graph, 0)
    members = {0: set(graph)}
    before: dict[LocalState, set[LocalState]] = {local: set() for local in graph}
    for local, leading in graph.items():
        for _, after in leading:
            before[after].add(local)

    def seen(local: LocalState) -> frozenset[tuple[str, int]]:
        return frozenset((label, number[after]) for label, after in graph[local])

    changed = set(graph)
    while changed:
        parts: dict[int, dict[frozenset[tuple[str, int]], list[LocalState]]] = {}
        for local in changed:
            parts.setdefault(number[local], {}).setdefault(seen(local), []).append(local)
        # Those that did not change are alike; where there are none, the most keep the number.
        kept: dict[int, frozenset[tuple[str, int]]] = {}
        for old, found in parts.items():
            same = next((local for local in members[old] if local not in changed), None)
            kept[old] = max(found, key=lambda s: len(found[s])) if same is None else seen(same)
        moved: set[LocalState] = set()
        for old, found in parts.items():
            for signature, locals_ in found.items():
                if signature != kept[old]:
                    members[old].difference_update(locals_)
                    members[len(members)] = set(locals_)
                    number.update(dict.fromkeys(locals_, len(members) - 1))
                    moved.update(locals_)
        changed = {local for after in moved for local in before[after]}
    return number


NAME: Final = "rdma-judge"
VARIABLE: Final = "RDMA_ROBUST_JUDGE"
"""The variable of the environment that names the program."""

BUILT: Final = Path(__file__).resolve().parents[2] / "proofs" / "judge" / "build" / NAME
"""Where `make proofs` puts it, in a checkout of the repository."""

VIOLATING: Final = "violating"

ROBUST: Final = "robust: "
"""What the answer of the search begins with, where the program is robust."""

UNCLEAR: Final = "unclear: "
"""What it begins with where the search does not know."""

REFUSED: Final = "refused: "
"""What it begins with where the threads are none that it knows."""

MORE_COMPLETIONS: Final = f"{UNCLEAR}more completions than are counted may matter"
"""The answer where counters stopped too early."""

COUNTERS: Final = (2, 4, 8, 16)
"""Where counters stop, one after the other, until it does not matter."""


def find_judge() -> str:
    """Return the path of the judge: what the environment names, or in PATH, or built here. Raises UsageError without one."""
    named = os.environ.get(VARIABLE)
    if named:
        if not os.access(named, os.X_OK) or os.path.isdir(named):
            raise UsageError(f"{VARIABLE} names {named}, which is no program that can be run")
        return os.path.abspath(named)
    found = shutil.which(NAME) or (str(BUILT) if os.access(BUILT, os.X_OK) else None)
    if found is None:
        raise UsageError(
            f"--proven needs the program {NAME}, which is not in PATH; build it with `make proofs` in a checkout of the "
            f"repository (Debian's `coq` is enough), and name it, proofs/judge/build/{NAME}, in {VARIABLE}"
        )
    return found


def judge_question(certificate: Certificate, text: str, name: str) -> JudgeQuestion | Account:
    """Return what the judge is asked about a certificate that the checker has accepted: by the rules of Lemma 3, or where
    they do not cover the trace, by all axioms. Raises NotCovered."""
    if certificate.about != (PROGRAM, "not-robust"):
        raise NotCovered(f"the claim {certificate.claim['kind']!r} (it judges whether programs are robust)")
    program = program_of_certificate(certificate, text, name)
    if any(isinstance(s.op, RemoteRmw) and s.op.operands for thread in program.threads for _, _, s in steps(thread)):
        raise NotCovered("operands of atomics in memory")
    if program.crowds:
        program = with_claimed_copies(program, certificate.evidence["copies"])
    platform = read_program_options(certificate.options).platform
    claimed = claimed_events(program, certificate.evidence["events"])
    written = mapping(certificate.evidence["mo"], "`evidence.mo`")
    mo = {cell: json_array(order, "`evidence.mo`", natural) for cell, order in written.items()}
    try:
        check_in_order(claimed, mo)
        return question_of(program, platform, claimed)
    except NotCovered:
        return account_of(program, platform, claimed, mo)


def search_question(certificate: Certificate, text: str, name: str) -> ProgramQuestion:
    """Return what the search is asked about a certificate that the checker has accepted. Raises NotCovered."""
    platform = read_program_options(certificate.options).platform
    return program_question_of(program_of_certificate(certificate, text, name), platform)


def ask_search(judge: str, question: ProgramQuestion) -> str:
    """Return what the search answers, with counters as high as it takes. Raises UsageError if it does not answer."""
    said = MORE_COMPLETIONS
    for counters in COUNTERS:
        if said == MORE_COMPLETIONS:
            said = "; ".join(ask_judge(judge, replace(question, counters=counters).text()))
    return said


def ask_judge(judge: str, question: str) -> list[str]:
    """Return the answers of the judge to questions, a line for each. Raises UsageError if it does not answer."""
    try:
        done = subprocess.run([judge], input=question, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UsageError(f"cannot run {judge}: {error.strerror or error}") from error
    if done.returncode not in (0, 1) or done.stderr:
        said = done.stderr.strip() or f"it ended with code {done.returncode}"
        raise UsageError(f"{judge} does not answer as {NAME} does ({said}); build it again with `make proofs`")
    return done.stdout.splitlines()
