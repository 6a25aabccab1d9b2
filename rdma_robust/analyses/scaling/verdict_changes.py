"""Where the verdict changes as a number grows, in a sentence: "Robust up to N = 2, not robust from N = 3."."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

WORDS: Final = {"robust": "robust", "not-robust": "not robust", "unknown": "unknown", "error": "in error"}
MOST_LISTED: Final = 3


@dataclass(frozen=True, slots=True)
class Stretch:
    """Numbers that follow one another among those that were asked about, with one verdict."""

    verdict: str
    numbers: tuple[int, ...]


def stretches(verdicts: Sequence[tuple[int, str]]) -> list[Stretch]:
    """Return the stretches of one verdict, as long as they can be, by growing numbers."""
    found: list[Stretch] = []
    for number, verdict in sorted(verdicts):
        if found and found[-1].verdict == verdict:
            found[-1] = Stretch(verdict, (*found[-1].numbers, number))
        else:
            found.append(Stretch(verdict, (number,)))
    return found


def told(name: str, found: Sequence[Stretch]) -> str:
    """Return the sentence about all stretches of the constant `name`; nothing if there is none."""
    if not found:
        return ""
    asked = [number for each in found for number in each.numbers]
    if len(found) == 1:
        number = _listed(name, asked)
        said = f"{WORDS[found[0].verdict]} for {'every ' if 'from' in number else ''}{number}"
    elif len(found) == 2:
        first, second = found
        said = f"{WORDS[first.verdict]} up to {name} = {first.numbers[-1]}, "
        said += f"{WORDS[second.verdict]} from {name} = {second.numbers[0]}"
    else:
        said = "; ".join(f"{WORDS[each.verdict]} for {_listed(name, each.numbers)}" for each in found)
    gaps = [(a.numbers[-1], b.numbers[0]) for a, b in pairwise(found) if b.numbers[0] > a.numbers[-1] + 1]
    if gaps:
        between = " and ".join(f"{low} and {high}" for low, high in gaps)
        said += f" (between {between} nothing was asked)"
    return f"{said[0].upper()}{said[1:]}."


def _listed(name: str, numbers: Sequence[int]) -> str:
    """Return `N = 2`, `N = 2, 4, 8`, or `N from 2 to 8` where no number between them was left out."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) > MOST_LISTED or (len(numbers) > 2 and last - first == len(numbers) - 1):
        left_out = last - first >= len(numbers)
        return f"{name} from {first} to {last}{' that was asked' if left_out else ''}"
    return f"{name} = {', '.join(map(str, numbers))}"
