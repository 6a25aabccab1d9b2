"""The walk-through of `demo finite`: reachability of finite-state programs as robustness without polls."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from rdma_robust.analyses.safety.goals import StateGoal
from rdma_robust.analyses.safety.questions import Answer
from rdma_robust.analyses.safety.reach import reach_goals
from rdma_robust.errors import InternalError
from rdma_robust.hardness.automata import TARGET, AutomataIntersection, accepted_word, automata_of_json, automata_program
from rdma_robust.hardness.finite import FiniteProgram, finite_program
from rdma_robust.language.flow.cfg import Put
from rdma_robust.language.load import load_program_and_target
from rdma_robust.limits import Limits
from rdma_robust.outcome import Verdict
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.teaching.demos.walk import (
    Block,
    CodeListing,
    Paragraph,
    WalkSection,
    WalkTable,
    Walkthrough,
    decide_generated,
    sizes,
    told_run,
    try_next,
)

FILE = "finite.rdma"
LONGEST_LISTING = 200


def cycle(name: str, letter: str, length: int, accepts: int) -> dict[str, object]:
    """Return the JSON of an automaton that counts a letter of a and b modulo `length`."""
    states = [f"{letter}{n}" for n in range(length)]
    other = "b" if letter == "a" else "a"
    moves = {state: {letter: states[(n + 1) % length], other: state} for n, state in enumerate(states)}
    return {"name": name, "states": states, "initial": states[0], "accepting": [states[accepts]], "transitions": moves}


EXAMPLE = json.dumps(
    {
        "format": "rdma-robust/automata",
        "version": 1,
        "alphabet": ["a", "b"],
        "automata": [
            cycle("an odd number of a", "a", 2, 1),
            cycle("a number of a that leaves 2 divided by 3", "a", 3, 2),
            cycle("an odd number of b", "b", 2, 1),
        ],
    }
)
EXAMPLE_FILE = "the built-in automata"


@dataclass(frozen=True, slots=True)
class FiniteQuestion:
    """A local program and a target in it, the command that asks, and the automata that the program is about, if any."""

    text: str
    file: str
    target: str
    command: str
    automata: AutomataIntersection | None = None


def program_question(text: str, file: str, target: str) -> FiniteQuestion:
    return FiniteQuestion(text, file, target, f"rdma-robust demo finite {shlex.quote(file)} --target {shlex.quote(target)}")


def automata_question(text: str | None, file: str = EXAMPLE_FILE) -> FiniteQuestion:
    """Return the question of the automata in JSON `text`, or of the built-in ones. Raises ProgramError, SizeLimitError."""
    automata = automata_of_json(EXAMPLE if text is None else text, file)
    option = "" if text is None else f" --automata {shlex.quote(file)}"
    return FiniteQuestion(automata_program(automata), file, TARGET, f"rdma-robust demo finite{option}", automata)


def finite_walk(question: FiniteQuestion, timeout: float | None = None) -> Walkthrough:
    """Return the walk-through; each search has `timeout` seconds.

    Raises ProgramError, UsageError and SizeLimitError as `finite_program` does, InternalError if two answers differ.
    """
    generated = finite_program(question.text, question.file, question.target)
    return Walkthrough(
        "finite",
        "Finite-state programs as RDMA programs: why robustness is PSpace-hard without polls",
        question.command,
        (
            _theorem(),
            WalkSection("The question", tuple(_asked(question))),
            WalkSection("The program", tuple(_program(generated))),
            WalkSection("The verdict", tuple(_verdict(question, generated, timeout))),
            _try(question),
        ),
    )


def _theorem() -> WalkSection:
    return WalkSection(
        "The theorem",
        (
            Paragraph(
                "Theorem 7.1 has a second part: robustness of RDMA programs without polls is PSpace-complete. There are no "
                "completions to count, so the search has finitely many states. It is still hard, because a program has "
                "exponentially many states in the number of its variables and threads: whether a program of a few "
                "lines comes to a given point is itself PSpace-complete, without any network."
            ),
            Paragraph(
                "The proof starts from such a program. Its threads only read and write variables of their own node. All "
                "that is kept in order, so the program is robust, whatever it does. Behind the point in question comes a "
                "piece of code that is not: `put Gadget.z = g`, then `g = 1`, of which the NIC may read the new "
                "`g`. The program with this addition is robust if and only if the point cannot be reached."
            ),
        ),
    )


def _asked(question: FiniteQuestion) -> Iterator[Block]:
    automata = question.automata
    if automata is not None:
        yield Paragraph(
            "Given some finite automata, is there a word that every one of them accepts? Each is small, but together they "
            f"have as many states as the product of their sizes, here {prod(len(a.states) for a in automata.automata):,}. "
            "With the automata as input the question is PSpace-complete (Kozen 1977)."
        )
        rows = [
            (a.name, str(len(a.states)), a.states[a.initial], " ".join(a.states[s] for s in sorted(a.accepting)))
            for a in automata.automata
        ]
        yield WalkTable("The automata:", ("accepts", "states", "starts in", "accepting"), tuple(rows))
        yield Paragraph(
            "As a program: a thread guesses a word letter by letter. Each automaton is a variable, and the thread moves all "
            "of them by each letter. It can end if all are in accepting states when it stops guessing."
        )
    if question.text.count("\n") <= LONGEST_LISTING:
        yield CodeListing("The local program:", "rdma", question.text)
    yield Paragraph(f"The target is `{question.target}`: can the program come there?")


def _program(generated: FiniteProgram) -> Iterator[Block]:
    if generated.watched:
        yield Paragraph(
            "The target is about more than one thread, so somebody has to look at a state as a whole. Every step that "
            "touches "
            f"memory is now taken under a lock. A thread more, {generated.thread}, takes the lock and keeps it: nobody "
            "moves any more while it reads what the target names, one after the other. If the target holds, it goes on "
            "to the gadget. A thread that ends leaves a mark, and the registers that the target names."
        )
    else:
        yield Paragraph(f"The target is about {generated.thread} alone, so the gadget stands at its end.")
    yield CodeListing("The program, which has no poll:", "rdma", generated.text, FILE)


def _verdict(question: FiniteQuestion, generated: FiniteProgram, timeout: float | None) -> Iterator[Block]:
    outcome = decide_generated(generated.text, FILE, timeout)
    if outcome.verdict is Verdict.UNKNOWN:
        yield Paragraph(f"The check of the program has no answer: {outcome.reason}.")
        return
    found = outcome.verdict is Verdict.NOT_ROBUST
    answer = "not robust, so the target can be reached" if found else "robust, so the target cannot be reached"
    yield Paragraph(f"The program is {answer}. The search saw {sizes(outcome)}.")
    yield Paragraph(_others(question, found, timeout))
    if found:
        yield told_run(outcome, "The run, up to the violation:", _notes)


def _others(question: FiniteQuestion, found: bool, timeout: float | None) -> str:
    """Return what other methods say. Raises InternalError if one says otherwise."""
    if question.automata is not None:
        word = accepted_word(question.automata)
        _agree(question, found, word is not None)
        if word is None:
            return "The product of the automata, built state by state, says the same: there is no such word."
        shown = " ".join(word) or "(the empty word)"
        return f"The product of the automata, built state by state, says the same: a shortest word is {shown}."
    program, target = load_program_and_target(question.text, question.file, question.target)
    answer = reach_goals(program, [StateGoal(target)], "sc", Limits.of(timeout)).answers[0]
    if answer.answer is Answer.UNKNOWN:
        return f"`rdma-robust reach --model sc` has no answer: {answer.reason}."
    _agree(question, found, answer.answer is Answer.REACHABLE)
    return f"`rdma-robust reach --model sc`, which knows nothing of this construction, says the same: {answer.reason}."


def _agree(question: FiniteQuestion, found: bool, other: bool) -> None:
    if found is not other:
        raise InternalError(
            f"{question.file}: the target is {'reached' if other else 'not reached'}, against the robustness check"
        )


def _notes(moves: Sequence[Move]) -> tuple[str, ...]:
    """Return notes for the start, and for what the gadget does."""
    notes = ["Everything up to the gadget is local and takes effect at once."]
    for move in moves[1:]:
        match move.action.verb, None if move.action.step is None else move.action.step.op:
            case Verb.ISSUE, Put():
                notes.append("The target holds: the put is posted, and the NIC has not read `g` yet.")
            case Verb.NIC_READ, Put():
                notes.append(f"The NIC reads `g` = {move.action.read} only now, after the thread has written it.")
            case _:
                notes.append("")
    return tuple(notes)


def _try(question: FiniteQuestion) -> WalkSection:
    return try_next(
        f"{question.command.removeprefix('rdma-robust ')} -o {FILE}",
        f"explain {FILE}",
        f"explore {FILE}",
        f"export {FILE} --to promela",
        "demo finite litmus/order-cpu-cpu.rdma --target 'T1 ended && T2 ended'",
        "demo vass",
    )
