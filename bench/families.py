"""Generated programs with a size parameter: the scaling families and the looping algorithms, all meant to be robust."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final


def ring_exchange(threads: int) -> str:
    """Everybody mails to the right, flushes, and looks into the own box (litmus: scale-ring-*-flushed).

    The assertion makes what is read matter to a model checker; so do those below.
    """
    return _program(
        f"ring-exchange-{threads}",
        (f"node N{i} {{ mail = 0, scrap = 0 }}" for i in range(threads)),
        *(
            _thread(
                f"T{i}",
                f"N{i}",
                "reg seen",
                f"put N{right}.mail = 1",
                f"get scrap = N{right}.mail",
                f"poll N{right}",
                f"poll N{right}",
                "seen = mail",
                "assert seen <= 1",
            )
            for i in range(threads)
            for right in [(i + 1) % threads]
        ),
    )


def slots(count: int) -> str:
    """A producer fills ring slots from one staging word, each put polled before the word is reused."""
    fill = (s for i in range(count) for s in (f"msg = {i + 1}", f"put B.ring[{i}] = msg", "poll B"))
    return _program(
        f"slots-{count}",
        ("node A { msg = 0 }", f"node B {{ ring[{count}] = 0, tail = 0 }}"),
        _thread("Producer", "A", *fill, f"put B.tail = {count}"),
        _thread(
            "Consumer",
            "B",
            "reg first, last",
            f"await tail == {count}",
            "first = ring[0]",
            f"last = ring[{count - 1}]",
            f"assert first == 1 && last == {count}",
        ),
    )


def rounds(count: int) -> str:
    """Ping-pong with one staging word per side."""
    ping = (s for i in range(1, count + 1) for s in (f"s = {i}", "put B.inbox = s", f"await inbox >= {i}"))
    pong = (s for i in range(1, count + 1) for s in (f"await inbox >= {i}", f"s = {i}", "put A.inbox = s"))
    return _program(
        f"rounds-{count}",
        (f"node {n} {{ s = 0, inbox = 0 }}" for n in "AB"),
        _thread("Ping", "A", *ping),
        _thread("Pong", "B", *pong),
    )


def polls(count: int) -> str:
    """Send one word so many times, poll as often, then overwrite it."""
    return _program(
        f"polls-{count}",
        ("node A { x = 1 }", "node B { y = 0 }"),
        _thread("T1", "A", *["put B.y = x"] * count, *["poll B"] * count, "x = 2"),
    )


def lock_server(clients: int) -> str:
    """Clients ask an agent each, agents compete by compare-and-swap, update and release come in one message; forever."""
    numbers = range(clients)
    agents = (
        _thread(
            f"Agent{i}",
            "S",
            "reg old",
            "loop {",
            f"  await req[{i}] == 1",
            f"  req[{i}] = 0",
            "  old = 1",
            "  while old != 0 { old = cas(lock, 0, 1) }",
            f"  put C{i}.grant = 1",
            f"  await rel[{i}] == 1",
            f"  assert data == {i}",
            f"  rel[{i}] = 0",
            "  lock = 0",
            "}",
        )
        for i in numbers
    )
    users = (
        _thread(
            f"Client{i}",
            f"C{i}",
            "loop {",
            f"  put S.req[{i}] = 1",
            "  await grant == 1",
            "  grant = 0",
            f"  put S.data = {i}",
            f"  put S.rel[{i}] = 1",
            "}",
        )
        for i in numbers
    )
    server = f"node S {{ lock = 0, req[{clients}] = 0, rel[{clients}] = 0, data = 0 }}"
    return _program(f"lock-server-{clients}", (server, *(f"node C{i} {{ grant = 0 }}" for i in numbers)), *agents, *users)


def pipeline(threads: int, size: int) -> str:
    """Messages go through rings of `size` slots from thread to thread, with a credit word per slot; forever."""
    last = threads - 1
    nodes = []
    for i in range(threads):
        sends = f"out[{size}] = 0, credit[{size}] = 1" if i < last else ""
        receives = f"ring[{size}] = 0" if i else ""
        nodes.append(f"node N{i} {{ {', '.join(w for w in (sends, receives) if w)} }}")
    source = _thread("Source", "N0", "loop {", *(f"  {s}" for k in range(size) for s in _send(1, k, "1")), "}")
    middle = (
        _thread(
            f"Stage{i}",
            f"N{i}",
            "reg got",
            "loop {",
            *(f"  {s}" for k in range(size) for s in (*_receive(i - 1, k), *_send(i + 1, k, "got"))),
            "}",
        )
        for i in range(1, last)
    )
    sink = _thread(
        "Sink",
        f"N{last}",
        "reg got",
        "loop {",
        *(f"  {s}" for k in range(size) for s in _receive(last - 1, k)),
        "}",
    )
    return _program(f"pipeline-{threads}x{size}", nodes, source, *middle, sink)


def _send(to: int, slot: int, value: str) -> tuple[str, ...]:
    return (
        f"await credit[{slot}] == 1",
        f"credit[{slot}] = 0",
        f"out[{slot}] = {value}",
        f"put N{to}.ring[{slot}] = out[{slot}]",
        f"poll N{to}",
    )


def _receive(back: int, slot: int) -> tuple[str, ...]:
    return (
        f"await ring[{slot}] != 0",
        f"got = ring[{slot}]",
        "assert got == 1",
        f"ring[{slot}] = 0",
        f"put N{back}.credit[{slot}] = 1",
        f"poll N{back}",
    )


def producers(count: int, size: int) -> str:
    """Equal producers fill a ring of `size` slots each; one consumer takes whatever is there and gives credit; forever."""
    numbers, slots = range(count), range(size)
    rings = ", ".join(f"ring{i}[{size}] = 0" for i in numbers)
    nodes = [f"node Hub {{ {rings}, given = 1 }}", *(f"node P{i} {{ out = 1, credit[{size}] = 1 }}" for i in numbers)]
    makers = (
        _thread(
            f"Producer{i}",
            f"P{i}",
            "loop {",
            *(
                f"  {line}"
                for k in slots
                for line in (f"await credit[{k}] == 1", f"credit[{k}] = 0", f"put Hub.ring{i}[{k}] = out", "poll Hub")
            ),
            "}",
        )
        for i in numbers
    )
    taken = (
        f"{{ await ring{i}[{k}] == 1; ring{i}[{k}] = 0; put P{i}.credit[{k}] = given; poll P{i} }}"
        for i in numbers
        for k in slots
    )
    consumer = _thread("Consumer", "Hub", "loop {", "choose " + " or ".join(taken), "}")
    return _program(f"producers-{count}x{size}", nodes, *makers, consumer)


def claimed_slots(count: int, size: int) -> str:
    """Equal producers claim slots of one ring by compare-and-swap on its server; a consumer empties them; forever."""
    nodes = [
        f"node Hub {{ free[{size}] = 1, ring[{size}] = 0 }}",
        *(f"node P{i} {{ out = 1, got = 0 }}" for i in range(count)),
    ]
    claims = " or ".join(
        f"{'choose ' * (k == 0)}{{ get got = cas(Hub.free[{k}], 1, 0); poll Hub; old = got; "
        f"if old == 1 {{ put Hub.ring[{k}] = out; poll Hub }} }}"
        for k in range(size)
    )
    makers = (_thread(f"Producer{i}", f"P{i}", "reg old", "loop {", claims, "}") for i in range(count))
    takes = (s for k in range(size) for s in (f"await ring[{k}] == 1", f"ring[{k}] = 0", f"free[{k}] = 1"))
    return _program(f"claimed-slots-{count}x{size}", nodes, *makers, _thread("Consumer", "Hub", "loop {", *takes, "}"))


def bakery(threads: int) -> str:
    """Lamport's bakery with tickets up to `threads`, every word with its owner, every look a polled get; once each."""
    everybody = range(threads)
    nodes = [f"node N{i} {{ choosing = 0, ticket = 0, c = 0, t = 0, back = 0 }}" for i in everybody]
    return _program(
        f"bakery-{threads}", (*nodes, "node D { owner = 0 }"), *(_baker(i, threads) for i in everybody), domain=threads
    )


