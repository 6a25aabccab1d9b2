"""Generated nets in the shapes of the public coverability suites, whose files are not part of this repository.

Threads of Boolean programs with shared and local variables (the C programs of Wahl and Kroening), mutual exclusion for n
processes (mist), routing of messages that carry the state of an automaton (the medical and bug-tracking nets of SOTER's
authors), and a protocol with a long chain of states (bingham).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from bench.coverability import Builder
from rdma_robust.petri.net import Net


def filter_lock(processes: int, broken: bool = False) -> Net:
    """Peterson's filter lock: level by level, waits while another is at the level or above and it is the victim."""
    net = Builder()
    levels = processes - 1
    for i in range(processes):
        net.start[f"at{i}level0"] = 1
        net.start[f"pc{i}level0"] = 1
        for level in range(1, processes):
            for victim in range(processes):
                net.rule(
                    [f"pc{i}level{level - 1}", f"at{i}level{level - 1}", f"victim{level}is{victim}"],
                    [f"checks{i}level{level}other{0}", f"at{i}level{level}", f"victim{level}is{i}"],
                )
            start = f"checks{i}level{level}other"
            for other in range(processes):
                here, there = f"{start}{other}", f"{start}{other + 1}"
                if other == i:
                    net.rule([here], [there])
                    continue
                for low in range(level + (1 if broken else 0)):
                    net.rule([here], [there], read=(f"at{other}level{low}",))
            passed = f"pc{i}level{level}"
            net.rule([f"{start}{processes}"], [passed])
            for other in range(processes):
                for victim in range(processes):
                    if victim != i:
                        net.rule([f"{start}{other}"], [passed], read=(f"victim{level}is{victim}",))
        net.rule([f"pc{i}level{levels}", f"at{i}level{levels}"], [f"pc{i}level0", f"at{i}level0"])
    for level in range(1, processes):
        net.start[f"victim{level}is0"] = 1
    net.targets = [
        {f"pc{i}level{levels}": 1, f"pc{j}level{levels}": 1} for i in range(processes) for j in range(i + 1, processes)
    ]
    return net.net(f"filter-lock-{processes}{'-broken' if broken else ''}")


def one_bit(processes: int, broken: bool = False) -> Net:
    """Lamport's one-bit algorithm: raise the flag, give way to lower numbers, wait for higher ones."""
    net = Builder()
    for i in range(processes):
        net.start[f"idle{i}"] = 1
        net.start[f"down{i}"] = 1
        net.rule([f"idle{i}", f"down{i}"], [f"up{i}", f"asks{i}of0"])
        for j in range(processes):
            here, there = f"asks{i}of{j}", f"asks{i}of{j + 1}"
            if j == i:
                net.rule([here], [there])
            else:
                net.rule([here], [there], read=(f"down{j}",))
            if j < i:
                net.rule([here, f"up{i}"], [f"idle{i}", f"down{i}"], read=(f"up{j}",))
            if broken and j == processes - 1 and j != i:
                net.rule([here], [there])
        net.rule([f"asks{i}of{processes}"], [f"section{i}"])
        net.rule([f"section{i}", f"up{i}"], [f"idle{i}", f"down{i}"])
    net.targets = [{f"section{i}": 1, f"section{j}": 1} for i in range(processes) for j in range(i + 1, processes)]
    return net.net(f"one-bit-{processes}{'-broken' if broken else ''}")


