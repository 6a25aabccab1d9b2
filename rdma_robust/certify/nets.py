"""SAFE and UNSAFE certificates: invariants and firing sequences of a Petri net, in exact integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from rdma_robust.certify.document import (
    InvalidCertificate,
    integer,
    json_array,
    json_members,
    json_word,
    mapping,
    natural,
    reject,
)
from rdma_robust.certify.firing import effect_of, read_firings
from rdma_robust.petri.net import Net, NetTransition, Vector

Number = TypeVar("Number")

Sparse = Mapping[int, int]
"""Numbers by place; 0 where there is none."""

Limit = Mapping[int, int | None]
"""An omega-marking by place: None is omega, any number; 0 where there is none."""


def check_unsafe(net: Net, evidence: object) -> str:
    """Check that the run starts in an initial marking, can be fired and covers its target. Raises InvalidCertificate."""
    found = json_members(evidence, "`evidence`", ("kind", "start", "firing", "target"))
    read = _Reader(net)
    start = read.vector(found["start"], "`evidence.start`", natural)
    target = natural(found["target"], "`evidence.target`")
    if target >= len(net.targets):
        reject(f"`evidence.target` is {target}, and the net has {len(net.targets)} targets")
    for p, name in enumerate(net.places):
        most = net.most[p]
        if start.get(p, 0) < net.least[p] or (most is not None and start.get(p, 0) > most):
            reject(f"the run does not start in an initial marking: {start.get(p, 0)} tokens on {name}")
    effect = effect_of(read_firings(found["firing"], "`evidence.firing`", len(net.transitions)), net.transitions)
    for p, tokens in effect.least.items():
        if start.get(p, 0) < tokens:
            reject(f"the run cannot be fired: it needs {tokens} tokens on {net.places[p]} at its start")
    for p, tokens in net.targets[target]:
        if start.get(p, 0) + effect.change.get(p, 0) < tokens:
            reject(f"the run does not cover target {target}: too few tokens on {net.places[p]} at its end")
    return "a firing sequence"


def check_downward(net: Net, evidence: object) -> str:
    """The union of the sets below the limits; as omega-markings are ideals, each must fit below a single limit."""
    found = json_members(evidence, "`evidence`", ("kind", "common", "limits"))
    read = _Reader(net)
    common = read.vector(found["common"], "`evidence.common`", _limit)
    own = json_array(found["limits"], "`evidence.limits`", lambda item, at: read.vector(item, at, _limit))
    if any(common.keys() & limit.keys() for limit in own):
        reject("`evidence.common` names a place that a limit names as well")
    # Where every limit is omega, nothing is asked of a marking.
    free = {p for p, value in common.items() if value is None}
    limits = [{p: v for p, v in (common | limit).items() if p not in free and v != 0} for limit in own]
    above = _Above(limits)
    initial: Limit = {p: most for p, most in enumerate(net.most) if most != 0 and p not in free}
    if not above.covers(initial):
        reject("the invariant does not contain every initial marking")
    targets = [[(p, n) for p, n in target if p not in free] for target in net.targets]
    guards = _Below([{p: n for p, n in t.guard if p not in free} for t in net.transitions])
    for limit in limits:
        for i, target in enumerate(targets):
            if all(_at_most(n, limit.get(p, 0)) for p, n in target):
                reject(f"the invariant contains a marking that covers target {i}")
        for i in guards.candidates(limit):
            transition = net.transitions[i]
            if any(p not in free and not _at_most(n, limit.get(p, 0)) for p, n in transition.guard):
                continue
            after = dict(limit)
            for p, n in transition.delta:
                value = limit.get(p, 0)
                if p not in free and value is not None:
                    after[p] = value + n
            if not above.covers(after):
                reject(f"the invariant is not inductive: {transition.name} leads out of it")
    return f"a downward-closed invariant of {len(limits)} omega-markings"


def check_upward(net: Net, evidence: object) -> str:
    """The markings outside the upward closure of the basis that keep the bounds and are 0 outside the marked places.

    Because weights are not negative, a marking that exceeds a bound has no marking above it that keeps it.
    """
    found = json_members(evidence, "`evidence`", ("kind", "marked", "basis", "bounds"))
    read = _Reader(net)
    marked = _check_marked(net, read.places(found["marked"], "`evidence.marked`"))
    bounds = json_array(found["bounds"], "`evidence.bounds`", lambda item, at: _bound(read, item, at))
    for weights, most in bounds:
        _check_never_increased(net, marked, weights)
        _check_initially(net, weights, most)
    return _check_never_entered(net, marked, bounds, read.basis(found["basis"]))


def check_traps(net: Net, evidence: object) -> str:
    """As `upward`, about the net restricted to a scope of places, with bounds that rest on traps as well.

    Forgetting all other places only adds runs. A transition that then adds to no place only makes less enabled and less
    covered, so what can be covered can be covered without it. A trap keeps a token once it has one; so if the sum with the
    weights, and `times` for each place of each named trap, never increases, the weights alone have at most what the whole
    sum has initially, less one token of each trap, `times` each.
    """
    found = json_members(evidence, "`evidence`", ("kind", "marked", "basis", "scope", "traps", "bounds"))
    read = _Reader(net)
    marked = _check_marked(net, read.places(found["marked"], "`evidence.marked`"))
    scope = read.places(found["scope"], "`evidence.scope`")
    part = _restricted(net, marked, scope)
    read = _Reader(net, scope)
    traps = json_array(found["traps"], "`evidence.traps`", read.places)
    for i, trap in enumerate(traps):
        if all(most == 0 for p, most in enumerate(net.most) if p in trap):
            reject(f"trap {i} is not marked initially")
        for t in part.transitions:
            if any(n < 0 and p in trap for p, n in t.delta) and not _leaves(t, trap):
                reject(f"trap {i} is none: {t.name} may empty it")
    bounds = []
    for weights, most, shares in json_array(
        found["bounds"], "`evidence.bounds`", lambda item, at: _trap_bound(read, item, at)
    ):
        total = dict(weights)
        for number, times in shares:
            if number >= len(traps):
                reject(f"`evidence.bounds` names trap {number}, and there are {len(traps)}")
            for p in traps[number]:
                total[p] = total.get(p, 0) + times
        _check_never_increased(part, marked, total)
        _check_initially(net, total, most + sum(times for _, times in shares))
        bounds.append((weights, most))
    return _check_never_entered(part, marked, bounds, read.basis(found["basis"]))


def _restricted(net: Net, marked: frozenset[int], scope: frozenset[int]) -> Net:
    """The net of which nothing but the places of `scope` is known, without transitions that never fire or never help."""

    def known(vector: Vector) -> Vector:
        return tuple((p, n) for p, n in vector if p in scope)

    transitions = tuple(
        replace(t, guard=known(t.guard), delta=known(t.delta))
        for t in net.transitions
        if all(p in marked for p, _ in t.guard) and any(n > 0 and p in scope for p, n in t.delta)
    )
    targets = tuple(target if any(p not in marked for p, _ in target) else known(target) for target in net.targets)
    return replace(net, transitions=transitions, targets=targets)


def _leaves(transition: NetTransition, trap: frozenset[int]) -> bool:
    """Whether some place of `trap` has a token after the transition whatever it had before."""
    after = Counter(dict(transition.guard))
    after.update(dict(transition.delta))
    return any(n > 0 and p in trap for p, n in after.items())


def _check_never_entered(
    net: Net, marked: frozenset[int], bounds: Sequence[tuple[Sparse, int]], basis: Sequence[Sparse]
) -> str:
    below = _Below(basis)

    def excluded(marking: Sparse) -> bool:
        return (
            any(n > 0 and p not in marked for p, n in marking.items())
            or any(sum(w * marking.get(p, 0) for p, w in weights.items()) > most for weights, most in bounds)
            or any(all(marking.get(p, 0) >= n for p, n in basis[i].items()) for i in below.candidates(marking))
        )

    for i, target in enumerate(net.targets):
        if not excluded(dict(target)):
            reject(f"the invariant contains a marking that covers target {i}")
    producers: dict[int, list[int]] = {}
    for i, t in enumerate(net.transitions):
        for p, n in t.delta:
            if n > 0 and all(q in marked for q, _ in t.guard):
                producers.setdefault(p, []).append(i)
    for b in basis:
        if all(n == 0 or _at_most(n, net.most[p]) for p, n in b.items()):
            reject("the invariant does not contain every initial marking")
        # A transition that adds nothing to the places of b needs at least b to reach b.
        for i in sorted({i for p in b for i in producers.get(p, ())}):
            before = dict(b)
            for p, n in net.transitions[i].delta:
                before[p] = before.get(p, 0) - n
            for p, n in net.transitions[i].guard:
                before[p] = max(before.get(p, 0), n)
            if not excluded({p: n for p, n in before.items() if n > 0}):
                reject(f"the invariant is not inductive: {net.transitions[i].name} leads out of it")
    return f"an upward-closed set of {len(basis)} minimal markings that is never entered"


def check_linear(net: Net, evidence: object) -> str:
    """For each target a weighted sum that no transition increases, larger in the target than in any initial marking."""
    found = json_members(evidence, "`evidence`", ("kind", "marked", "weights"))
    read = _Reader(net)
    marked = _check_marked(net, read.places(found["marked"], "`evidence.marked`"))
    weights = json_array(found["weights"], "`evidence.weights`", lambda item, at: read.vector(item, at, natural))
    if len(weights) != len(net.targets):
        reject(f"`evidence.weights` has {len(weights)} entries, and the net has {len(net.targets)} targets")
    for i, (target, of) in enumerate(zip(net.targets, weights, strict=True)):
        if all(p in marked for p, _ in target):
            _check_never_increased(net, marked, of)
            top = _top(net, of)
            if top is None or sum(of.get(p, 0) * n for p, n in target) <= top:
                reject(f"the inequality for target {i} does not exclude it")
    return f"{len(weights)} linear inequalities"


def check_staged(net: Net, evidence: object) -> str:
    """Cones that are never entered, and an invariant of the net without what is above one of them.

    No initial marking is above a cone, and each predecessor of a cone by any rule is above one, so no reachable marking is
    above one. A rule whose guard is above a cone never fires, and a target above one is never covered.
    """
    found = json_members(evidence, "`evidence`", ("kind", "marked", "never", "rest"))
    read = _Reader(net)
    marked = _check_marked(net, read.places(found["marked"], "`evidence.marked`"))
    never = read.basis(found["never"], "`evidence.never`")
    _check_never_entered(replace(net, targets=()), marked, (), never)
    below = _Below(never)

    def dead(vector: Vector) -> bool:
        needed = dict(vector)
        return any(all(needed.get(p, 0) >= n for p, n in never[i].items()) for i in below.candidates(needed))

    transitions = tuple(t for t in net.transitions if not dead(t.guard))
    left = replace(net, transitions=transitions, targets=tuple(target for target in net.targets if not dead(target)))
    kind = json_word(mapping(found["rest"], "`evidence.rest`").get("kind"), "`evidence.rest.kind`", tuple(INVARIANTS))
    try:
        proof = INVARIANTS[kind](left, found["rest"])
    except InvalidCertificate as error:
        reject(f"in the second stage, which stands in `evidence.rest`: {error}")
    return f"{len(never)} minimal markings that are never entered, and for the rest {proof}"


INVARIANTS: Final[Mapping[str, Callable[[Net, object], str]]] = {
    "downward": check_downward,
    "upward": check_upward,
    "upward-with-traps": check_traps,
    "linear": check_linear,
}
"""The kinds of evidence for SAFE in one stage, and what checks them."""


def _check_marked(net: Net, marked: frozenset[int]) -> frozenset[int]:
    """Check that a place outside `marked` never holds a token: none does initially and no transition can put one there."""
    for p, most in enumerate(net.most):
        if most != 0 and p not in marked:
            reject(f"the place {net.places[p]} may be marked initially and is not among `evidence.marked`")
    for t in net.transitions:
        if all(p in marked for p, _ in t.guard) and any(n > 0 and p not in marked for p, n in t.delta):
            reject(f"{t.name} may fire and marks a place that is not among `evidence.marked`")
    return marked


def _check_never_increased(net: Net, marked: frozenset[int], weights: Sparse) -> None:
    for t in net.transitions:
        if sum(weights.get(p, 0) * n for p, n in t.delta) > 0 and all(p in marked for p, _ in t.guard):
            reject(f"{t.name} increases a weighted sum that must not increase")


def _check_initially(net: Net, weights: Sparse, most: int) -> None:
    top = _top(net, weights)
    if top is None or top > most:
        reject("an initial marking exceeds a bound of the invariant")


def _top(net: Net, weights: Sparse) -> int | None:
    """The largest weighted sum of an initial marking, None if there is none; weights are not negative."""
    total = 0
    for p, w in weights.items():
        most = net.most[p]
        if w and most is None:
            return None
        total += w * (most or 0)
    return total


def _bound(read: _Reader, value: object, where: str) -> tuple[Sparse, int]:
    item = json_members(value, where, ("weights", "most"))
    return read.vector(item["weights"], f"{where}.weights", natural), integer(item["most"], f"{where}.most")


def _trap_bound(read: _Reader, value: object, where: str) -> tuple[Sparse, int, list[tuple[int, int]]]:
    item = json_members(value, where, ("weights", "most", "traps"))

    def share(pair: object, at: str) -> tuple[int, int]:
        numbers = json_array(pair, at, natural)
        return (numbers[0], numbers[1]) if len(numbers) == 2 else reject(f"{at} has {len(numbers)} numbers, not 2")

    weights = read.vector(item["weights"], f"{where}.weights", natural)
    return weights, integer(item["most"], f"{where}.most"), json_array(item["traps"], f"{where}.traps", share)


def _limit(value: object, where: str) -> int | None:
    return None if value is None else natural(value, where)


def _at_most(small: int | None, large: int | None) -> bool:
    return large is None or (small is not None and small <= large)


class _Reader:
    """Reads what is given by the names of places, those of `scope` only if it is given."""

    def __init__(self, net: Net, scope: frozenset[int] | None = None) -> None:
        self._place = {name: p for p, name in enumerate(net.places) if scope is None or p in scope}

    def vector(self, value: object, where: str, number: Callable[[object, str], Number]) -> dict[int, Number]:
        return {self._known(name, where): number(n, f"{where}[{name!r}]") for name, n in mapping(value, where).items()}

    def places(self, value: object, where: str) -> frozenset[int]:
        return frozenset(json_array(value, where, self._known))

    def basis(self, value: object, where: str = "`evidence.basis`") -> list[Sparse]:
        rows = json_array(value, where, lambda item, at: self.vector(item, at, natural))
        return [{p: n for p, n in row.items() if n} for row in rows]

    def _known(self, name: object, where: str) -> int:
        place = self._place.get(name) if isinstance(name, str) else None
        return reject(f"{where}: there is no place {name!r:.60}") if place is None else place


class _Below:
    """Vectors, of which those that may lie below a marking are found by one of the places that each of them needs."""

    def __init__(self, vectors: Sequence[Sparse]) -> None:
        uses = Counter(p for vector in vectors for p in vector)
        self._by_place: dict[int | None, list[int]] = {}
        for i, vector in enumerate(vectors):
            rarest = min(vector, key=lambda p: (uses[p], p), default=None)
            self._by_place.setdefault(rarest, []).append(i)

    def candidates(self, marking: Limit) -> Iterator[int]:
        """Yield the numbers of the vectors that need nothing, or a place that `marking` names."""
        for place in (None, *marking):
            yield from self._by_place.get(place, ())


class _Above:
    """Omega-markings, of which those that may lie above a marking are found by one of its places.

    No limit mentions a place with no token. In a list of reachable markings most that is looked for
    is there itself.
    """

    def __init__(self, limits: Sequence[Limit]) -> None:
        self._limits = limits
        self._exact = {frozenset(limit.items()) for limit in limits}
        self._by_place: dict[int, list[Limit]] = {}
        for limit in limits:
            for p in limit:
                self._by_place.setdefault(p, []).append(limit)

    def covers(self, marking: Limit) -> bool:
        """Return whether one of the limits is at least `marking`."""
        needs = [(p, n) for p, n in marking.items() if n != 0]
        if frozenset(needs) in self._exact:
            return True
        possible = min((self._by_place.get(p, ()) for p, _ in needs), key=len, default=self._limits)
        return any(all(_at_most(n, limit.get(p, 0)) for p, n in needs) for limit in possible)
