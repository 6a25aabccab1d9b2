"""Coverability engines on generated net families by size: `python -m bench.coverability [SECONDS]`, and in `make bench`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from rdma_robust.limits import Limits
from rdma_robust.petri.cover import COVER_ENGINES, cover
from rdma_robust.petri.net import Net, NetTransition

SECONDS = 20.0
MEBIBYTES = 4096


class Builder:
    """Collects the rules of a net by the names of places; a name given twice counts twice."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.start: dict[str, int | None] = {}
        self.rules: list[tuple[dict[int, int], dict[int, int]]] = []
        self.targets: list[dict[str, int]] = []

    def place(self, name: str) -> int:
        return self.index.setdefault(name, len(self.index))

    def rule(self, take: list[str], give: list[str], read: tuple[str, ...] = (), weight: tuple[int, int] = (1, 1)) -> None:
        """`take` and `give` tokens, `weight` of them for each mention, where each place of `read` has one."""
        guard: dict[int, int] = {self.place(name): 1 for name in read}
        delta: dict[int, int] = {}
        for name in take:
            p = self.place(name)
            guard[p] = guard.get(p, 0) + weight[0]
            delta[p] = delta.get(p, 0) - weight[0]
        for name in give:
            p = self.place(name)
            delta[p] = delta.get(p, 0) + weight[1]
        self.rules.append((guard, delta))

    def net(self, name: str) -> Net:
        targets = tuple(_vector({self.place(p): k for p, k in t.items()}) for t in self.targets)
        most: list[int | None] = [0] * len(self.index)
        for place, tokens in self.start.items():
            most[self.place(place)] = tokens
        transitions = tuple(NetTransition(f"t{i}", _vector(g), _vector(d)) for i, (g, d) in enumerate(self.rules))
        return Net(name, tuple(self.index), transitions, tuple(k or 0 for k in most), tuple(most), targets)


