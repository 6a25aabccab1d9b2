"""Loop-free programs for RDMA as deployed: random ones by family, the named ones, and mutations of those.

    for program, model in random_deployed("messages", range(100)): ...
    for program, model in named(): ...
    for program, model in mutants(range(100)): ...

Each program says its hardware in its text, and `model` is the same as a value. They are the same for the same seeds, have 1
to 3 threads and at most EVENTS events, and hold a few words that are fought for. Mutations find mistakes that random
programs do not: a named program with one to three statements dropped, inserted, copied or exchanged, flags, values, words
or nodes changed, or under other hardware.

More than 400 lines: random programs, and the mutations of named ones, are over the same statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.semantics.event_table import cases_of
from rdma_robust.semantics.values import is_loop_free

FOLDER: Final = Path(__file__).parents[1] / "data" / "deployed"
"""The named programs: those of the design by name, and small ones for every rule and axiom."""

EVENTS: Final = 13

FAMILIES: Final = (
    *("stores", "atomics", "messages", "completions", "mixed", "weaker", "flushes", "answers", "unordered", "acknowledged"),
)

UNPROVEN: Final = ("flushes", "answers", "unordered", "acknowledged")
"""The families with operations, hardware, or an order behind completions, that the Coq development does not have."""

_KINDS: Final[dict[str, dict[str, int]]] = {
    "stores": {"write": 30, "read": 26, "mfence": 8, "cas": 7, "put": 12, "get": 10, "inline": 3, "assume": 5},
    "atomics": {"rcas": 26, "faa": 10, "write": 14, "read": 14, "cas": 7, "put": 12, "get": 10, "assume": 6},
    "messages": {"send": 22, "imm": 8, "recv": 10, "rpoll": 14, "put": 12, "get": 8, "write": 14, "read": 14, "assume": 3},
    "completions": {"put": 26, "get": 20, "inline": 10, "write": 18, "read": 18, "fence": 5, "assume": 3},
    "mixed": {
        "put": 14, "get": 12, "inline": 6, "rcas": 10, "faa": 4, "send": 10, "imm": 4, "recv": 6, "rpoll": 8, "write": 16,
        "read": 16, "cas": 4, "mfence": 3, "assume": 4,
    },
    "weaker": {
        "put": 26, "get": 12, "inline": 4, "rcas": 10, "faa": 6, "send": 12, "imm": 5, "recv": 4, "rpoll": 9, "write": 10,
        "read": 20, "fence": 4, "assume": 4,
    },
    "answers": {
        "quiet": 26, "fetch": 10, "rcas": 6, "faa": 4, "put": 10, "get": 6, "inline": 5, "write": 12, "read": 14, "cas": 4,
        "assume": 5, "fence": 3, "send": 2, "rpoll": 2, "mfence": 2,
    },
    "flushes": {
        "put": 26, "get": 10, "inline": 5, "rcas": 8, "faa": 4, "send": 7, "imm": 3, "recv": 3, "rpoll": 6, "write": 9,
        "read": 20, "fence": 4, "flush": 16, "order": 14, "mfence": 2, "assume": 4,
    },
    "acknowledged": {
        "put": 40, "get": 14, "inline": 6, "rcas": 6, "faa": 4, "send": 5, "imm": 3, "recv": 2, "rpoll": 4, "write": 7,
        "read": 20, "fence": 2, "assume": 4,
    },
    "accumulated": {
        "quiet": 30, "faa": 16, "rcas": 8, "fetch": 12, "put": 8, "get": 5, "write": 8, "read": 18, "send": 3, "imm": 2,
        "rpoll": 3, "cas": 2, "assume": 5, "fence": 2, "flush": 2, "order": 2,
    },
    "operands": {
        "taking": 40, "quiet": 5, "rcas": 4, "faa": 4, "put": 16, "get": 8, "write": 20, "read": 16, "send": 3, "imm": 2,
        "rpoll": 3, "cas": 3, "assume": 4, "fence": 2, "flush": 3, "order": 2, "mfence": 2,
    },
}  # fmt: skip
_KINDS["unordered"] = _KINDS["weaker"] | {"flush": 4, "order": 5, "quiet": 4, "fetch": 3}

_BUFFERED: Final = {
    "stores": 1.0,
    "mixed": 0.6,
    "answers": 0.3,
    "unordered": 0.3,
    "accumulated": 0.2,
    "operands": 0.25,
} | dict.fromkeys(("weaker", "flushes", "acknowledged"), 0.15)
"""How many programs of a family have store buffers."""

_WEAKER: Final = {"weaker": 1.0, "flushes": 0.8, "answers": 0.35, "operands": 0.35}
"""How many programs of a family run on a weaker network."""

_ORDER: Final = {"unordered": ("none", "none", "accumulate"), "acknowledged": ("multipath",), "accumulated": ("accumulate",)}
_OTHERWISE: Final = {"operands": ("none", "accumulate")}
"""The networks of the programs of a family; of one in `_OTHERWISE` some run on those. `accumulated` and `operands` are none
of the families that every test of these goes through."""

_COST: Final = {"taking": 4, "quiet": 2, "fetch": 2, "put": 2, "get": 2, "rcas": 3, "faa": 3, "send": 2, "imm": 3, "cas": 2}


def random_deployed(family: str, seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a random program of the family, and its model, for each seed. Raises KeyError for an unknown family."""
    for seed in seeds:
        yield loaded(random_text(family, Random(f"{family} {seed}")), f"{family} {seed}")


