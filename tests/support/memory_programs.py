"""Loop-free programs with memory behind a card: random ones of every family and mutations of named ones, some words moved.

    for program, model in with_memories(range(100)): ...

They are the same for the same seeds, and at least one word of each lies behind the card of another node. In half of them
threads read such words through their own cards too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from tests.support.random_deployed import loaded, random_text, some_text

_SMALL: Final = """allow loopback
node A { p = 1, s }
node H { f, g, t, u }
node G via H { x, y }
"""
_WORDS: Final = ("H.f", "H.g", "G.x", "G.y")
_ANSWERS: Final = ("t", "u")

_NODE: Final = re.compile(r"(?m)^node (\w+) \{([^}]*)\}")
_VARIABLE: Final = re.compile(r"(?:(?:relaxed|sync) )*(\w+)(?:\[[^\]]*\])?(?: *= *-?\w+)?")
_THREAD: Final = re.compile(r"(?ms)^thread (\w+) on (\w+) \{.*?^\}")
_STATEMENT: Final = re.compile(r"(?m)^  (?=put|get|poll|\w+ = |send|rpoll|await|assume)")


def with_memories(seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a program with words behind cards, and its model, for each seed that gives one."""
    for seed in seeds:
        rng = Random(f"memories {seed}")
        text = some_text(rng)
        if text is None or "start " in text or "family" in text:
            continue
        try:
            yield loaded(memory_text(text, rng), f"memories {seed}")
        except ProgramError:
            continue