def _baker(me: int, threads: int) -> str:
    others = [j for j in range(threads) if j != me]
    draw = [
        "mine = 0",
        *(s for j in others for s in (*_look(j, "ticket", "t", "other"), "if other > mine { mine = other }")),
    ]
    wait = []
    for j in others:
        first = "mine < other" if j < me else "mine <= other"
        wait += ["busy = 1", "while busy == 1 {", *_look(j, "choosing", "c", "busy"), "}", "busy = 1", "while busy == 1 {"]
        wait += [*_look(j, "ticket", "t", "other"), f"if other == 0 || {first} {{ busy = 0 }}", "}"]
    return _thread(
        f"P{me}",
        f"N{me}",
        "reg mine, other, busy, seen",
        "choosing = 1",
        *draw,
        "mine = mine + 1",
        "ticket = mine",
        "choosing = 0",
        *wait,
        *_critical(me),
        "ticket = 0",
    )


def szymanski(threads: int) -> str:
    """Szymanski's mutual exclusion, flags with their owners, every look a polled get; once each."""
    everybody = range(threads)
    nodes = [f"node N{i} {{ flag = 0, f = 0, back = 0 }}" for i in everybody]
    return _program(f"szymanski-{threads}", (*nodes, "node D { owner = 0 }"), *(_entrant(i, threads) for i in everybody))