def random_text(family: str, rng: Random, events: int = EVENTS) -> str:
    """Return the text of a random program of the family, with about so many events at most."""
    return _Writer(rng, _KINDS[family], _hardware(rng, family), events).program()


@cache
def named_texts() -> dict[str, str]:
    """Return the texts of the named programs."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.rdma"))}


def named() -> Iterator[tuple[Program, Model]]:
    """Yield the named programs, whose `name` it is, under their hardware."""
    return (loaded(text, name) for name, text in named_texts().items())


def mutants(seeds: Iterable[int], names: Iterable[str] = ()) -> Iterator[tuple[Program, Model]]:
    """Yield a mutation of a named program (of `names`, or any) for each seed that gives one of moderate size."""
    chosen = list(names) or list(named_texts())
    for seed in seeds:
        rng = Random(f"mutant {seed}")
        name = rng.choice(chosen)
        text = mutant_text(named_texts()[name], rng)
        if text is not None:
            yield loaded(text, f"mutant {seed} of {name}")


def some_text(rng: Random) -> str | None:
    """Return one of some family, or (as often as two families) a mutation of a named one; None if it is none."""
    source = rng.choice((*FAMILIES, "mutations", "mutations"))
    if source != "mutations":
        return random_text(source, rng)
    return mutant_text(named_texts()[rng.choice(sorted(named_texts()))], rng)


def mutant_text(text: str, rng: Random) -> str | None:
    """Return a mutation that loads, is loop-free and has not too many events; None if a few attempts give none."""
    for _ in range(20):
        lines = _on_other_hardware(text.splitlines(), rng)
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
            lines = _mutated(lines, rng)
        made = "\n".join(lines) + "\n"
        try:
            program = load_program(made, "mutant.rdma")
        except ProgramError:
            continue
        if is_loop_free(program) and most_events(program, model_of(program)) <= EVENTS:
            return made
    return None


def loaded(text: str, file: str) -> tuple[Program, Model]:
    """Return the program and the model of its hardware line."""
    program = load_program(text, file)
    return program, model_of(program)


def model_of(program: Program) -> Model:
    """Return the model that a program's hardware line stands for."""
    said = program.hardware
    return Model(
        cpu=said.cpu or "sc",
        atomics=said.atomics or "hca",
        order=said.order or "default",
        ordered_reads=bool(said.ordered_reads),
    )


def most_events(program: Program, model: Model) -> int:
    """Return the number of events of a longest run of a loop-free program."""
    total = 0
    for thread in program.threads:
        longest = {thread.entry: 0}
        todo = [thread.entry]
        while todo:
            point = todo.pop()
            for source, target, step in thread.edges:
                if source == point:
                    more = longest[point] + max(len(case.acts) for case in cases_of(step.op, model))
                    if more > longest.get(target, -1):
                        longest[target] = more
                        todo.append(target)
        total += max(longest.values())
    return total


