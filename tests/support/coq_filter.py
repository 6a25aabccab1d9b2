"""The static filter as Coq computes it: flow graphs as terms of proofs/search/FlowGraphs.v, what Useful.v says of them."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from rdma_robust.model import Model
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.reductions.critical import _MOST_THREADS
from rdma_robust.semantics.trace import EventType
from sitegen.theorems import PROOFS, not_compiled

KINDS = {
    EventType.P: "Poll",
    EventType.F: "Fence",
    **{EventType[kind]: kind for kind in ("LR", "LW", "CAS", "NLR", "NRW", "NRR", "NLW", "NF")},
}
"""What the types of events are called in Coq."""

FUEL = 3000
"""More steps than an analysis of a small program takes: where it were too little, Coq would list more than the code."""

Pairs = set[tuple[int, int]]

PRELUDE = """
Require Import List Arith Bool.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Filter Critical FlowGraphs Useful.
Set Printing Width 1000000.
Set Printing Depth 1000000.
Notation qpair := (@qpair concrete).
Definition numbered (arcs : list arc) := combine (seq 0 (length arcs)) arcs.
Definition overtaking buffers f (arcs : list arc) es := flat_map (fun a => map (fun x => (fst a, fst x))
  (filter (fun x => may_overtake (with_buffers buffers (of_flags f)) arcs (fun t => nth t es 0) FUEL (snd a) (snd x))
    (filter (fun x => a_thr (snd x) =? a_thr (snd a)) (numbered arcs)))) (numbered arcs).
Definition starts buffers f (arcs : list arc) es once :=
  let accesses := filter (fun a => existsb (arc_eqb (snd a)) (accesses_of arcs)) (numbered arcs) in
  flat_map (fun x => let c := class_of_arc (snd x) in
    let found := walks (with_buffers buffers (of_flags f)) arcs (fun t => nth t es 0) FUEL (fun _ => once) c in
    map (fun a => (fst x, fst a)) (filter (fun a => arc_can_start c (snd a) && match found with
      | None => true | Some l => existsb (fun w => w_beta w && arc_eqb (w_at w) (snd a)) l end) accesses)) accesses.
Definition filtered buffers f arcs es once := (overtaking buffers f arcs es, starts buffers f arcs es once).
""".replace("FUEL", str(FUEL))


def edges_of(frame: InstrumentationFrame) -> list[EventEdge]:
    """The edges of all threads, in the order of their numbers in Coq."""
    return [edge for graph in frame.graphs for edge in graph.edges]


def is_covered(frame: InstrumentationFrame) -> bool:
    """Whether the formal filter is about all of these events."""
    model = frame.model
    plain = model == Model(cpu=model.cpu, order=model.order, ordered_reads=model.ordered_reads)
    return plain and all(
        (e.type is None or e.type in KINDS) and e.also is None and e.connection is None and not e.section
        for e in edges_of(frame)
    )


def ask_filter(frames: Iterable[InstrumentationFrame]) -> list[tuple[Pairs, Pairs]]:
    """What may overtake what, and for a pivot at the first edge, what of the other edges is left as a start. Skips the test
    where Coq cannot be asked."""
    if reason := not_compiled():
        pytest.skip(f"not run: {reason}")
    questions = [f"Eval vm_compute in filtered {_term(frame)}." for frame in frames]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "Filtered_programs.v"
        script.write_text("\n".join([PRELUDE, *questions]), encoding="utf-8")
        command = ["coqc", "-q", "-w", "none", "-R", PROOFS, "RR", script.name]
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    answers = re.findall(r"= \((\[.*?\]), (\[.*?\])\)\s*:", said, re.DOTALL)
    found = [(_pairs(first), _pairs(second)) for first, second in answers]
    assert len(found) == len(questions)
    return found


def _pairs(text: str) -> Pairs:
    return {(int(a), int(b)) for a, b in re.findall(r"\((\d+), (\d+)\)", text)}


def _term(frame: InstrumentationFrame) -> str:
    model = frame.model
    flags = f"(Build_flags {_bool(model.ordered_reads)} {'Default' if model.order == 'default' else 'Weaker'})"
    remotes = {name: k for k, name in enumerate(dict.fromkeys(e.remote for e in edges_of(frame)))}
    cells = {cell: k for k, cell in enumerate(dict.fromkeys(e.cell for e in edges_of(frame)))}
    arcs = [
        f"Arc {e.thread} {e.source} {e.target} {'None' if e.type is None else f'(Some {KINDS[e.type]})'}"
        f" (({e.thread}, {remotes[e.remote]}) : qpair) {cells[e.cell]} {_bool(e.completes)}"
        for e in edges_of(frame)
    ]
    entries = [str(graph.entry) for graph in frame.graphs]
    return f"{_bool(model.cpu == 'tso')} {flags} {_list(arcs)} {_list(entries)} {_bool(len(entries) <= _MOST_THREADS)}"


def _list(terms: Sequence[str]) -> str:
    return f"[{'; '.join(terms)}]"


def _bool(value: bool) -> str:
    return "true" if value else "false"
