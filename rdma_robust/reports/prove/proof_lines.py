"""Lines beneath the row of an answer: the run that violates a claim, the facts that make it safe, or what is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rdma_robust.analyses.prove.safety_outcome import SafetyOutcome, SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.frame.formats.columns import PAPER
from rdma_robust.language.flow.cfg import Program
from rdma_robust.reports.prove.proof_record import (
    DifferenceView,
    ModelRecord,
    NeedView,
    PossibleView,
    ProofClaim,
    ProofRecord,
)
from rdma_robust.reports.share.run_lines import safety_run_lines
from rdma_robust.text import count, filled, one_line, printable

_MOST_PLACES: Final = 12
_MOST_FACTS: Final = 8
_MOST_SUSPECT: Final = 40


def model_lines(
    program: Program, outcome: SafetyOutcome, record: ModelRecord, width: int | None, *, full: bool = False, like: str = ""
) -> Iterator[str]:
    """Yield the explanation of an answer, at most `width` characters wide where possible; with `full` all of it.

    `like` is a model of which the same run was shown before.
    """
    room = (width or PAPER) - 2
    yield from filled(proof_headline(record, like), room, "", "  ")
    if outcome.run is not None and record.run is not None and outcome.claim is not None and not like:
        yield ""
        yield from _run(program, outcome.run, outcome.claim, width=width, full=full)
    yield from _suspect(record.suspect, room, full)
    yield from facts_lines(record, room, full)
    for claim in record.unreachable:
        why = "no final state is reached" if claim.kind == "outcome" else "it is never reached"
        yield from filled(
            f"line {claim.line}: `{printable(claim.text)}` is UNREACHABLE, a claim about nothing: {why}.", room
        )
    for view, allowed in zip(record.possible, outcome.allowed, strict=True):
        yield from _possible(view, record.model, room)
        if full and view.run is not None and allowed.run is not None:
            yield from _run(program, allowed.run, allowed.claim, width=width, full=full)
    yield from needs_lines(record.needs, room)


def proof_headline(record: ModelRecord, like: str = "", after: str = "after this run:") -> str:
    """Return an answer with its reason as a sentence; `like` as for :func:`model_lines`."""
    if record.claim is not None:
        after = f"after the run that is shown for {like}." if like else after
        return f"{record.model}: unsafe: line {record.claim.line}: {_violated(record.claim)} {after}"
    word = {"unknown": "undecided"}.get(record.verdict, record.verdict)
    return f"{record.model}: {word}: {printable(record.reason)}{_numbers(record)}."


def reason_words(record: ModelRecord) -> str:
    """Return why the verdict is what it is, as a clause."""
    if record.reason or record.verdict not in ("safe", "unsafe"):
        return record.reason
    if record.claim is not None:
        how = f"the run was replayed by the machine of model {record.model}"
        return f"line {record.claim.line}: {_violated(record.claim)}; {how}"
    words = {
        "explicit": "all states were searched",
        "zones": "an inductive invariant of difference bounds",
        "predicates": "an inductive invariant of predicates",
        "spacer": "an inductive invariant that a solver found",
    }
    return words.get(record.engine or "", "")


def _numbers(record: ModelRecord) -> str:
    if not record.states:
        return ""
    found = [f"engine {record.engine}"] if record.engine else []
    found += [count(record.states, "state"), count(record.transitions, "step")]
    counts = (("predicates", "predicate"), ("cubes_used", "cube"), ("solver_calls", "solver call"))
    told = {name: count(int(record.counts[name]), noun) for name, noun in counts if name in record.counts}
    if carried := record.counts.get("predicates_extrapolated"):
        told["predicates"] += f" of the proof under sc, extrapolated to {carried}"
    return f" ({', '.join([*found, *told.values()])})"


def _violated(claim: ProofClaim) -> str:
    text = printable(claim.text)
    said = {
        "invariant": f"invariant `{text}` is false",
        "outcome": f"outcome `{text}` is reached",
        "assertion": f"`{text}` fails",
    }
    return said.get(claim.kind, f"{claim.kind}: `{text}`")


def _run(program: Program, run: SafetyRun, claim: SafetyClaim, *, width: int | None, full: bool) -> Iterator[str]:
    lines = safety_run_lines(program, run, width, full=full, claim=claim)
    yield from (line.removeprefix("  ") for line in lines)
    yield ""
    yield f"  Checked: replayed by the machine of model {run.model}."


def _suspect(suspect: Sequence[str], room: int, full: bool) -> Iterator[str]:
    if not suspect:
        return
    yield from filled("A path to a violation that no values for its variables were found for, nor excluded:", room, "", "  ")
    shown = suspect if full or len(suspect) <= _MOST_SUSPECT else suspect[-_MOST_SUSPECT:]
    if len(shown) < len(suspect):
        yield f"  ... {len(suspect) - len(shown)} steps; -v shows them"
    for number, text in enumerate(shown, len(suspect) - len(shown) + 1):
        yield from filled(f"{number:4} {printable(text)}", room, "  ", "       ")


def facts_lines(record: ModelRecord, room: int, full: bool) -> Iterator[str]:
    """Yield the facts of a proof, a paragraph for each place."""
    told_places = [each for each in record.facts if each.facts]
    if not told_places:
        return
    if record.facts_of == "kept":
        yield from filled(
            "What makes it safe, in the states that the search kept (moves that nobody sees are put off):", room
        )
    else:
        yield "What makes it safe:"
    shown = told_places if full else told_places[:_MOST_PLACES]
    for each in shown:
        told = each.facts if full else each.facts[:_MOST_FACTS]
        more = f"; and {len(each.facts) - len(told)} more (-v)" if len(told) < len(each.facts) else ""
        yield from filled(f"{printable(each.place)}: {printable('; '.join(told))}{more}", room, "  ", "  ")
    if len(shown) < len(told_places):
        yield f"  and {count(len(told_places) - len(shown), 'more place')}; -v shows them"


def _possible(view: PossibleView, model: str, room: int) -> Iterator[str]:
    word = {True: "is possible, as claimed", False: "is claimed to be possible, and is not", None: "may be possible or not"}
    reason = f": {printable(view.reason)}" if view.reason and view.possible is not True else ""
    told = f"{model}: line {view.claim.line}: `{printable(view.claim.text)}` {word[view.possible]}{reason}."
    yield from filled(told, room, "", "  ")


def needs_lines(needs: Sequence[NeedView], room: int) -> Iterator[str]:
    """Yield what the program is without each of its flushes and fences."""
    if not needs:
        return
    yield "Flushes and fences, one at a time:"
    for each in needs:
        where = f"line {each.line}, `{printable(each.statement)}`"
        if each.verdict == "safe":
            said = "not needed: the program is safe without it"
        elif each.verdict == "unknown":
            said = f"open: without it, {printable(each.reason)}"
        else:
            said = f"needed: without it, `{printable(each.claim or '')}` fails"
        yield from filled(f"{where}: {said}", room, "  ", "  ")
        if each.verdict == "unsafe" and each.run:
            yield from filled("the end of that run: " + "; ".join(map(printable, each.run[-4:])), room, "      ")


def difference_lines(differences: Sequence[DifferenceView], room: int) -> Iterator[str]:
    """Yield where models differ on a program, and by which reordering."""
    if differences:
        yield "Where the models differ:"
    for each in differences:
        yield from filled(f"{each.stronger} is safe, {each.weaker} is not: {one_line(each.text, 300)}", room, "  ", "  ")


def proof_explanation(record: ProofRecord, width: int | None) -> list[str]:
    """Return all that is told of a program, model by model, below its name."""
    room = width or PAPER
    lines = filled(f"{printable(record.program or '')} ({printable(record.file)})", room, "", "  ")
    for each in record.models:
        lines += ["", *(each.lines or filled(proof_headline(each), room, "", "  "))]
    return [*lines, *(["", *record.lines] if record.lines else [])]