def _entrant(me: int, threads: int) -> str:
    others = [j for j in range(threads) if j != me]
    return _thread(
        f"P{me}",
        f"N{me}",
        "reg other, go, seen",
        "flag = 1",
        *(s for j in others for s in _until(j, "other < 3")),
        "flag = 3",
        "go = 0",
        *(s for j in others for s in (*_look(j, "flag", "f", "other"), "if other == 1 { go = 1 }")),
        "if go == 1 {",
        "flag = 2",
        "go = 0",
        "while go == 0 {",
        *(s for j in others for s in (*_look(j, "flag", "f", "other"), "if other == 4 { go = 1 }")),
        "}",
        "}",
        "flag = 4",
        *(s for j in others if j < me for s in _until(j, "other < 2")),
        *_critical(me),
        *(s for j in others if j > me for s in _until(j, "other < 2 || other > 3")),
        "flag = 0",
    )


def _until(j: int, condition: str) -> tuple[str, ...]:
    return ("go = 0", "while go == 0 {", *_look(j, "flag", "f", "other"), f"if {condition} {{ go = 1 }}", "}")


def _look(j: int, word: str, copy: str, register: str) -> tuple[str, ...]:
    return (f"get {copy} = N{j}.{word}", f"poll N{j}", f"{register} = {copy}")


def _critical(me: int) -> tuple[str, ...]:
    return (f"put D.owner = {me + 1}", "get back = D.owner", "poll D", "poll D", "seen = back", f"assert seen == {me + 1}")


def _thread(name: str, node: str, *lines: str) -> str:
    return "\n".join([f"thread {name} on {node} {{", *(f"  {line}" for line in lines), "}"])


def _program(name: str, nodes: Iterable[str], *threads: str, domain: int | None = None) -> str:
    bounds = [] if domain is None else [f"domain 0..{domain}"]
    return "\n".join([f"program {name.replace('-', '_')}", *bounds, *nodes, *threads, "expect robust"]) + "\n"


SCALING: Final[dict[str, Callable[[int], str]]] = {
    "threads": ring_exchange,
    "slots": slots,
    "rounds": rounds,
    "polls": polls,
}
"""By what grows with the size."""
