"""The walk-through of `demo vass PROGRAM.rdma`: the VASS that the checker builds for a program, drawn, and
made a program again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from rdma_robust.counters.explicit import ExplicitVass, to_net, write_dot
from rdma_robust.counters.explicit_json import vass_json
from rdma_robust.digraph import by_key, reachable
from rdma_robust.errors import InternalError, SizeLimitError, UsageError
from rdma_robust.exports import VARIANTS, ExportOptions, control_graph
from rdma_robust.foreign import unheard
from rdma_robust.hardness.from_vass import system_of_vass, vass_program
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.petri.cover import cover
from rdma_robust.petri.net import CoverResult
from rdma_robust.petri.spec.writer import write_spec
from rdma_robust.teaching.demos.walk import (
    Block,
    CodeListing,
    Figure,
    Paragraph,
    WalkSection,
    WalkTable,
    Walkthrough,
    decide_generated,
    sizes,
    try_next,
)

MAX_DRAWN = 60
"""Control states of a drawing."""
LONGEST_LISTING = 150
MAX_BACK = 1_000
"""Transitions of a VASS that is made a program again."""


def back_walk(text: str, file: str, timeout: float | None, max_states: int, output: str | None) -> Walkthrough:
    """Return the walk-through of a program; with `output` it has the VASS as a listing of any length, in the form that
    the name asks for. Each search has `timeout` seconds.

    Raises ProgramError for an ill-formed program, SizeLimitError where its VASS has more than `max_states` control states.
    """
    program = load_decidable(text, file)
    whole = control_graph(VARIANTS["pivot"](program, RDMA), ExportOptions("json", "pivot", max_states=max_states))
    part = towards_targets(whole)
    outcome = decide_generated(text, file, timeout)
    known = cover(to_net(part), Limits(deadline=None if timeout is None else time.monotonic() + timeout))
    _compare(file, known.run is not None if not known.cut else None, outcome.verdict)
    return Walkthrough(
        "vass",
        "An RDMA program as a vector addition system: why robustness is in ExpSpace",
        f"rdma-robust demo vass {file}",
        (
            _theorem(),
            WalkSection("The VASS", tuple(_system(whole, part, file, output))),
            WalkSection("The answers", tuple(_answers(outcome, known))),
            WalkSection("And back", tuple(_back(part, outcome, timeout))),
            _try(file),
        ),
    )


def towards_targets(vass: ExplicitVass) -> ExplicitVass:
    """Return the part of a VASS from whose control states some path leads to a target, whatever the counters, and the
    initial one: a run that covers a target never leaves it. Its states are called q0, q1, ... as in the whole."""
    before = by_key((edge.target, edge.source) for edge in vass.edges)
    kept = reachable((cone.state for cone in vass.targets), before)
    order = sorted(kept | {vass.initial})
    number = {state: i for i, state in enumerate(order)}
    return replace(
        vass,
        states=tuple(vass.states[state].partition(" ")[0] for state in order),
        edges=tuple(
            replace(e, source=number[e.source], target=number[e.target]) for e in vass.edges if {e.source, e.target} <= kept
        ),
        initial=number[vass.initial],
        targets=tuple(replace(cone, state=number[cone.state]) for cone in vass.targets),
    )


def _theorem() -> WalkSection:
    return WalkSection(
        "The theorem",
        (
            Paragraph(
                "Robustness is in ExpSpace (Theorem 6.1). The proof goes the other way than `rdma-robust demo vass` "
                "with a net: it turns a program into a VASS that covers a target if and only if the program is not "
                "robust. If there is a violation, there is one in a normal form that sequentially consistent steps can "
                "imitate with a finite memory; and how many completions of a queue pair are still to be polled is a "
                "counter. A poll takes one from it. Where polls cannot run ahead without bound, or there are none, no "
                "counter is left, and the search is in PSpace."
            ),
            Paragraph(
                "This is the VASS of the refined construction that `rdma-robust check` uses (the pivot instrumentation)."
            ),
        ),
    )


def _system(whole: ExplicitVass, part: ExplicitVass, file: str, output: str | None) -> Iterator[Block]:
    rows = [
        ("control states", f"{len(whole.states):,}", f"{len(part.states):,}"),
        ("transitions", f"{len(whole.edges):,}", f"{len(part.edges):,}"),
        ("targets", f"{len(whole.targets):,}", f"{len(part.targets):,}"),
    ]
    yield WalkTable(
        "The size of its control graph, and of the part from which a target can be reached:",
        ("", "all", "part"),
        tuple(rows),
    )
    yield Paragraph(
        "A control state holds where the threads are, their registers, the memory, and what the search notes of the "
        "violation it looks for: which events are put off, and how the cycle goes on. "
        + (f"The counters are {', '.join(part.counters)}." if part.counters else "There are no counters: all are bounded.")
    )
    yield from _drawn(part)
    as_json = output is not None and output.endswith(".json")
    text = vass_json(part) if as_json else write_spec(to_net(part))
    if output is not None or text.count("\n") <= LONGEST_LISTING:
        saved = PurePath(file).stem + (".json" if as_json else ".spec")
        title = "The part as JSON:" if as_json else "The part as a Petri net, with a place for each control state:"
        yield CodeListing(title, "json" if as_json else "spec", text, saved)
    else:
        yield Paragraph(f"As a net it is too long to be shown; `rdma-robust demo vass {file} -o FILE.spec` saves it.")


def _drawn(part: ExplicitVass) -> Iterator[Block]:
    if not part.targets:
        yield Paragraph("No target can be reached in the control graph, so there is nothing to draw.")
    elif len(part.states) > MAX_DRAWN:
        yield Paragraph(f"It has more than {MAX_DRAWN} control states, too many for a drawing that can be read.")
    else:
        svg = vass_drawing(write_dot(part))
        words = "\n".join(
            f"{part.states[e.source]} -> {part.states[e.target]}: {e.name}{_change(part, e.effect.delta)}"
            for e in part.edges
        )
        targets = ", ".join(dict.fromkeys(part.states[cone.state] for cone in part.targets))
        start = f"start {part.states[part.initial]}; targets {targets}"
        if svg:
            yield Figure("Its control graph; targets have a double border:", svg, f"{start}\n{words}")
        else:
            yield CodeListing("Its control graph (a drawing needs Graphviz):", "console", f"{start}\n{words}\n")


def _change(vass: ExplicitVass, delta: tuple[int, ...]) -> str:
    changes = [f"{name} {'+' if d > 0 else '-'} {abs(d)}" for name, d in zip(vass.counters, delta, strict=True) if d]
    return f" ({', '.join(changes)})" if changes else ""


def vass_drawing(dot: str) -> str:
    """Return what Graphviz draws of a graph, as SVG; "" if it is not there."""
    try:
        import pygraphviz  # noqa: PLC0415 - slow
    except ImportError:
        return ""
    with unheard(), pygraphviz.AGraph(string=dot) as graph:
        svg: bytes = graph.draw(prog="dot", format="svg")
    return svg.decode()


def _answers(outcome: Outcome, known: CoverResult) -> Iterator[Block]:
    yield Paragraph(f"`rdma-robust check` says: {outcome.verdict.value} ({outcome.reason}). It saw {sizes(outcome)}.")
    if known.run is not None:
        yield Paragraph(f"The engine for nets says: a target of the part can be covered, in {known.run.length:,} steps.")
    elif known.invariant is not None:
        yield Paragraph(
            "The engine for nets says: no target of the part can be covered. It shares no search with the check."
        )
    else:
        yield Paragraph(f"The engine for nets has no answer: the limit of {known.cut} was reached.")


def _back(part: ExplicitVass, outcome: Outcome, timeout: float | None) -> Iterator[Block]:
    if len(part.edges) > MAX_BACK:
        yield Paragraph(f"With {len(part.edges):,} transitions it is too large to be made a program again.")
        return
    try:
        encoding = vass_program(system_of_vass(part))
    except (SizeLimitError, UsageError) as error:
        yield Paragraph(f"It cannot be made a program again: {error}.")
        return
    again = decide_generated(encoding.text, "back.rdma", timeout)
    _compare(
        "the program made of the VASS",
        None if again.verdict is Verdict.UNKNOWN else again.verdict is Verdict.NOT_ROBUST,
        outcome.verdict,
    )
    yield Paragraph(
        "This VASS is the input of the other reduction: a program that simulates it, with its control state in one "
        "variable, "
        f"and two lines that are not robust behind its targets. It has {len(encoding.text.splitlines()):,} lines, and it is "
        f"{again.verdict.value}. "
        + (
            "So is the program we began with."
            if again.verdict is outcome.verdict
            else f"The program we began with: {outcome.reason}."
        )
    )
    if encoding.text.count("\n") <= LONGEST_LISTING:
        yield CodeListing("The program:", "rdma", encoding.text, "back.rdma")


def _compare(what: str, covered: bool | None, verdict: Verdict) -> None:
    """Raise InternalError if two definite answers differ."""
    if covered is not None and verdict is not Verdict.UNKNOWN and covered is not (verdict is Verdict.NOT_ROBUST):
        raise InternalError(
            f"{what}: the program is {verdict.value}, and the VASS {'covers' if covered else 'does not cover'}"
        )


def _try(file: str) -> WalkSection:
    stem = PurePath(file).stem
    return try_next(
        f"demo vass {file} -o {stem}.spec",
        f"cover {stem}.spec",
        f"demo vass {file} -o {stem}.json",
        f"demo vass {stem}.json",
        f"export {file} --to dot",
        f"explain {file}",
    )
