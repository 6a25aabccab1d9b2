"""Where an `mfence` can be inserted into a program of automata: at each state of a thread, before all that leaves it.

An `mfence` at a state q is a transition from q to a new state, which all others that left q then leave. So one of them
stands behind every transition that enters q, and before every one that leaves it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rdma_robust.analyses.repair.edits import Gap, SourceEdit
from rdma_robust.diagnose import Reporter
from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import Cell, Edge, Program, Read, Step, Thread
from rdma_robust.language.trencher.trencher_reader import flow_graph_labels
from rdma_robust.language.trencher.trencher_syntax import AutomataFile, read_automata_file


@dataclass(frozen=True, slots=True)
class StatePlace:
    """A state of thread number `thread`. Loops are not told apart: what counts is the number of fences."""

    thread: int
    state: str
    depth: int = 0
    before: None = None


@dataclass(frozen=True)
class AutomataSource:
    """The text of a program of Trencher, and what was read in it."""

    text: str
    automata: AutomataFile

    @staticmethod
    def of(text: str, file: str) -> AutomataSource:
        """Raises ProgramError."""
        report = Reporter(file, text)
        automata = read_automata_file(text, report)
        report.raise_errors()
        return AutomataSource(text, automata)

    def places(self) -> tuple[StatePlace, ...]:
        """Return every state that a transition leaves, in the order of the text."""
        return tuple(
            StatePlace(number, state)
            for number, thread in enumerate(self.automata.threads)
            for state in dict.fromkeys(t.source for t in thread.transitions)
        )

    def marked(self, program: Program, mark: str) -> Program:
        """Return `program` with a read of a word that nobody writes at each state, its text as `Sites.place_of` knows it."""
        cell = Cell(program.nodes[0], mark)
        numbers = {(p.thread, p.state): k for k, p in enumerate(self.places())}
        threads = []
        for t, thread in enumerate(program.threads):
            labels, names = dict(thread.labels), flow_graph_labels(self.automata.threads[t])
            at = {names[state]: k for (number, state), k in numbers.items() if number == t}
            threads.append(_marked(thread, {labels[name]: k for name, k in at.items() if name in labels}, cell))
        return replace(program, cells=(*program.cells, cell), threads=tuple(threads))

    def fence(self, place: Gap | StatePlace) -> tuple[str, tuple[SourceEdit, ...]]:
        """Return the transition that is an `mfence` at a place, and the edits that put it there, the new line first."""
        assert isinstance(place, StatePlace)
        thread = self.automata.threads[place.thread]
        names = {name for t in thread.transitions for name in (t.source, t.target)}
        fenced = next(name for k in range(len(names) + 1) if (name := f"{place.state}_fenced{k or ''}") not in names)
        leaving = [t for t in thread.transitions if t.source == place.state]
        start = self.text.rfind("\n", 0, leaving[0].span.start) + 1
        indent = self.text[start : leaving[0].span.start]
        if indent.strip():
            start, indent = leaving[0].span.start, ""
        line = f"transition {place.state} {fenced} mfence"
        new = SourceEdit(start, f"{indent}{line}\n", 0, ((len(indent), len(indent) + len(line)),))
        renamed = (SourceEdit(t.source_span.start, fenced, len(place.state)) for t in leaving)
        return line, (new, *renamed)

    def expect_robust(self) -> list[SourceEdit]:
        """Return the edit after which a line expects robustness."""
        for claim in self.automata.expectations:
            at = self.text.find("not", claim.span.start)
            if claim.negated:
                return [SourceEdit(at, "", len("not "))]
        return []


def _marked(thread: Thread, marks: dict[int, int], cell: Cell) -> Thread:
    """Return a thread that reads `cell` at each of these points, before it does anything else there."""
    behind = {point: len(thread.points) + k for k, point in enumerate(marks)}
    edges: list[Edge] = []
    for point, number in marks.items():
        text = f"await {cell.name} != {number + 1}"
        edges.append((point, behind[point], Step(Read(cell), TRUE, (), text=text)))
    edges += ((behind.get(source, source), target, step) for source, target, step in thread.edges)
    points = tuple(range(len(thread.points) + len(marks)))
    return replace(thread, points=points, edges=tuple(edges))
