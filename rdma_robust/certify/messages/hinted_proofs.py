"""Proofs by unit propagation: each clause that is derived says which earlier ones it follows from, in which order."""

from __future__ import annotations

from collections.abc import Sequence

Clause = tuple[int, ...]
Lemma = tuple[Clause, tuple[int, ...]]
"""A clause, and the numbers of clauses from which it follows: given ones come first, then earlier lemmas."""


def flaw(clauses: Sequence[Clause], lemmas: Sequence[Lemma]) -> str:
    """Return why lemmas do not refute clauses; '' if they do.

    Assume all literals of a lemma false: then each of its clauses has to leave one literal, which becomes true, and the
    last one none. The last lemma has to be the empty clause.
    """
    known = list(clauses)
    for number, (lemma, hints) in enumerate(lemmas):
        false = set(lemma)
        if 0 in false:
            return f"lemma {number} has a literal 0"
        for at, hint in enumerate(hints):
            if not 0 <= hint < len(known):
                return f"lemma {number} rests on clause {hint}, which comes later or is none"
            left = [each for each in known[hint] if each not in false]
            if not left:
                break
            if len(left) > 1:
                return f"lemma {number} does not follow: its reason {at} leaves more than one literal"
            false.add(-left[0])
        else:
            return f"lemma {number} does not follow: its reasons contradict nothing"
        known.append(lemma)
    if not lemmas or lemmas[-1][0]:
        return "the last lemma is not the empty clause"
    return ""
