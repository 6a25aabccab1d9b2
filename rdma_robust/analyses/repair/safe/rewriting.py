"""From sets of waits to texts: what comes and goes, with its lines and costs, and runs told in the lines of the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.repair.edits import SourceEdit, apply_edits, disjoint_edits, text_edits
from rdma_robust.analyses.repair.patch import unified
from rdma_robust.analyses.repair.repairs import Choices, Costs, Insertion, RepairSolution
from rdma_robust.analyses.repair.safe.standing import WaitSpot, WaitSpots, insertions
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.text import one_line


@dataclass(frozen=True)
class Rewriter:
    """Writes sets of waits into the text of a program. Comments and layout stay; what it expects is that it is safe."""

    spots: WaitSpots
    costs: Costs

    def text(self, chosen: Choices) -> str:
        """Return the text with a set of waits."""
        return apply_edits(self.spots.source.text, self._edits(chosen)[0])[0]

    def _edits(self, chosen: Choices) -> tuple[list[SourceEdit], list[int], list[int]]:
        """Return what makes the text, the spots that are inserted in the order of their text, and those that go."""
        source, spots = self.spots.source, self.spots.spots
        inside = sorted(c.place for c in chosen)
        edits, order = insertions(source, spots, inside)
        gone = [k for k, spot in enumerate(spots) if spot.statement is not None and k not in inside]
        edits += disjoint_edits([source.remove(s) for k in gone if (s := spots[k].statement) is not None])
        if edits:
            edits += source.expect_safe(self.spots.model)
        return edits, order, gone

    def solution(self, chosen: Choices) -> RepairSolution:
        """Return a set of waits as a report shows it: what is inserted by the lines of the new text, the rest by the old."""
        source, spots = self.spots.source, self.spots.spots
        inside = sorted(c.place for c in chosen)
        edits, order, gone = self._edits(chosen)
        text, new = apply_edits(source.text, edits)
        lines = {k: text.count("\n", 0, start) + 1 for k, (start, _) in zip(order, new, strict=True)}
        diff = unified(source.text, text, self.spots.program.file)
        return RepairSolution(
            tuple(self._row(k, lines[k]) for k in order),
            sum(self._cost(spots[k]) for k in inside),
            (),
            text,
            diff,
            self.own(gone),
            text_edits(source.text, edits),
            kept=self.own([k for k in inside if spots[k].statement is not None]),
        )

    def own(self, numbers: Sequence[int]) -> tuple[Insertion, ...]:
        """Return waits of the program itself."""
        return tuple(self._row(k, s.span.line) for k in numbers if (s := self.spots.spots[k].statement) is not None)

    def rows(self, chosen: Choices) -> tuple[Insertion, ...]:
        """Return waits by the lines of the program: behind which they are inserted, or where they are."""
        lines = {c.place: self.spots.spots[c.place].line for c in chosen}
        return tuple(self._row(k, lines[k]) for k in sorted(lines))

    def _row(self, number: int, line: int) -> Insertion:
        spot = self.spots.spots[number]
        thread = self.spots.program.threads[spot.thread].name
        return Insertion(spot.kind.value, thread, spot.node, line, (spot.text,), self._cost(spot))

    def _cost(self, spot: WaitSpot) -> int:
        return self.costs.of_wait(spot.kind, spot.depth)

    def told(self, run: SafetyRun) -> tuple[str, ...]:
        """Return a run of the program with some waits, without these, in lines of the program itself."""
        full, at = self.spots.full, self.spots.at
        waits = {s for here, t in zip(at, full.threads, strict=True) for p, _, s in t.edges if p in here}
        return tuple(self._move(move.action) for move in run.moves[1:] if move.action.step not in waits)

    def _move(self, action: Action) -> str:
        thread = self.spots.full.threads[action.thread].name
        if action.step is None:
            return f"{thread}: its store {action.cell} = {action.written} reaches memory"
        said = f"line {self.spots.line(action.step.span.start)}, `{one_line(action.step.text)}`"
        match action.verb:
            case Verb.NIC_READ:
                return f"{thread}: the NIC reads {action.read} for {said}"
            case Verb.NIC_WRITE:
                return f"{thread}: the NIC writes {action.written} for {said}"
        return f"{thread}: {said}" if action.read is None else f"{thread}: {said}, reads {action.read}"