def _hardware(rng: Random, family: str) -> dict[str, str]:
    said: dict[str, str] = {}
    buffered = _BUFFERED.get(family, 0.0)
    if buffered == 1 or (buffered and rng.random() < buffered):
        said["cpu"] = "tso"
    many = ("atomics", "mixed", "weaker", "flushes", "answers", "unordered", "acknowledged", "accumulated", "operands")
    if family in many and rng.random() < 0.25:
        said["atomics"] = "glob"
    weaker = _WEAKER.get(family, 0.0)
    if weaker == 1 or (weaker and rng.random() < weaker):
        said["order"] = rng.choice(["multipath", "relaxed"])
    if family in _OTHERWISE and rng.random() < 0.2:
        said["order"] = rng.choice(_OTHERWISE[family])
    if family in _ORDER:
        said["order"] = rng.choice(_ORDER[family])
    if rng.random() < 0.25:
        said["reads"] = "ordered"
    return said


def _hardware_line(said: dict[str, str]) -> list[str]:
    return ["hardware " + ", ".join(f"{what} {word}" for what, word in said.items())] if said else []


@dataclass
class _Thread:
    name: str
    node: str
    left: int
    body: list[str] = field(default_factory=list)
    posted: list[str] = field(default_factory=list)
    unpolled: dict[str, int] = field(default_factory=dict)


