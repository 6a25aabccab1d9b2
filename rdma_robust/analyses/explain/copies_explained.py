"""Explanations of programs with crowds: by a program with so many copies, and what of it holds for any number.

A violation is one of P(n), and is explained there. Where none is known, the pairs are those of P(2): what a thread reorders
and what keeps its orders does not depend on others, and who races on a word is known from two copies of each template. That
no cycle closes is said of P(2) only, so of other pairs nothing is taken over but what the search for any number has shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rdma_robust.analyses.explain.explanation import Pair
from rdma_robust.diagnose import listing
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.crowds.numbers_said import copies

_SHOWN = 2
"""Copies with which pairs are looked at: as many as can race with each other."""


def explicit_outcome(outcome: Outcome) -> Outcome:
    """Return the outcome as one of a program with a number of copies: that of the counterexample, if there is one."""
    program = outcome.program
    if not program.crowds:
        return outcome
    explicit = outcome.copies.program if outcome.copies else copies_of(program, dict.fromkeys(_names(program), _SHOWN))
    return replace(outcome, program=explicit, copies=None)


def of_templates(pairs: Sequence[Pair], outcome: Outcome) -> tuple[Pair, ...]:
    """Return the pairs of templates, each template once, and of the named threads; `outcome` is of the crowd."""
    program = outcome.program
    if not program.crowds:
        return tuple(pairs)
    first = {f"{name}[1]": name for name in _names(program)}
    others = {f"{name}[{k}]" for name in _names(program) for k in range(2, _SHOWN + 1)}
    return tuple(
        _of_any(replace(pair, thread=first.get(pair.thread, pair.thread)), outcome.verdict, program)
        for pair in pairs
        if pair.thread not in others
    )


def copies_text(outcome: Outcome) -> str:
    """Return the sentences about the number of copies; nothing without templates."""
    program = outcome.program
    if not program.crowds:
        return ""
    templates = listing((f"`{name}`" for name in _names(program)), "and")
    any_number = f"There can be any number of copies of {templates}."
    if outcome.verdict is Verdict.ROBUST:
        return f"{any_number} It is {outcome.reason}."
    if outcome.copies is None:
        return any_number
    some = (copies(number, f"`{name}`") for name, number in outcome.copies.numbers if number)
    found = listing(some, "and") or "no copy"
    least = "fewer copies in all are not enough" if outcome.copies.least else "fewer may be enough as well"
    return f"{any_number} What follows is a run with {found}; {least}, and with more it is possible, too."


def _names(program: Program) -> list[str]:
    return [thread.name for thread in program.crowds]


def _of_any(pair: Pair, verdict: Verdict, program: Program) -> Pair:
    """Return a pair of P(2) with what holds of it for any number, in the names of the program."""
    for node in program.many_nodes:
        own = f"{node}[1]"
        earlier, later = (
            replace(each, cell=each.cell.replace(own, node), text=each.text.replace(own, node))
            for each in (pair.earlier, pair.later)
        )
        pair = replace(pair, earlier=earlier, later=later, reason=pair.reason.replace(own, node))
    if pair.why in ("no-cycle", "filter", "search"):
        if verdict is Verdict.ROBUST:
            return replace(pair, why="search", reason="conflicts lead back, but no cycle closes for any number of copies")
        return replace(pair, why="open", reason="conflicts may lead back, so a cycle may close with some number of copies")
    return pair