def szymanski(processes: int) -> Net:
    """Szymanski's algorithm with five values of a flag for each process, each test of a flag a step: safe."""
    net = Builder()

    def forall(i: int, name: str, allowed: Callable[[int], set[int]], then: str) -> None:
        for j in range(processes):
            here = f"{name}{i}of{j}"
            there = f"{name}{i}of{j + 1}" if j + 1 < processes else then
            if j == i or not allowed(j):
                net.rule([here], [there])
            for value in sorted(allowed(j)) if j != i else ():
                net.rule([here], [there], read=(f"flag{j}is{value}",))

    def exists(i: int, name: str, value: int, found: str, none: str) -> None:
        for j in range(processes):
            here = f"{name}{i}of{j}"
            there = f"{name}{i}of{j + 1}" if j + 1 < processes else none
            if j == i:
                net.rule([here], [there])
                continue
            for other in range(5):
                net.rule([here], [found if other == value else there], read=(f"flag{j}is{other}",))

    for i in range(processes):
        net.start |= {f"idle{i}": 1, f"flag{i}is0": 1}
        net.rule([f"idle{i}", f"flag{i}is0"], [f"entry{i}of0", f"flag{i}is1"])
        forall(i, "entry", lambda _: {0, 1, 2}, f"door{i}")
        net.rule([f"door{i}", f"flag{i}is1"], [f"looks{i}of0", f"flag{i}is3"])
        exists(i, "looks", 1, f"waits{i}", f"inside{i}")
        net.rule([f"waits{i}", f"flag{i}is3"], [f"room{i}", f"flag{i}is2"])
        for j in range(processes):
            if j != i:
                net.rule([f"room{i}"], [f"inside{i}b"], read=(f"flag{j}is4",))
        net.rule([f"inside{i}", f"flag{i}is3"], [f"lower{i}of0", f"flag{i}is4"])
        net.rule([f"inside{i}b", f"flag{i}is2"], [f"lower{i}of0", f"flag{i}is4"])
        forall(i, "lower", lambda j, i=i: {0, 1} if j < i else set(), f"section{i}")  # type: ignore[misc]
        net.rule([f"section{i}"], [f"leave{i}of0"])
        forall(i, "leave", lambda j, i=i: {0, 1, 4} if j > i else set(), f"out{i}")  # type: ignore[misc]
        net.rule([f"out{i}", f"flag{i}is4"], [f"idle{i}", f"flag{i}is0"])
    net.targets = [{f"section{i}": 1, f"section{j}": 1} for i in range(processes) for j in range(i + 1, processes)]
    return net.net(f"szymanski-{processes}")