class _Writer:
    """Messages and receives of a connection are counted, so that most, but not all, messages find a receive."""

    def __init__(self, rng: Random, kinds: dict[str, int], hardware: dict[str, str], events: int) -> None:
        self.rng = rng
        self.kinds = dict(kinds)
        self.hardware = hardware
        count = rng.choice([1, 2, 2, 2, 2, 3, 3, 3])
        near = "tso" in hardware.values() and rng.random() < 0.5
        self.nodes = ["A", "B", "C"][: 2 if near or count < 3 else rng.choice([2, 3])]
        self.cells = {node: [f"{node.lower()}{k}" for k in range(rng.choice([1, 1, 2, 2]))] for node in self.nodes}
        self.domain = "faa" in kinds and rng.random() < 0.6
        if not self.domain:
            self.kinds.pop("faa", None)
        total = rng.randint(5, events)
        self.threads = [_Thread(f"T{i + 1}", self.place(i, near), max(2, total // count)) for i in range(count)]
        self.sent: dict[tuple[str, str], int] = {}
        self.received: dict[tuple[str, str], int] = {}

    def place(self, number: int, near: bool) -> str:
        return "A" if near and self.rng.random() < 0.7 else self.nodes[number % len(self.nodes)]

    def program(self) -> str:
        for thread in self.threads:
            while thread.left > 0:
                self.statement(thread)
        for (sender, receiver), sent in self.sent.items():
            self.receive(sender, receiver, sent)
        lines = [*(["domain 0..3"] if self.domain else []), *_hardware_line(self.hardware)]
        for node, cells in self.cells.items():
            initial = [f"{cell} = 1" if self.rng.random() < 0.2 else cell for cell in cells]
            lines.append(f"node {node} {{ {', '.join(initial)} }}")
        for thread in self.threads:
            registers = [r for r in ("r", "s") if any(re.search(rf"\b{r}\b", line) for line in thread.body)]
            lines.append(f"thread {thread.name} on {thread.node} {{" + (f" reg {', '.join(registers)}" if registers else ""))
            lines += [f"  {line}" for line in (*thread.posted, *thread.body)]
            lines.append("}")
        return "\n".join(lines) + "\n"

    def receive(self, sender: str, receiver: str, sent: int) -> None:
        """Post what is missing for the messages of a connection, but not always."""
        thread = next(t for t in self.threads if t.name == receiver)
        for _ in range(sent - self.received.get((sender, receiver), 0)):
            buffer = self.rng.choice(self.cells[thread.node])
            if self.rng.random() < 0.5:
                thread.posted.append(f"posted {buffer} from {sender}")
            elif self.rng.random() < 0.85:
                thread.body.insert(self.rng.randint(0, len(thread.body)), f"recv {buffer} from {sender}")

    def statement(self, thread: _Thread) -> None:
        rng = self.rng
        polled = [node for node, n in thread.unpolled.items() if n > 0]
        if polled and rng.random() < 0.3:
            node = rng.choice(polled)
            thread.unpolled[node] -= 1
            thread.left -= 1
            thread.body.append(f"poll {node}")
            return
        kind = rng.choices(list(self.kinds), list(self.kinds.values()))[0]
        remotes = [node for node in self.nodes if node != thread.node]
        line = self.simple(kind, thread, remotes)
        if line is not None:
            thread.left -= _COST.get(kind, 1)
            thread.body.append(line)

    def simple(self, kind: str, thread: _Thread, remotes: list[str]) -> str | None:
        rng, mine = self.rng, self.rng.choice(self.cells[thread.node])
        value, register, node = rng.choice([1, 1, 2]), rng.choice("rs"), rng.choice(remotes)
        far = f"{node}.{rng.choice(self.cells[node])}"
        match kind:
            case "write":
                return f"{mine} = {register if rng.random() < 0.15 else value}"
            case "read":
                return f"{register} = {mine}"
            case "mfence":
                return "mfence"
            case "assume":
                return f"assume {mine} {rng.choice(['==', '==', '!='])} {value}"
            case "cas":
                return f"{register} = cas({mine}, {rng.choice([0, 0, value])}, {rng.choice([1, 2])})"
            case "fence":
                return f"rfence {node}"
            case "flush" | "order":
                return f"{kind} {node}"
            case "recv" | "rpoll":
                return self.receiving(kind, thread, mine)
            case "send" | "imm":
                return self.sending(kind, thread, far, mine)
        flags = self.flags(thread, node)
        match kind:
            case "put":
                return f"put {far} = {mine if rng.random() < 0.6 else value}{flags}"
            case "inline":
                return f"put {far} = {rng.choice([mine, mine, str(value), register])} inline{flags}"
            case "get":
                return f"get {mine} = {far}{flags}"
            case "quiet":
                return f"{self.quiet(far)}{flags}"
            case "taking":
                return f"{self.taking(thread, far, mine)}{flags}"
            case "fetch":
                return f"get {mine} = fetch({far}){flags}"
            case "rcas":
                return f"get {mine} = cas({far}, {rng.choice([0, 0, 1])}, {rng.choice([1, 2, 2])}){flags}"
            case _:
                return f"get {mine} = faa({far}, 1){flags}"

    def quiet(self, far: str) -> str:
        """An atomic operation without an answer."""
        rng = self.rng
        cas = f"cas({far}, {rng.choice([0, 0, 1])}, {rng.choice([1, 2, 2])})"
        swap = f"swap({far}, {rng.choice([1, 2])})"
        return rng.choice([cas, cas, swap, *([f"faa({far}, 1)"] * 3 if self.domain else [])])

    def taking(self, thread: _Thread, far: str, mine: str) -> str:
        """An atomic operation with operands in memory, with an answer or without."""
        rng, own = self.rng, self.cells[thread.node]
        either = [rng.choice([rng.choice(own), rng.choice(own), rng.choice(["0", "1", "2", "r"])]) for _ in range(2)]
        either[rng.randint(0, 1)] = rng.choice(own)
        cas, swap = f"cas({far}, {either[0]}, {either[1]})", f"swap({far}, {rng.choice(own)})"
        call = rng.choice([cas, cas, swap, *([f"faa({far}, {rng.choice(own)})"] * 2 if self.domain else [])])
        return f"get {mine} = {call}" if rng.random() < 0.5 else call

    def flags(self, thread: _Thread, node: str) -> str:
        if self.rng.random() < (0.35 if "inline" in self.kinds else 0.15):
            return " unsignaled"
        thread.unpolled[node] = thread.unpolled.get(node, 0) + 1
        return " fenced" if self.rng.random() < 0.08 else ""

    def others(self, thread: _Thread) -> list[_Thread]:
        return [other for other in self.threads if other.node != thread.node]

    def sending(self, kind: str, thread: _Thread, far: str, mine: str) -> str | None:
        others = self.others(thread)
        if not others:
            return None
        other = self.rng.choice(others)
        self.sent[thread.name, other.name] = self.sent.get((thread.name, other.name), 0) + 1
        flags = self.flags(thread, other.node).replace(" fenced", "")
        if kind == "imm":
            far = f"{other.node}.{self.rng.choice(self.cells[other.node])}"
            return f"put {far} = {mine} imm {self.rng.choice([1, 2])} to {other.name}{flags}"
        inline = " inline" if self.rng.random() < 0.15 else ""
        return f"send {mine if self.rng.random() < 0.7 else 1} to {other.name}{inline}{flags}"

    def receiving(self, kind: str, thread: _Thread, mine: str) -> str | None:
        others = self.others(thread)
        if not others:
            return None
        other = self.rng.choice(others)
        if kind == "recv":
            key = (other.name, thread.name)
            self.received[key] = self.received.get(key, 0) + 1
            return f"recv {mine} from {other.name}"
        return f"{'r = ' if self.rng.random() < 0.4 else ''}rpoll {other.name}"


# ---- mutations of a text


def _on_other_hardware(lines: list[str], rng: Random) -> list[str]:
    """The lines, sometimes with another hardware line."""
    if rng.random() < 0.7:
        return list(lines)
    said: dict[str, str] = {}
    for what, word, odds in (("cpu", "tso", 0.4), ("atomics", "glob", 0.3), ("reads", "ordered", 0.3)):
        if rng.random() < odds:
            said[what] = word
    if rng.random() < 0.4:
        said["order"] = rng.choice(["multipath", "relaxed"])
    return [*_hardware_line(said), *(line for line in lines if not line.startswith("hardware"))]


def _statements(lines: list[str]) -> list[int]:
    return [i for i, line in enumerate(lines) if line.startswith("  ")]


def _mutated(lines: list[str], rng: Random) -> list[str]:
    lines = list(lines)
    places = _statements(lines)
    if not places:
        return lines
    i = rng.choice(places)
    match rng.choice(["drop", "insert", "insert", "exchange", "copy", "move", "flag", "value", "word", "word", "node"]):
        case "drop":
            del lines[i]
        case "insert":
            lines.insert(i + rng.randint(0, 1), "  " + _inserted(lines, rng))
        case "exchange" if i + 1 in places:
            lines[i], lines[i + 1] = lines[i + 1], lines[i]
        case "copy":
            lines.insert(rng.choice(places), lines[i])
        case "move":
            line = lines.pop(i)
            lines.insert(rng.choice(_statements(lines) or [i]), line)
        case "flag":
            lines[i] = _flagged(lines[i], rng)
        case "value":
            lines[i] = re.sub(r"\b\d\b", lambda m: rng.choice("0123") if rng.random() < 0.6 else m[0], lines[i])
        case "word":
            lines[i] = _replaced(lines[i], _words(lines), rng)
        case "node":
            lines[i] = _replaced(lines[i], [line.split()[1] for line in lines if line.startswith(("node", "thread"))], rng)
    return lines


def _words(lines: list[str]) -> list[str]:
    found = []
    for line in lines:
        if line.startswith("node"):
            found += re.findall(r"\b[a-z]\w*", line.split("{")[1])
    return found


def _replaced(line: str, names: list[str], rng: Random) -> str:
    """The line with one of its names replaced by another of the same kind."""
    present = [m for m in re.finditer(r"\b\w+\b", line) if m[0] in names]
    if not present:
        return line
    m = rng.choice(present)
    return line[: m.start()] + rng.choice(names) + line[m.end() :]


def _flagged(line: str, rng: Random) -> str:
    flag = rng.choice(["unsignaled", "inline", "fenced"])
    return line.replace(f" {flag}", "") if f" {flag}" in line else f"{line} {flag}"


def _inserted(lines: list[str], rng: Random) -> str:
    """A statement over the names of the program; not every one fits every place."""
    nodes = {line.split()[1]: _words([line]) for line in lines if line.startswith("node")}
    threads = [line.split()[1] for line in lines if line.startswith("thread")]
    registers = sorted({r for line in lines for found in re.findall(r"\breg ([\w, ]+)", line) for r in found.split(", ")})
    node, word = rng.choice(list(nodes)), rng.choice(_words(lines) or ["x"])
    far = f"{node}.{rng.choice(nodes[node] or ['x'])}"
    other, register, value = rng.choice(threads), rng.choice(registers or ["r"]), rng.randint(0, 2)
    return rng.choice([
        "mfence", f"poll {node}", f"poll {node}", f"rfence {node}", f"flush {node}", f"order {node}",
        f"{register} = {word}", f"{word} = {value}",
        f"put {far} = {word}", f"put {far} = {value}", f"put {far} = {word} inline", f"put {far} = {word} unsignaled",
        f"get {word} = {far}", f"get {word} = {far} unsignaled", f"get {word} = cas({far}, {value}, {rng.randint(1, 2)})",
        f"get {word} = faa({far}, 1)", f"swap({far}, {value})", f"cas({far}, {value}, 1)", f"get {word} = fetch({far})",
        f"{register} = cas({word}, {value}, 1)", f"assume {word} == {value}",
        f"send {word} to {other}", f"put {far} = {word} imm {value} to {other}", f"recv {word} from {other}",
        f"posted {word} from {other}", f"rpoll {other}", f"{register} = rpoll {other}",
    ])  # fmt: skip