def _vector(values: dict[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((p, k) for p, k in values.items() if k))


def thread_pool(locks: int) -> Net:
    """Any number of threads, as many kinds as locks; each takes all locks in order. Two in the section: safe."""
    net = Builder()
    net.start["idle"] = None
    for i in range(locks):
        net.start[f"free{i}"] = 1
    for kind in range(locks):
        at = "idle"
        for i in range(locks):
            net.rule([at, f"free{i}"], [f"kind{kind}has{i}"])
            at = f"kind{kind}has{i}"
        net.rule([at], ["idle", *(f"free{i}" for i in range(locks))])
    net.targets = [{f"kind0has{locks - 1}": 1, f"kind1has{locks - 1}": 1}]
    return net.net(f"thread-pool-{locks}")


def boolean_program(bits: int) -> Net:
    """Any number of threads run a loop that flips shared bits one after the other, if the one before is set.

    A thread fails where the last bit is set and the first is not; that can be.
    """
    net = Builder()
    net.start["pc0"] = None
    net.start["s0"] = 1
    for s in range(2**bits):
        for i in range(bits):
            ready = i == 0 or s >> (i - 1) & 1
            if ready:
                net.rule([f"s{s}", f"pc{i}"], [f"s{s ^ 1 << i}", f"pc{(i + 1) % bits}"])
            net.rule([f"pc{i}"], [f"pc{(i + 1) % bits}"], read=(f"s{s}",))
        if s >> (bits - 1) & 1 and not s & 1:
            net.rule([f"s{s}", "pc0"], [f"s{s}", "error"])
    net.targets = [{"error": 2}]
    return net.net(f"boolean-program-{bits}")


def peterson(pairs: int) -> Net:
    """Independent instances of Peterson's algorithm; two threads of some instance in the section: safe."""
    net = Builder()
    for k in range(pairs):
        for i in (0, 1):
            net.start |= {f"{k}n{i}": 1, f"{k}down{i}": 1}
            net.rule([f"{k}n{i}", f"{k}down{i}"], [f"{k}flagged{i}", f"{k}up{i}"])
            for turn in (0, 1):
                net.rule([f"{k}flagged{i}", f"{k}turn{turn}"], [f"{k}waits{i}", f"{k}turn{1 - i}"])
            net.rule([f"{k}waits{i}"], [f"{k}section{i}"], read=(f"{k}down{1 - i}",))
            net.rule([f"{k}waits{i}"], [f"{k}section{i}"], read=(f"{k}turn{i}",))
            net.rule([f"{k}section{i}", f"{k}up{i}"], [f"{k}n{i}", f"{k}down{i}"])
        net.start[f"{k}turn0"] = 1
        net.targets.append({f"{k}section0": 1, f"{k}section1": 1})
    return net.net(f"peterson-{pairs}")


def kanban(cards: int) -> Net:
    """Four cells with that many cards each; asks for one card more than there is: safe."""
    net = Builder()
    for i in range(4):
        net.start[f"cards{i}"] = cards
        net.rule([f"works{i}"], [f"bad{i}"])
        net.rule([f"bad{i}"], [f"works{i}"])
        net.rule([f"works{i}"], [f"done{i}"])
    net.rule(["cards0"], ["works0"])
    net.rule(["done0", "cards1", "cards2"], ["cards0", "works1", "works2"])
    net.rule(["done1", "done2", "cards3"], ["cards1", "cards2", "works3"])
    net.rule(["done3"], ["cards3"])
    net.targets = [{"bad3": cards // 2, "works3": cards - cards // 2 + 1}]
    return net.net(f"kanban-{cards}")


def leader(nodes: int) -> Net:
    """Leader election in a ring by the largest identity, one channel for each link; two leaders: safe."""
    net = Builder()
    for i in range(nodes):
        mine = i * 7919 % nodes if nodes % 7919 else i
        net.start[f"start{i}"] = 1
        net.rule([f"start{i}"], [f"waits{i}", f"link{i}id{mine}"])
        for other in range(nodes):
            message = f"link{(i - 1) % nodes}id{other}"
            if other == mine:
                net.rule([f"waits{i}", message], [f"led{i}", "leader"])
            else:
                net.rule([f"waits{i}", message], [f"waits{i}", *([f"link{i}id{other}"] if other > mine else [])])
    net.targets = [{"leader": 2}]
    return net.net(f"leader-{nodes}")


def doubling(levels: int) -> Net:
    """Each level turns a token into two, level after level; asks for all that can come of one: unsafe, by long runs."""
    net = Builder()
    net.start |= {"control0": 1, "x0": 1}
    for i in range(levels):
        net.rule([f"x{i}"], [f"y{i}", f"y{i}"], read=(f"control{i}",))
        net.rule([f"control{i}"], [f"moving{i}"])
        net.rule([f"y{i}"], [f"x{i + 1}"], read=(f"moving{i}",))
        net.rule([f"moving{i}"], [f"control{i + 1}"])
    net.targets = [{f"x{levels}": 2**levels}]
    return net.net(f"doubling-{levels}")


def exchange(weight: int) -> Net:
    """Counters traded for one less of the next, back and forth; asks for what the first trade loses: unsafe, barely."""
    net = Builder()
    net.start["x0"] = weight**3
    for i in range(3):
        net.rule([f"x{i}"], [f"x{i + 1}"], weight=(weight, weight - 1))
        net.rule([f"x{i + 1}"], [f"x{i}"], weight=(weight, weight - 1))
    net.targets = [{"x3": (weight - 1) ** 3}]
    return net.net(f"exchange-{weight}")


def mailboxes(places: int) -> Net:
    """A long program that mails to 40 boxes and starts 20 workers that wait for mail; one worker done: unsafe."""
    net = Builder()
    net.start["main0"] = 1
    length = places // 40
    for i in range(places // 2):
        net.rule([f"main{i}"], [f"main{i + 1}", *([f"box{i // 5 % 40}"] if i % 5 == 0 else [])])
        if i % 7 == 0:
            net.rule([f"main{i}"], [f"main{i + 1}", f"worker{i // 7 % 20}at0"])
        if i % 11 == 0:
            net.rule([f"main{i}"], [f"main{i * 3 // 4}"])
    for worker in range(20):
        for i in range(length):
            mail = [f"box{(worker + i) % 40}"] if i % 3 == 0 else []
            net.rule([f"worker{worker}at{i}", *mail], [f"worker{worker}at{i + 1}"])
    net.targets = [{f"worker3at{length}": 1, f"main{places // 2}": 1}]
    return net.net(f"mailboxes-{places}")


FAMILIES: dict[Callable[[int], Net], tuple[int, ...]] = {
    thread_pool: (4, 16, 48),
    boolean_program: (3, 6, 9),
    peterson: (1, 8, 64),
    kanban: (4, 40, 400),
    leader: (4, 12, 36),
    doubling: (4, 8, 12),
    exchange: (4, 10, 90),
    mailboxes: (200, 2_000, 20_000),
}


def cell(net: Net, engine: str, seconds: float) -> tuple[str, str]:
    """Return the verdict and the time, or the limit, of one engine on one net."""
    started = time.monotonic()
    result = cover(net, Limits(started + seconds, None, MEBIBYTES), engine)
    took = f"{time.monotonic() - started:.2f}"
    if result.run is not None:
        return "unsafe", took
    return ("safe", took) if result.invariant is not None else ("?", f"({result.cut})")


def report(console: Console, seconds: float) -> None:
    """Print a table of verdicts and seconds: net x engine."""
    table = Table("net", "places", "rules", "verdict", *COVER_ENGINES, title=f"coverability, {seconds:g} s each")
    for family, sizes in FAMILIES.items():
        for size in sizes:
            net = family(size)
            cells = [cell(net, engine, seconds) for engine in COVER_ENGINES]
            verdicts = {verdict for verdict, _ in cells} - {"?"}
            verdict = " and ".join(sorted(verdicts)) or "?"
            table.add_row(net.name, str(len(net.places)), str(len(net.transitions)), verdict, *(time for _, time in cells))
    console.print(table)


if __name__ == "__main__":
    report(Console(width=140), float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)
