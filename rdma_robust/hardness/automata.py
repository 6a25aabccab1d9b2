"""Is there a word that each of some finite automata accepts? The question as a local program, for any number of automata.

The product of the automata has exponentially many states, and with their number part of the input the question is
PSpace-complete; so is then robustness without polls, by :mod:`rdma_robust.hardness.finite`. A thread guesses the word
letter by letter. Every automaton is a variable that holds its state, and the thread moves them one after the other by the
letter it has guessed. Behind the loop it looks whether each is accepting; it comes to its end iff it can guess a word
that all accept. Nobody else touches the variables, so how many steps a letter takes does not matter.

Source: Kozen 1977, "Lower bounds for natural proof systems".
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rdma_robust.counters.explicit_json import DocumentMisfit, document_members, members_of, read_document
from rdma_robust.errors import SizeLimitError
from rdma_robust.hardness.symbols import comment_lines, laid_out, nested_lines
from rdma_robust.language.syntax.layout import MAX_NESTING, MAX_TOKENS

FORMAT: Final = "rdma-robust/automata"
VERSION: Final = 1
THREAD: Final = "Guesser"
TARGET: Final = f"{THREAD} ended"
DESCRIBED: Final = "schema/automata.schema.json describes the format"


@dataclass(frozen=True, slots=True)
class FiniteAutomaton:
    """A deterministic automaton. `moves[state]` has for each letter (by index) the next state, None where there is none."""

    name: str
    states: tuple[str, ...]
    initial: int
    accepting: frozenset[int]
    moves: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True)
class AutomataIntersection:
    """Automata over one alphabet of distinct letters, each any text."""

    letters: tuple[str, ...]
    automata: tuple[FiniteAutomaton, ...]


def automata_program(question: AutomataIntersection) -> str:
    """Return a local program whose thread THREAD can end iff some word is accepted by every automaton.

    Raises SizeLimitError if the program would exceed the limits of the language.
    """
    _refuse_large(question)
    heading = ["Guess a word, letter by letter; the thread can end iff every automaton accepts one."]
    variables = [f"m{number}" for number in range(len(question.automata))]
    for variable, automaton in zip(variables, question.automata, strict=True):
        states = ", ".join(f"{number} {state}" for number, state in enumerate(automaton.states))
        heading.append(f"{variable} is the state of {automaton.name}: {states}")
    declared = [f"{v} = {a.initial}" for v, a in zip(variables, question.automata, strict=True)]
    pairs = list(zip(variables, question.automata, strict=True))
    branches = []
    for number, letter in enumerate(question.letters):
        moves = [line for v, a in pairs for line in _move(v, [row[number] for row in a.moves])]
        branches += [[f"// {_shown(letter)}", *moves]] if moves else []
    body = ["reg q"] if pairs else []
    if branches:
        heads = ["choose", *(["or"] * (len(branches) - 1))]
        chosen = [line for head, branch in zip(heads, branches, strict=True) for line in nested_lines(head, branch)]
        body += nested_lines("loop", chosen if len(branches) > 1 else branches[0])
    for variable, automaton in pairs:
        body += _accepts(variable, automaton.accepting)
    lines = [*comment_lines(map(_shown, heading)), "", *nested_lines("node Automata", declared), ""]
    return laid_out([*lines, *nested_lines(f"thread {THREAD} on Automata", body)])


def _move(variable: str, after: Sequence[int | None]) -> list[str]:
    """Return how one automaton reads a letter: `after[state]` is where it goes, None blocks it."""
    arms = [(state, target) for state, target in enumerate(after) if target != state]
    lines = [f"q = {variable}"]
    stuck = [f"q != {state}" for state, target in arms if target is None]
    lines += [f"assume {' && '.join(stuck)}"] if stuck else []
    moving = [(state, target) for state, target in arms if target is not None]
    for number, (state, target) in enumerate(moving):
        lines += nested_lines(f"{'else ' if number else ''}if q == {state}", [f"{variable} = {target}"])
    return lines if arms else []


def _accepts(variable: str, accepting: frozenset[int]) -> list[str]:
    states = " || ".join(f"q == {state}" for state in sorted(accepting))
    return [f"q = {variable}", f"assume {states or '0'}"]


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _refuse_large(question: AutomataIntersection) -> None:
    states = max((len(a.states) for a in question.automata), default=0)
    if states > MAX_NESTING // 2:
        raise SizeLimitError(f"an automaton of {states:,} states is too large: one has up to {MAX_NESTING // 2}")
    tokens = sum(12 * len(row) for a in question.automata for row in a.moves) + 20 * len(question.automata)
    if tokens > MAX_TOKENS:
        raise SizeLimitError(
            f"the automata are too large: a program of about {tokens:,} tokens; the language allows {MAX_TOKENS:,}"
        )


def automata_of_json(text: str, file: str) -> AutomataIntersection:
    """Return the automata in JSON `text` (schema/automata.schema.json); `file` names it in messages.

    Raises ProgramError for text that is none.
    """
    return read_document(text, file, _automata, "no automata", DESCRIBED)


def _automata(document: Any) -> AutomataIntersection:
    members = document_members(document, FORMAT, VERSION, ("format", "version", "alphabet", "automata"))
    letters = _texts(members["alphabet"], "alphabet")
    automata = members["automata"]
    if not isinstance(automata, list):
        raise DocumentMisfit("automata must be a list")
    return AutomataIntersection(letters, tuple(_automaton(a, f"automata[{i}]", letters) for i, a in enumerate(automata)))


def _automaton(value: Any, where: str, letters: tuple[str, ...]) -> FiniteAutomaton:
    parts = members_of(value, where, ("name", "states", "initial", "accepting", "transitions"))
    states = _texts(parts["states"], f"{where}.states")

    number_of, letter_number = ({name: number for number, name in enumerate(names)} for names in (states, letters))

    def state(name: Any, place: str) -> int:
        number = number_of.get(name) if isinstance(name, str) else None
        if number is None:
            raise DocumentMisfit(f"{place} is {json.dumps(name)[:100]}, which is none of the states")
        return number

    rows = parts["transitions"]
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise DocumentMisfit(f"{where}.transitions must be an object of objects: state, then letter, then state")
    moves: list[list[int | None]] = [[None] * len(letters) for _ in states]
    for source, row in rows.items():
        at = state(source, f"a key of {where}.transitions")
        for letter, target in row.items():
            if letter not in letter_number:
                raise DocumentMisfit(
                    f"{where}.transitions.{source} has the letter {json.dumps(letter)}, not of the alphabet"
                )
            moves[at][letter_number[letter]] = state(target, f"{where}.transitions.{source}.{letter}")
    accepting = _texts(parts["accepting"], f"{where}.accepting")
    name = parts["name"]
    if not isinstance(name, str):
        raise DocumentMisfit(f"{where}.name must be a string")
    return FiniteAutomaton(
        name,
        states,
        state(parts["initial"], f"{where}.initial"),
        frozenset(state(each, f"{where}.accepting") for each in accepting),
        tuple(map(tuple, moves)),
    )


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise DocumentMisfit(f"{where} must be a list of strings")
    if len(set(value)) != len(value):
        raise DocumentMisfit(f"{where} names something twice")
    return tuple(value)


def accepted_word(question: AutomataIntersection) -> tuple[str, ...] | None:
    """Return a shortest word that every automaton accepts, None if there is none: breadth first through the product.

    This is the usual construction, against which the generated program is compared.
    """
    start = tuple(a.initial for a in question.automata)
    words: dict[tuple[int, ...], tuple[str, ...]] = {start: ()}
    queue = deque([start])
    while queue:
        states = queue.popleft()
        if all(state in a.accepting for state, a in zip(states, question.automata, strict=True)):
            return words[states]
        for number, letter in enumerate(question.letters):
            after = tuple(a.moves[state][number] for state, a in zip(states, question.automata, strict=True))
            moved = tuple(state for state in after if state is not None)
            if len(moved) == len(after) and moved not in words:
                words[moved] = (*words[states], letter)
                queue.append(moved)
    return None
