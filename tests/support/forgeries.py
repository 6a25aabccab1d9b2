"""Forged certificates: true ones with something changed, so that they prove nothing any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from rdma_robust.certify.document import content_digest
from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from tests.support.certificates import Document, changed, document, without

Forgery = tuple[str, Document]
"""What was done, and the document."""

LISTED = (
    *("beta", "cpu_in_beta", "forced_polls", "overtaken", "read_in_beta", "written_in_beta", "poisoned"),
    *("stores_in_beta", "forwarding", "atomics_in_beta", "awaited", "under_way", "settled", "on_words"),
)
"""Members of marks that are lists."""

_STATEMENT = re.compile(r"\b(poll|rfence|put|get|await|assume|mfence|send|rpoll)\b[^;}\n]*")


def weaker_invariants(certificate: Document, rng: Random, each: int = 3) -> Iterator[Forgery]:
    """States that are missing, one by one, by class of pivots, or all with a pivot; too few completions; cells left out."""
    states, marks = certificate["evidence"]["states"], certificate["evidence"]["marks"]
    for row in rng.sample(range(len(states)), min(each, len(states))):
        yield "a state left out", without(certificate, ("evidence", "states", row))
    for pivot in {str(mark["pivot"]): mark["pivot"] for mark in marks}.values():
        kept = [state for state in states if state[2] is None or marks[state[2]]["pivot"] != pivot]
        yield "a class left out", changed(certificate, ("evidence", "states"), kept)
    if marks:
        kept = [state for state in states if state[2] is None]
        yield "all pivots left out", changed(certificate, ("evidence", "states"), kept)
    yield "all states left out", changed(certificate, ("evidence", "states"), [])
    limits = [(row, i) for row, state in enumerate(states) for i, limit in enumerate(state[3]) if limit]
    for row, i in rng.sample(limits, min(each, len(limits))):
        yield "a limit lowered", changed(certificate, ("evidence", "states", row, 3, i), states[row][3][i] - 1)
    for i in range(len(certificate["evidence"]["cells"])):
        if len({state[1][i] for state in states}) > 1:
            less = without(certificate, ("evidence", "cells", i))
            less["evidence"]["states"] = [[at, [*v[:i], *v[i + 1 :]], *rest] for at, v, *rest in states]
            yield "a cell left out", less


def changed_states(certificate: Document, rng: Random, each: int = 3) -> Iterator[Forgery]:
    """Threads elsewhere, other values, other marks, in a state or in what states name."""
    evidence = certificate["evidence"]
    for row in rng.sample(range(len(evidence["states"])), min(each, len(evidence["states"]))):
        state = evidence["states"][row]
        part = rng.choice([0, 1]) if state[1] else 0
        i = rng.randrange(len(state[part]))
        yield (
            "a state changed",
            changed(certificate, ("evidence", "states", row, part, i), state[part][i] + rng.choice((1, -1))),
        )
    for t, thread in enumerate(evidence["threads"]):
        i = rng.randrange(len(thread["states"]))
        here = ("evidence", "threads", t, "states", i, 0)
        yield "a point changed", changed(certificate, here, thread["states"][i][0] + rng.choice((1, -1)))
    for i in rng.sample(range(len(evidence["marks"])), min(each, len(evidence["marks"]))):
        mark, here = evidence["marks"][i], ("evidence", "marks", i)
        yield "closed changed", changed(certificate, (*here, "closed"), not mark["closed"])
        other = "read" if mark["pivot"]["access"] == "write" else "write"
        yield "pivot changed", changed(certificate, (*here, "pivot", "access"), other)
        for member in LISTED:
            if mark.get(member):
                yield f"{member} forgotten", changed(certificate, (*here, member), mark[member][1:])
        for member in ("half", "split"):
            if mark.get(member):
                yield f"{member} forgotten", changed(certificate, (*here, member), False)
    yield from _changed_mail(certificate, rng, each)


def _changed_mail(certificate: Document, rng: Random, each: int) -> Iterator[Forgery]:
    """Buffers and messages that are lost, or are said to be in the other part."""
    mail = certificate["evidence"].get("mail", [])
    for i in rng.sample(range(len(mail)), min(each, len(mail))):
        for c, channel in enumerate(mail[i]):
            for member in ("posted", "arrived"):
                here = ("evidence", "mail", i, c, member)
                if channel[member]:
                    yield f"{member} lost", changed(certificate, here, channel[member][1:])
                    yield f"{member} in the other part", changed(certificate, (*here, 0, 1), not channel[member][0][1])


def changed_events(certificate: Document) -> Iterator[Forgery]:
    """One thing about an event of a trace changed, for every event."""
    for i, event in enumerate(certificate["evidence"]["events"]):
        for name in ("thread", "position", "line", "type", "remote", "cell", "read", "written"):
            old = event[name]
            for new in ("A.nothing", "nlW", "P", 0, 1, 77, None):
                if new != old or type(new) is not type(old):
                    yield f"{name} changed", changed(certificate, ("evidence", "events", i, name), new)
        if "completion" in event:
            for name in ("peer", "buffer", "completion"):
                for new in (*{other["thread"] for other in certificate["evidence"]["events"]}, "none", "signaled", None):
                    if new != event[name]:
                        yield f"{name} changed", changed(certificate, ("evidence", "events", i, name), new)
        if event["reads_from"] is not None:
            yield "reads from nothing", changed(certificate, ("evidence", "events", i, "reads_from"), None)
            yield "reads from itself", changed(certificate, ("evidence", "events", i, "reads_from"), i)
    yield "no events", changed(certificate, ("evidence", "events"), [])


def changed_envelopes(certificate: Document) -> Iterator[Forgery]:
    """Another claim, another kind of evidence, another model, another input."""
    claim = certificate["claim"]["kind"]
    yield "claim turned round", changed(certificate, ("claim", "kind"), "robust" if claim == "not-robust" else "not-robust")
    yield "claim about a net", changed(certificate, ("claim", "kind"), "safe")
    yield "kind of evidence", changed(certificate, ("evidence", "kind"), "trace" if claim == "robust" else "pivot-invariant")
    for word in ("network", "cpu", "atomics", "order"):
        yield f"another {word}", changed(certificate, ("options", "model", word), "nobody")
    yield "no model", without(certificate, ("options", "model"))
    yield "no text", changed(certificate, ("input", "kind"), "flow-graphs")
    yield "a net", changed(certificate, ("input", "kind"), "spec")
    yield "another digest", changed(certificate, ("input", "sha256"), content_digest("another text"))


def other_options(certificate: Document, text: str) -> Iterator[Forgery]:
    """Hardware on which the claim is false."""
    program, told = load_program(text, "program.rdma"), certificate["options"]["model"]
    for word, values in (
        ("ordered_reads", (False, True)),
        ("cpu", ("sc", "tso")),
        ("atomics", ("hca", "glob")),
        ("order", ("default", "multipath", "relaxed", "none", "accumulate")),
    ):
        for value in values:
            other = Model(**{**told, word: value})
            verdict = decide(program, CheckOptions(hardware=other, max_states=20_000)).verdict.value
            if verdict in ("robust", "not-robust") and verdict != certificate["claim"]["kind"]:
                what = "other order of reads" if word == "ordered_reads" else f"other {word}"
                yield what, changed(certificate, ("options", "model", word), value)


def swapped_programs(certificate: Document, text: str, rng: Random, each: int = 4) -> Iterator[tuple[str, Document, str]]:
    """The certificate made out for a program with one statement less, for which the claim is false, and its text."""
    found = [m.span() for m in _STATEMENT.finditer(text)]
    for start, end in rng.sample(found, min(each, len(found))):
        other = f"{text[:start]}skip{text[end:]}"
        try:
            program = load_program(other, "program.rdma")
        except ProgramError:
            continue
        model = Model(**certificate["options"]["model"])
        outcome = decide(program, CheckOptions(hardware=model, max_states=20_000)).verdict.value
        if outcome in ("robust", "not-robust") and outcome != certificate["claim"]["kind"]:
            yield "another program", changed(certificate, ("input", "sha256"), content_digest(other)), other


def all_forgeries(data: bytes, text: str, rng: Random) -> Iterator[tuple[str, bytes | Document, str]]:
    """Yield what was done to the certificate in `data`, which is about `text`, the result, and the text it is for then."""
    certificate = document(data)
    same: list[Forgery] = [*changed_envelopes(certificate), *other_options(certificate, text)]
    if certificate["claim"]["kind"] == "robust":
        same += [*weaker_invariants(certificate, rng), *changed_states(certificate, rng)]
    else:
        same += changed_events(certificate)
    yield from ((what, forged, text) for what, forged in same)
    yield from swapped_programs(certificate, text, rng)
    yield "another text", certificate, text + "\n"
    yield from (("cut short", data[: rng.randrange(len(data))], text) for _ in range(3))
    yield "cut short", data[:-3], text
