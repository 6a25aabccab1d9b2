"""Two answers to the same questions: where they contradict each other, and what they say together."""

from __future__ import annotations

from dataclasses import replace

from rdma_robust.messages.message_answers import BufferAnswer, Matchings, Mismatch, Tri, Violation


def contradictions(a: BufferAnswer, b: BufferAnswer) -> list[str]:
    """Return in which points two answers cannot both be true, in words. What one leaves open contradicts nothing."""
    found = []
    for name, ours, theirs in (
        ("violated", a.violated, b.violated),
        ("deadlocked", a.deadlocked, b.deadlocked),
        ("leaking", a.leaking, b.leaking),
    ):
        if "unknown" not in (ours, theirs) and ours != theirs:
            found.append(f"{name} is {ours} ({a.engine}) or {theirs} ({b.engine})")
    if not a.reason and not b.reason:
        places = [{(each.span, each.kind) for each in answer.violations} for answer in (a, b)]
        if places[0] != places[1]:
            lines = sorted({span.line for span, _ in places[0] ^ places[1]})
            found.append(f"only one of {a.engine} and {b.engine} finds what is wrong at line {lines[0]}")
    for known, other in ((a, b), (b, a)):
        found += _pairs_too_many(known, other)
    return found + _counts(a, b)


def _pairs_too_many(known: BufferAnswer, other: BufferAnswer) -> list[str]:
    """Return what `other` has that an answer with all pairs has not."""
    if known.pairs is None or not known.pairs_exact or other.pairs is None:
        return []
    more = other.pairs - known.pairs
    return [f"{len(more)} pairs of {other.engine} are none of {known.engine}, as {min(more)}"] if more else []


def _counts(a: BufferAnswer, b: BufferAnswer) -> list[str]:
    if a.matchings is None or b.matchings is None:
        return []
    least, most = sorted((a.matchings, b.matchings), key=lambda each: each.count)
    if not least.exact or (least.count == most.count):
        return []
    return [f"{least.count} matchings are all, and there are {most.count}"]


def combined_answer(first: BufferAnswer, second: BufferAnswer) -> BufferAnswer:
    """Return what two answers to the same questions say together; what one leaves open is as the other has it.

    The engine and the work are those of the second where it says something that the first does not. The reason has those of
    both if something is left open by both.
    """
    violations = _joined(first.violations, second.violations)
    matchings = _better(first.matchings, second.matchings)
    pairs, exact = first.pairs, first.pairs_exact
    if not exact and second.pairs is not None:
        pairs = second.pairs if second.pairs_exact else second.pairs | (first.pairs or frozenset())
        exact = second.pairs_exact
    answer = replace(
        first,
        engine=first.engine if not first.reason else second.engine,
        violated=_known(first.violated, second.violated),
        deadlocked=_known(first.deadlocked, second.deadlocked),
        leaking=_known(first.leaking, second.leaking),
        violations=violations,
        deadlock=first.deadlock or second.deadlock,
        leak=first.leak or second.leak,
        pairs=pairs,
        pairs_exact=exact,
        matchings=matchings,
        mismatches=_mismatches(first.mismatches, second.mismatches),
        work=first.work | second.work,
        reason="",
    )
    if not first.reason or not second.reason:
        return answer
    both = f"{first.engine}: {first.reason}; {second.engine}: {second.reason}"
    return replace(answer, reason="" if _closed(answer) else both)


def _known(first: Tri, second: Tri) -> Tri:
    return second if first == "unknown" else first


def _closed(answer: BufferAnswer) -> bool:
    """Return whether nothing is left open: where something is violated, there may be other places."""
    verdicts = (answer.violated, answer.deadlocked, answer.leaking)
    counted = answer.matchings is None or answer.matchings.exact
    return "unknown" not in verdicts and answer.violated == "no" and answer.pairs_exact and counted


def _joined(first: tuple[Violation, ...], second: tuple[Violation, ...]) -> tuple[Violation, ...]:
    known = {(each.span, each.kind) for each in first}
    return (*first, *[each for each in second if (each.span, each.kind) not in known])


def _better(first: Matchings | None, second: Matchings | None) -> Matchings | None:
    if first is None or second is None:
        return first or second
    return max(first, second, key=lambda each: (each.exact, each.count))


def _mismatches(first: tuple[Mismatch, ...], second: tuple[Mismatch, ...]) -> tuple[Mismatch, ...]:
    known = {each.processes for each in first}
    return (*first, *[each for each in second if each.processes not in known])