def messaged_memories(seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a program with messages, most of whose words are behind cards, for each seed that gives one."""
    for seed in seeds:
        rng = Random(f"messaged {seed}")
        family = rng.choice(("messages", "messages", "completions", "mixed"))
        try:
            yield loaded(memory_text(random_text(family, rng), rng, 0.8), f"messaged {seed}")
        except ProgramError:
            continue


def taking_memories(seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a program with atomics that take operands from memory and words behind cards for each seed that gives one."""
    for seed in seeds:
        rng = Random(f"taking memories {seed}")
        try:
            yield loaded(memory_text(random_text("operands", rng), rng), f"taking memories {seed}")
        except ProgramError:
            continue


def small_memories(seeds: Iterable[int], hardware: str = "") -> Iterator[tuple[Program, Model]]:
    """Yield a small program of two or three threads that use two words of a host and two behind its card, for each seed."""
    for seed in seeds:
        rng = Random(f"small memories {seed}")
        where = [rng.choice("AAHHG") for _ in range(rng.choice((2, 2, 3)))]
        threads = [_small_thread(f"T{i}", node, rng, 4 - len(where) // 3) for i, node in enumerate(where)]
        cpu = "hardware cpu tso\n" if rng.random() < 0.25 else ""
        yield loaded(hardware + cpu + _SMALL + "".join(threads), f"small memories {seed}")


def _small_thread(name: str, node: str, rng: Random, most: int) -> str:
    """A thread that polls no more often than it has asked for, with no more than `most` statements."""
    lanes = rng.random() < 0.3
    said, open_polls = [], {"H": 0, "l": 0}
    for number in range(rng.randint(2, most)):
        lane = "l" if lanes and rng.random() < 0.5 else "H"
        on = " on l" if lane == "l" else ""
        kinds = ("put", "put", "get", "read", "read", "write", *("poll",) * 3 * bool(open_polls[lane] > 0))
        kinds = (*kinds, "atomic") if node == "A" else kinds
        kind, word, number = rng.choice((*kinds, *("fence",) * (number > 0))), rng.choice(_WORDS), number + 1
        near = rng.choice(_WORDS if node != "A" else ("p", "s"))
        open_polls[lane] += {"poll": -1, "put": 1, "get": 1, "atomic": 1}.get(kind, 0)
        said.append(
            {
                "put": f"put {word} = {rng.choice((str(number), near))}{on}",
                "get": f"get {rng.choice(_ANSWERS) if node == 'H' else near} = {word}{on}",
                "atomic": f"get {near} = swap({word}, {number}){on}",
                "read": f"r{number} = {near}",
                "write": f"{near} = {number}",
                "poll": f"poll {lane}",
                "fence": rng.choice((f"rfence {lane}", f"flush {lane}")),
            }[kind]
        )
    registers = ", ".join(f"r{k}" for k in range(1, most + 1))
    opened = "\n  qp l to H" * lanes
    return f"thread {name} on {node} {{{opened}\n  reg {registers}\n  " + "\n  ".join(said) + "\n}\n"


_WRITTEN_AND_POLLED: Final = """hardware order multipath
node A {{ one = 1, p, q }}
node Ag via A {{ a, b }}
node H {{ f, g }}
node G via H {{ x, y }}
thread T on A {{{}
  {}
}}
thread Reader on {} {{
  reg r1, r2, r3
  {}
}}
"""
_REQUESTS: Final = ("put {} = one", "put {} = 7", "get {near} = {}", "get p = swap({}, 5)")


def polled_memories(seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a program for each seed whose sender, under `order multipath`, polls between requests to words beside a card and
    behind it, while another thread looks at them."""
    for seed in seeds:
        rng = Random(f"polled memories {seed}")
        lanes, open_polls, said = rng.random() < 0.2, {"H": 0, "l": 0}, []
        for _ in range(rng.randint(3, 6)):
            lane = "l" if lanes and rng.random() < 0.4 else "H"
            if open_polls[lane] and rng.random() < 0.7:
                said.append(f"poll {lane}")
                open_polls[lane] -= 1
                continue
            word, near = rng.choice((*_WORDS, "G.x", "H.f")), rng.choice(("p", "q", "Ag.a", "Ag.b"))
            said.append(rng.choice((*_REQUESTS[:3], *_REQUESTS)).format(word, near=near) + " on l" * (lane == "l"))
            open_polls[lane] += 1
        where = rng.choice("HGA")
        words = (*_WORDS, "G.x", "H.f") if where != "A" else ("p", "q", "Ag.a", "Ag.b")
        looks = ("r{0} = {1}", "r{0} = {1}", "r{0} = {1}", "{1} = {0}")
        seen = [rng.choice(looks).format(k, word) for k, word in enumerate(rng.sample(words, 3), 1)]
        opened = "\n  qp l to H" * lanes
        body = _WRITTEN_AND_POLLED.format(opened, "\n  ".join(said), where, "\n  ".join(seen[: rng.randint(2, 3)]))
        yield loaded(body, f"polled memories {seed}")


_RELAYED: Final = """allow loopback
node A {{ one = 1, p }}
node H {{ b, f, s, g }}
node G via H {{ x, y }}
node P {{ c, d, two = 1, q }}
{}thread Last on {} {{
{}
}}
"""


def relayed_memories(seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a program for each seed that passes data behind a card on: a sender writes it and tells a relay, which may read
    that memory by its card, and tells the last, which reads the data."""
    for seed in seeds:
        rng = Random(f"relayed memories {seed}")
        hardware = rng.choice(("", "", "", "hardware cpu tso\n", "hardware atomics glob\n"))
        by_message = rng.random() < 0.3
        sender, relay = _sender(rng, by_message), _relay(rng, by_message)
        where, last = rng.choice((("G", "  reg r\n  await H.g == 1\n  r = x"), ("G", "  reg r\n  await H.g == 1\n  r = x"),
            ("P", "  get c = H.g\n  poll H\n  get q = G.x"), ("P", "  get c = H.g\n  get q = G.x")))  # fmt: skip
        try:
            yield loaded(hardware + _RELAYED.format(sender + relay, where, last), f"relayed memories {seed}")
        except ProgramError:
            continue  # the relay of a write with immediate is elsewhere


def _sender(rng: Random, by_message: bool) -> str:
    """The thread that writes the data, and the flag on the same queue pair or another one, or with an immediate."""
    lanes = rng.random() < 0.4
    on, ctl = (" on l", "l") if lanes else ("", "H")
    data = rng.choice(("put G.x = one", "put G.x = 1", "get p = swap(G.x, 1)", "swap(G.x, 1)"))
    between = rng.choice(("", "", "poll H", "get p = G.y\n  poll H", f"get p = G.y{on}\n  poll {ctl}", "rfence H"))
    flag = rng.choice((f"put H.f = one{on}", f"put H.f = 1{on}", f"swap(H.f, 1){on}"))
    if by_message:
        data, flag = rng.choice((("put G.x = one imm 1 to Relay", ""), (data, "send one to Relay")))
    opened = "  qp l to H\n" * lanes
    return f"thread T on A {{\n{opened}  {data}\n  {between}\n  {flag}\n}}\n"


def _relay(rng: Random, by_message: bool) -> str:
    """The thread that has heard of the flag, by its processor or by its card, and tells the last one."""
    where = rng.choice("HHP")
    heard = {"H": ("await f == 1", "get s = H.f\n  poll H"), "P": ("get d = H.f\n  poll H", "get d = fetch(H.f)")}[where]
    own = "s" if where == "H" else "d"
    flush = (f"get {own} = G.y\n  poll H", f"get {own} = G.y", f"put G.y = {own}\n  poll H", f"get {own} = H.b\n  poll H")
    tells = ("g = 1", f"put H.g = {own}") if where == "H" else ("put H.g = two", "put H.g = 1")
    said = [rng.choice(heard), rng.choice((*flush, flush[0], "")), rng.choice(tells)]
    if by_message:
        where_b = "b" if where == "H" else "q"
        said[0] = f"posted {where_b} from T\n  rpoll T"
    return f"thread Relay on {where} {{\n  " + "\n  ".join(said) + "\n}\n"


def memory_text(text: str, rng: Random, odds: float = 0.4) -> str:
    """Return the text with some words of a node, or of two, behind its card, of each with these odds, and always one."""
    nodes = [match for match in _NODE.finditer(text) if _VARIABLE.search(match[2])]
    for match in rng.sample(nodes, min(len(nodes), rng.choice((1, 1, 1, 2)))):
        text = _behind(text, match[1], rng, odds)
    return _loopbacks(text, rng) if rng.random() < 0.5 else text


def _behind(text: str, node: str, rng: Random, odds: float) -> str:
    """Move some words of a node into a memory behind its card, and sometimes its threads too."""
    match = next(m for m in _NODE.finditer(text) if m[1] == node)
    words = {m[1]: m[0] for m in _VARIABLE.finditer(match[2])}
    moved = [name for name in words if rng.random() < odds] or [rng.choice(sorted(words))]
    memory = f"{node}g"
    kept = ", ".join(said for name, said in words.items() if name not in moved)
    nodes = f"node {node} {{ {kept} }}\nnode {memory} via {node} {{ {', '.join(words[name] for name in moved)} }}"
    text = text.replace(match[0], nodes)
    for name in moved:
        text = re.sub(rf"(?<![\w.]){node}\.{name}\b", f"{memory}.{name}", text)

    def thread(found: re.Match[str]) -> str:
        body, names, own = found[0], moved, memory
        if found[2] != node:
            return body
        if rng.random() < 0.3:
            body = body.replace(f" on {node} {{", f" on {memory} {{", 1)
            names, own = [name for name in words if name not in moved], node
        for name in names:
            body = re.sub(rf"(?<![\w.]){name}(?![\w(])", f"{own}.{name}", body)
        return body

    return _THREAD.sub(thread, text)


def _loopbacks(text: str, rng: Random) -> str:
    """Let some threads read a word behind a card, through whatever queue pair that takes, and mostly wait for it."""
    behind = [(m[1], m[2], m[3]) for m in re.finditer(r"(?m)^node (\w+) via (\w+) \{ (?:(?:relaxed|sync) )*(\w+)", text)]
    memory, card, word = rng.choice(behind)
    threads = [found for found in _THREAD.finditer(text) if _STATEMENT.search(found[0])]
    if not threads:
        return text
    found = rng.choice(threads)
    node = found[2]
    places = [m.start() for m in _STATEMENT.finditer(found[0])]
    at = found.start() + rng.choice(places)
    poll = f"  poll {card}\n" if rng.random() < 0.8 else ""
    text = f"{text[:at]}  get scratch = {memory}.{word}\n{poll}{text[at:]}"
    text = re.sub(rf"(?m)^(node {node}(?: via \w+)? \{{)", r"\1 scratch, ", text, count=1).replace(
        "scratch,  }", "scratch }"
    )
    return text if "allow loopback" in text else f"allow loopback\n{text}"