def c_program(steps: int, shared: int, local: int, broken: bool, seed: int = 1) -> Net:
    """Any number of threads of one Boolean program: a rule for each step, each state of the `shared` bits (one place
    each) and each state of the `local` bits. A lock protects a read that is compared with a second one; if `broken`, a
    step late in the program writes without the lock.
    """
    rng = Random(seed)
    net = Builder()
    net.start |= {"s0": 1, "l0_0": None}
    inside = range(steps // 2, steps // 2 + 6)
    for pc in range(steps):
        kind = rng.random()
        bit = rng.randrange(1, shared) if shared > 2 else 1
        bit = max(2, bit) if shared > 2 else bit
        own = 1 << rng.randrange(local)
        other = rng.randrange(steps) if rng.random() < 0.2 else pc + 1
        for s in range(2**shared):
            for v in range(2**local):
                after: list[tuple[int, int, int]]
                if pc == inside[0]:
                    after = [] if s & 1 else [(pc + 1, s | 1, v)]
                elif pc == inside[1]:
                    after = [(pc + 1, s, v & ~1 | (s >> 1 & 1))]
                elif pc == inside[3]:
                    after = [(-1 if v & 1 != s >> 1 & 1 else pc + 1, s, v)]
                elif pc == inside[4]:
                    after = [(pc + 1, s ^ 2, v)]
                elif pc == inside[5]:
                    after = [(pc + 1, s & ~1, v)]
                elif broken and pc == steps - 2:
                    after = [(pc + 1, s ^ 2, v)]
                elif pc in inside or kind < 0.3:
                    after = [(pc + 1, s, v ^ own if pc not in inside and own > 1 else v)]
                elif kind < 0.5 and shared > 2:
                    after = [(pc + 1, s & ~(1 << bit), v), (pc + 1, s | 1 << bit, v)]
                elif kind < 0.7:
                    after = [(pc + 1 if s >> bit & 1 else other, s, v)]
                elif kind < 0.85:
                    after = [(pc + 1, s, v | own if s >> bit & 1 else v & ~own)]
                else:
                    after = [(other if other not in inside else pc + 1, s, v), (pc + 1, s, v)]
                for then, to, values in after:
                    if then in inside and pc not in inside and then != inside[0]:
                        then = inside[0]
                    target = "error" if then < 0 else f"l{then % steps}_{values}"
                    net.rule([f"l{pc}_{v}", f"s{s}"], [target, f"s{to}"])
    net.targets = [{"error": 1}]
    return net.net(f"c-program-{steps}-{shared}-{local}{'-broken' if broken else ''}")


def routing(nodes: int, kinds: int, states: int, seed: int = 1) -> Net:
    """Nodes with a register each that send it over channels and overwrite it by what they receive; every value carries
    the state of an automaton that follows it. Asks for a register in the last state, reached by passing all nodes.
    """
    rng = Random(seed)
    net = Builder()
    values = [(k, q) for k in range(kinds) for q in range(states)]
    for i in range(nodes):
        net.start |= {f"l{i}": 1, f"x{i}_0_0": 1}
        for k, q in values:
            step = min(q + 1, states - 2) if q == i % (states - 1) else q if rng.random() < 0.5 else max(0, q - 1)
            net.rule([f"l{i}"], [f"m{i}", f"ch{i}_{k}_{step}"], read=(f"x{i}_{k}_{q}",))
            for k2, q2 in values:
                if (k, q) == (k2, q2):
                    net.rule([f"m{i}", f"ch{(i - 1) % nodes}_{k}_{q}"], [f"l{i}"], read=(f"x{i}_{k}_{q}",))
                else:
                    net.rule([f"m{i}", f"x{i}_{k}_{q}", f"ch{(i - 1) % nodes}_{k2}_{q2}"], [f"l{i}", f"x{i}_{k2}_{q2}"])
            net.rule([f"l{i}", f"x{i}_{k}_{q}"], [f"l{i}", f"x{i}_{(k + 1) % kinds}_{q}"])
    net.targets = [{f"x0_{kinds - 1}_{states - 2}": 1, f"x{nodes - 1}_0_{states - 2}": 1}]
    return net.net(f"routing-{nodes}-{kinds}-{states}")


def provenance(processes: int, values: int, states: int, seed: int) -> Net:
    """Processes that test, change, send and receive one register each over channels without order; a value carries the state
    of an automaton that follows where it has been. Asks for one value with one history in the first register.
    """
    rng = Random(seed)
    net = Builder()
    data = [(v, q) for v in range(values) for q in range(states)]
    steps = [[rng.choice([q, q, rng.randrange(states)]) for q in range(states)] for _ in range(processes)]
    for i in range(processes):
        net.start |= {f"l{i}_0": 1, f"x{i}_0_{rng.randrange(states)}": 1}
        for v, q in data:
            for w, r in data:
                if (v, q) == (w, r):
                    net.rule([f"l{i}_0", f"ch{i}_{w}_{r}"], [f"l{i}_1"], read=(f"x{i}_{v}_{q}",))
                else:
                    net.rule([f"l{i}_0", f"x{i}_{v}_{q}", f"ch{i}_{w}_{r}"], [f"l{i}_1", f"x{i}_{w}_{r}"])
        # From 1 on one of four branches for some of the values each; a branch changes the value and sends it.
        for branch in range(2, 6):
            allowed = set(rng.sample(range(values), (values + 1) // 2))
            change, goal = rng.randrange(values), rng.randrange(processes)
            for v, q in data:
                if v in allowed:
                    net.rule([f"l{i}_1"], [f"l{i}_{branch}"], read=(f"x{i}_{v}_{q}",))
                if branch % 2 and v != change:
                    net.rule([f"l{i}_{branch}", f"x{i}_{v}_{q}"], [f"l{i}_{branch}b", f"x{i}_{change}_{q}"])
                else:
                    net.rule([f"l{i}_{branch}"], [f"l{i}_{branch}b"], read=(f"x{i}_{v}_{q}",))
                sent = f"ch{goal}_{v}_{steps[i][q]}"
                net.rule([f"l{i}_{branch}b"], [f"l{i}_0", sent], read=(f"x{i}_{v}_{q}",))
    net.rule(["l0_0"], ["l0_1"])
    net.targets = [{f"x0_{rng.randrange(values)}_{rng.randrange(states)}": 1}]
    return net.net(f"provenance-{processes}-{values}-{states}-{seed}")


def chain(length: int) -> Net:
    """Any number of clients, one owner; a client grows old step by step and may be called back. Two of the oldest: safe."""
    net = Builder()
    net.start |= {"x0": None, "free": 1}
    net.rule(["x0", "free"], ["owned", "x1"])
    net.rule(["x1", "free"], ["owned", "x0"])
    for i in range(1, length + 1):
        net.rule([f"x{i}", "owned"], ["x0", "free"])
        if i < length:
            net.rule([f"x{i}"], [f"x{i + 1}"])
    net.targets = [{f"x{length}": 2}]
    return net.net(f"chain-{length}")


LOOKALIKES: tuple[tuple[Callable[..., Net], tuple[tuple[object, ...], ...]], ...] = (
    (filter_lock, ((2,), (3,), (4,), (5,), (3, True), (4, True), (5, True))),
    (one_bit, ((2,), (4,), (6,), (8,), (4, True), (6, True), (8, True))),
    (szymanski, ((2,), (3,), (4,))),
    (
        c_program,
        (
            (20, 3, 2, False),
            (20, 3, 2, True),
            (60, 4, 2, False),
            (60, 4, 2, True),
            (100, 6, 2, False),
            (100, 6, 2, True),
            (200, 5, 2, True),
            (200, 5, 2, False),
        ),
    ),
    (routing, ((3, 2, 3), (5, 4, 5), (7, 4, 6))),
    (provenance, ((3, 4, 4, 1), (5, 8, 9, 6), (5, 8, 9, 7))),
    (chain, ((25,), (150,), (250,), (1000,))),
)
