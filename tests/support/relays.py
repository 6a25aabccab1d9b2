"""Random nets in the shape of programs that pass messages: control places, registers of which one value holds, channels."""

from __future__ import annotations

from random import Random

from rdma_robust.petri.net import Net
from tests.support.nets import make_net


def random_relay(rng: Random) -> Net:
    """A net of some fifteen places: processes with a control token and a register each, which send and receive values.

    Many rules never fire: their combination of a value and control states never comes together, the last state of both
    for one, as it is entered with a lock only.
    """
    processes, states, values = 2, rng.randint(2, 3), rng.randint(2, 3)
    width = states + values + values
    lock = processes * width
    rules: list[tuple[dict[int, int], dict[int, int]]] = []
    start: list[int | None] = []
    for i in range(processes):
        start += [1, *[0] * (states - 1), 1, *[0] * (values - 1), *[0] * values]
        control, register = i * width, i * width + states
        own, other = register + values, (1 - i) * width + states + values
        last, both = control + states - 1, (1 - i) * width + states - 1
        for _ in range(rng.randint(8, 16)):
            here, there = control + rng.randrange(states), control + rng.randrange(states)
            held, kept = rng.randrange(values), rng.randrange(values)
            guard, delta = {here: 1, register + held: 1}, dict[int, int]()
            if here != there:
                delta |= {here: -1, there: 1}
            if last in delta:
                delta[lock] = -delta[last]
                guard |= {lock: 1} if there == last else {}
            if rng.random() < 0.3:
                guard[both] = 1
            match rng.randrange(4):
                case 0:
                    delta[other + held] = 1
                case 1:
                    guard[own + kept] = 1
                    delta[own + kept] = -1
                    if kept != held:
                        delta |= {register + held: -1, register + kept: 1}
                case 2 if kept != held and rng.random() < 0.5:
                    delta |= {register + held: -1, register + kept: 1}
                case _:
                    pass
            rules.append((guard, delta))
    target = {rng.randrange(states): 1, states + rng.randrange(1, values): 1}
    if rng.random() < 0.5:
        target[width + states + rng.randrange(values)] = 1
    return make_net(lock + 1, rules, [*start, 1], [target])


def random_relay_and_ring(rng: Random) -> Net:
    """A relay beside a ring of three places on which tokens move; two of the relay's rules put a token there.

    The target asks for one token more than there is. If the two rules are dead, no more than two places of the ring tell.
    """
    relay = random_relay(rng)
    ring = range(len(relay.places), len(relay.places) + 3)
    tokens = rng.randint(2, 4)
    rules = [(dict(t.guard), dict(t.delta)) for t in relay.transitions]
    for _, delta in rng.sample(rules, 2):
        delta[rng.choice(ring)] = 1
    rules += [({p: 1}, {p: -1, ring[(i + 1) % 3]: 1}) for i, p in enumerate(ring)]
    targets = [dict(relay.targets[0]), {ring[0]: tokens - 1, ring[1]: 1, ring[2]: 1}]
    return make_net(len(relay.places) + 3, rules, [*relay.most, tokens, 0, 0], targets)
