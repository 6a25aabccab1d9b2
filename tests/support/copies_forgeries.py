"""Forged certificates for any number of copies: true ones with something changed, so that they prove nothing any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from rdma_robust.certify.document import GRAPHS, content_digest
from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.cfg import Poll, Program, Silent
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from tests.support.certificates import Document, changed, without
from tests.support.copies_certificates import by_own_search
from tests.support.forgeries import Forgery, changed_events

_SHARED = ("beta", "cpu_in_beta", "forced_polls", "read_in_beta", "written_in_beta", "poisoned", "stores_in_beta")


def fewer_markings(certificate: Document, rng: Random, each: int = 3) -> Iterator[Forgery]:
    """Markings, control states and classes of pivots that are missing; fewer copies, too few completions."""
    evidence = certificate["evidence"]
    markings = evidence["markings"]
    for row in rng.sample(range(len(markings)), min(each, len(markings))):
        yield "a marking left out", without(certificate, ("evidence", "markings", row))
        control = markings[row][0]
        kept = [marking for marking in markings if marking[0] != control]
        yield "a control state left out", changed(certificate, ("evidence", "markings"), kept)
    in_beta = [control for control, each_of in enumerate(evidence["controls"]) if each_of[3] is not None]
    for name in sorted({str(evidence["marks"][evidence["controls"][c][3]]["pivot"]) for c in in_beta}):
        gone = {c for c in in_beta if str(evidence["marks"][evidence["controls"][c][3]]["pivot"]) == name}
        kept = [marking for marking in markings if marking[0] not in gone]
        yield "a class left out", changed(certificate, ("evidence", "markings"), kept)
    kept = [marking for marking in markings if marking[0] not in in_beta]
    yield "all pivots left out", changed(certificate, ("evidence", "markings"), kept)
    yield "all markings left out", changed(certificate, ("evidence", "markings"), [])
    tokens = [(row, i) for row, marking in enumerate(markings) for i in range(len(marking[2]))]
    for row, i in rng.sample(tokens, min(2 * each, len(tokens))):
        most = markings[row][2][i][1]
        here = ("evidence", "markings", row, 2, i)
        if most is None:
            yield "any number made finite", changed(certificate, (*here, 1), rng.choice([1, 2, 100]))
        else:
            yield "a number of copies lowered", changed(certificate, (*here, 1), most - 1)
        yield "copies left out", without(certificate, here)
    limits = [(row, i) for row, marking in enumerate(markings) for i, limit in enumerate(marking[1]) if limit]
    for row, i in rng.sample(limits, min(each, len(limits))):
        yield "a limit lowered", changed(certificate, ("evidence", "markings", row, 1, i), markings[row][1][i] - 1)


def changed_copies(certificate: Document, rng: Random, each: int = 3) -> Iterator[Forgery]:
    """Copies elsewhere, with other values, completions or marks; the hero lost or elsewhere; violations hidden."""
    evidence = certificate["evidence"]
    copies, controls = evidence["copies"], evidence["controls"]
    for i in rng.sample(range(len(copies)), min(each, len(copies))):
        here = ("evidence", "copies", i)
        yield "a copy elsewhere", changed(certificate, (*here, 1), copies[i][1] + 1)
        for v in range(len(copies[i][2])):
            yield "another value of a copy", changed(certificate, (*here, 2, v), copies[i][2][v] + 1)
        for v, limit in enumerate(copies[i][3]):
            if limit:
                yield "a copy with fewer completions", changed(certificate, (*here, 3, v), limit - 1)
    for i in [i for i, copy in enumerate(copies) if copy[4] is not None][:each]:
        yield "a copy without marks", changed(certificate, ("evidence", "copies", i, 4), None)
    for i, share in list(enumerate(evidence["shares"]))[:each]:
        for member in _SHARED:
            if share["marks"].get(member):
                yield f"{member} of a copy forgotten", without(certificate, ("evidence", "shares", i, "marks", member))
        if "tainted" in share["marks"]:
            yield "taint of a copy forgotten", without(certificate, ("evidence", "shares", i, "marks", "tainted"))
    for i, mark in list(enumerate(evidence["marks"]))[:each]:
        yield "closed changed", changed(certificate, ("evidence", "marks", i, "closed"), not mark["closed"])
    heroes = [i for i, control in enumerate(controls) if control[1] is not None]
    for i in heroes[:each]:
        yield "the hero left out", changed(certificate, ("evidence", "controls", i, 1), None)
        yield "the hero elsewhere", changed(certificate, ("evidence", "controls", i, 1, 1), controls[i][1][1] + 1)
    for i in rng.sample(range(len(controls)), min(each, len(controls))):
        for v in range(len(controls[i][2])):
            yield "another value", changed(certificate, ("evidence", "controls", i, 2, v), controls[i][2][v] + 1)
        for v in range(len(controls[i][5])):
            yield "a word that nobody holds", without(certificate, ("evidence", "controls", i, 5, v))
    for k, fresh in enumerate(evidence["fresh"]):
        other = next((i for i, copy in enumerate(copies) if copy != copies[fresh] and copy[0] == copies[fresh][0]), None)
        yield "another copy has not begun", changed(certificate, ("evidence", "fresh", k), other)
    named = [thread["thread"] for thread in evidence["threads"]]
    for i, mark in list(enumerate(evidence["marks"]))[:each]:
        for name in named:
            for cell in evidence["cells"]:
                if (name, cell) != (mark["pivot"]["thread"], mark["pivot"]["cell"]):
                    pivot = mark["pivot"] | {"thread": name, "cell": cell}
                    yield "another pivot", changed(certificate, ("evidence", "marks", i, "pivot"), pivot)
    yield "no copy that has not begun", changed(certificate, ("evidence", "fresh"), [])
    yield "another thread", changed(certificate, ("evidence", "threads", 0, "thread"), "Nobody")
    for member in ("cells", "counted"):
        if evidence[member]:
            yield f"{member} left out", without(certificate, ("evidence", member, 0))


def changed_numbers(certificate: Document) -> Iterator[Forgery]:
    """Other numbers of copies, or of other threads, for the same trace; and events of it changed."""
    for i, each in enumerate(certificate["evidence"]["copies"]):
        here = ("evidence", "copies", i)
        for number in (each["copies"] - 1, -1, None, 10**9):
            yield "numbers of copies changed", changed(certificate, (*here, "copies"), number)
        yield "copies of another thread", changed(certificate, (*here, "thread"), "Nobody")
        yield "no number of copies", without(certificate, here)
    yield from changed_events(certificate)


def other_hardware(certificate: Document, program: Program) -> Iterator[Forgery]:
    """Hardware on which the claim is false."""
    told = certificate["options"]["model"]
    for word, value in (("cpu", "sc"), ("cpu", "tso"), ("order", "relaxed"), ("atomics", "glob"), ("ordered_reads", True)):
        if told[word] != value and _is_false(certificate, program, Model(**{**told, word: value})):
            yield f"other {word}", changed(certificate, ("options", "model", word), value)


def other_programs(certificate: Document, program: Program) -> Iterator[tuple[str, Document, Program]]:
    """The certificate made out for a program with a step less, for which the claim is false."""
    model = Model(**certificate["options"]["model"])
    for t, thread in enumerate(program.threads):
        for e, (source, target, step) in enumerate(thread.edges):
            if isinstance(step.op, Poll) or thread.many:
                edges = (*thread.edges[:e], (source, target, replace(step, op=Silent())), *thread.edges[e + 1 :])
                less = replace(thread, edges=edges)
                other = replace(program, source="", threads=(*program.threads[:t], less, *program.threads[t + 1 :]))
                if _is_false(certificate, other, model):
                    forged = changed(certificate, ("input", "sha256"), content_digest(canonical_text(other)))
                    yield "another program", changed(forged, ("input", "kind"), GRAPHS), other


def all_forgeries(certificate: Document, program: Program, rng: Random) -> Iterator[tuple[str, Document, Program]]:
    """Yield what was done, the forged certificate, and the program that it is for then."""
    robust = certificate["claim"]["kind"] == "robust"
    same: list[Forgery] = [*other_hardware(certificate, program)]
    same += (
        [*fewer_markings(certificate, rng), *changed_copies(certificate, rng)] if robust else changed_numbers(certificate)
    )
    same.append(("claim turned round", changed(certificate, ("claim", "kind"), "not-robust" if robust else "robust")))
    same.append(("another digest", changed(certificate, ("input", "sha256"), content_digest("another text"))))
    yield from ((what, forged, program) for what, forged in same)
    yield from other_programs(certificate, program)
    yield "one of each thread", *_of_one(certificate, program)


def _of_one(certificate: Document, program: Program) -> tuple[Document, Program]:
    """The certificate made out for the program with one of each thread."""
    one = replace(program, source="", threads=tuple(replace(t, many=False) for t in program.threads), many_nodes=())
    return changed(certificate, ("input", "sha256"), content_digest(canonical_text(one))), one


def _is_false(certificate: Document, program: Program, model: Model) -> bool:
    try:
        found = by_own_search(program, model, Limits(states=3_000))
    except SizeLimitError:
        return False
    return found in ("robust", "not-robust") and found != certificate["claim"]["kind"]
