"""Forged certificates of nets: proofs with something taken away, and proofs made out for nets of which they are false."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from rdma_robust.certify.document import content_digest
from rdma_robust.petri.net import Net
from rdma_robust.petri.spec.writer import write_spec
from tests.support.certificates import Document, at, changed, without

Forgery = tuple[str, Document]


def weaker_proofs(certificate: Document) -> Iterator[Forgery]:
    """The proof with less in it, or with a number that makes it weaker, one by one."""
    kind = certificate["evidence"]["kind"]
    yield from _WEAKER[kind](certificate)


def _fewer(certificate: Document, *path: str | int) -> Iterator[Document]:
    for i in range(len(at(certificate, ("evidence", *path)))):
        yield without(certificate, ("evidence", *path, i))


def _numbers(certificate: Document, by: int, *path: str | int) -> Iterator[Document]:
    """Change each number of an object by so much."""
    for name, value in at(certificate, ("evidence", *path)).items():
        if value is not None and value + by >= 0:
            yield changed(certificate, ("evidence", *path, name), value + by)


def _downward(certificate: Document) -> Iterator[Forgery]:
    yield from (("a limit left out", each) for each in _fewer(certificate, "limits"))
    yield from (("a number lowered", each) for each in _numbers(certificate, -1, "common"))
    for i in range(len(certificate["evidence"]["limits"])):
        yield from (("a number lowered", each) for each in _numbers(certificate, -1, "limits", i))


def _upward(certificate: Document) -> Iterator[Forgery]:
    yield from (("a minimal marking left out", each) for each in _fewer(certificate, "basis"))
    for i in range(len(certificate["evidence"]["basis"])):
        yield from (("a minimal marking raised", each) for each in _numbers(certificate, 1, "basis", i))
    for i, bound in enumerate(certificate["evidence"]["bounds"]):
        here = ("evidence", "bounds", i, "most")
        yield "a bound lowered", changed(certificate, here, bound["most"] - 1)
    marked = certificate["evidence"]["marked"]
    yield "no marked places", changed(certificate, ("evidence", "marked"), marked[:0] if marked else ["nothing"])


def _traps(certificate: Document) -> Iterator[Forgery]:
    yield from _upward(certificate)
    evidence = certificate["evidence"]
    yield from (("a trap left out", each) for each in _fewer(certificate, "traps"))
    for i in range(len(evidence["traps"])):
        yield f"trap {i} without places", changed(certificate, ("evidence", "traps", i), [])
    for i, bound in enumerate(evidence["bounds"]):
        for j, (_, times) in enumerate(bound["traps"]):
            here = ("evidence", "bounds", i, "traps", j)
            yield "a share left out", without(certificate, here)
            yield "a share of no trap", changed(certificate, here, [len(evidence["traps"]), times])
    yield "no scope", changed(certificate, ("evidence", "scope"), [])


def _linear(certificate: Document) -> Iterator[Forgery]:
    yield from (("weights left out", each) for each in _fewer(certificate, "weights"))
    for i, weights in enumerate(certificate["evidence"]["weights"]):
        if weights:
            yield "no weights", changed(certificate, ("evidence", "weights", i), {})
    yield "more weights", changed(certificate, ("evidence", "weights"), [*certificate["evidence"]["weights"], {}])


def _firing(certificate: Document) -> Iterator[Forgery]:
    yield "no firing left", changed(certificate, ("evidence", "firing"), certificate["evidence"]["firing"][:-1] or [10**6])
    yield "no such target", changed(certificate, ("evidence", "target"), 10**6)
    for name, tokens in certificate["evidence"]["start"].items():
        yield "too few tokens", changed(certificate, ("evidence", "start", name), -tokens)


_WEAKER = {
    "downward": _downward,
    "upward": _upward,
    "upward-with-traps": _traps,
    "linear": _linear,
    "firing-sequence": _firing,
}


def changed_nets(net: Net, rng: Random) -> Iterator[Net]:
    """The net with more tokens at its start, a lower target, a guard or an effect less."""
    places = range(len(net.places))
    for _ in range(3):
        p = rng.choice(places)
        more = net.most[p]
        if more is not None:
            yield replace(net, most=tuple(m if q != p else more + rng.randint(1, 3) for q, m in enumerate(net.most)))
        yield replace(net, most=tuple(m if q != p else None for q, m in enumerate(net.most)))
    if net.targets:
        lower = [tuple((p, n - 1) for p, n in target if n > 1 or rng.random() < 0.5) for target in net.targets]
        yield replace(net, targets=tuple(tuple((p, n) for p, n in target if n) for target in lower))
    for i in rng.sample(range(len(net.transitions)), min(4, len(net.transitions))):
        t = net.transitions[i]
        taken = {p for p, n in t.delta if n < 0}
        free = replace(t, guard=tuple(g for g in t.guard if g[0] in taken))
        full = replace(t, guard=(), delta=tuple((p, n) for p, n in t.delta if n > 0))
        for other in (free, full):
            yield replace(net, transitions=(*net.transitions[:i], other, *net.transitions[i + 1 :]))


def made_out_for(certificate: Document, net: Net) -> tuple[Document, str]:
    """The certificate made out for another net, and the text of that."""
    text = write_spec(net)
    return changed(certificate, ("input", "sha256"), content_digest(text)), text
