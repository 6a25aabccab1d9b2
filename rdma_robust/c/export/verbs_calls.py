"""Calls of verbs for what threads ask their cards for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.c.export.c_statements import CLibrary, ThreadWriter
from rdma_robust.c.export.exported_program import KEYWORDS, ExportedProgram, NotInCError
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import statements_in

_FLAGS: Final = {"inline": "IBV_SEND_INLINE", "fenced": "IBV_SEND_FENCE"}
_REFUSED: Final = {
    ast.BarrierStatement: ("verbs have no `barrier`", "wait for words or messages of each other"),
    ast.FlushStatement: ("verbs have no `flush`", "`get` something from the same node, and poll that"),
    ast.OrderStatement: ("verbs have no `order`", "`rfence`, or another hardware"),
}
_UNKNOWN: Final = ("no call of verbs does this", "put, get, messages, poll and rfence have one")


@dataclass(slots=True)
class VerbsPair:
    """A queue pair of a thread on the node `home` to the node `to`, whose end there is `far`; which thread takes the
    messages on it, and which buffers for them are there at the start."""

    near: str
    home: str
    far: str
    to: str
    receiver: str = ""
    posted: list[tuple[str, int]] = field(default_factory=list)


def _polled(statement: ast.Statement) -> tuple[ast.Ident, ...]:
    match statement:
        case ast.PollStatement(node) | ast.TryPoll(node=node):
            return (node,)
        case ast.PollAny(nodes):
            return nodes
    return ()


def field_name(name: str) -> str:
    """Return what a variable is called in the C."""
    return f"{name}_" if name in KEYWORDS else name


class VerbsC(CLibrary):
    """Verbs: the connections and helpers that the threads need are found while these are written."""

    def __init__(self, given: ExportedProgram) -> None:
        super().__init__(given)
        self.nodes = {item.name.text: item for item in given.tree.items if isinstance(item, ast.NodeDeclaration)}
        self.places = {thread.name.text: thread.node.text for thread, _ in given.threads()}
        self.lanes = {
            (thread.name.text, name): lane
            for thread, _ in given.threads()
            for lines in thread.body.statements
            if isinstance(lines, ast.Lanes)
            for lane in lines.lanes
            for name in self._lane_names(lane)
        }
        for helper in ("post", "post_atomic", "post_receive", "take", "try_take"):
            given.taken.add(helper)
        self.objects = {node: given.name(node) for node in self.nodes}
        self.relaxed = {node: given.name(f"{node}_relaxed") for node in self.nodes}
        objects = [*self.objects.values(), *self.relaxed.values()]
        self.remote = {each: given.name(f"at_{each}") for each in objects}
        self.reached: dict[str, set[str]] = {}
        """The objects of other nodes that the threads of a node reach."""
        self.connections: dict[tuple[str, str], VerbsPair] = {}
        self.used: dict[str, None] = {}
        self.constants: dict[int, str] = {}
        self.starters: dict[str, str] = {}
        """The thread that starts another one of its node."""
        self._check()

    def _lane_names(self, lane: ast.LaneDeclaration) -> list[str]:
        """Return the names of the lanes that a declaration makes."""
        family = lane.family
        if family is None or family.low is None or family.high is None:
            return [lane.name.text]
        numbers = range(self.given.constant(family.low), self.given.constant(family.high) + 1)
        return [f"{lane.name.text}[{number}]" for number in numbers]

    def _check(self) -> None:
        for thread, _ in self.given.threads():
            for each in statements_in(thread.body):
                if isinstance(each, ast.StartStatement):
                    self._starts(thread, each)
        if self.given.program.allow_loopback:
            span = next(item.span for item in self.given.tree.items if isinstance(item, ast.AllowLoopback))
            self._reject(span, "a queue pair from a machine to itself is not evaluated", "a node of its own for the memory")
        for item in self.nodes.values():
            if item.via is not None:
                self._reject(item.span, "memory behind the NIC of another node is not said in C", "")
        for lane in {lane.span: lane for lane in self.lanes.values()}.values():
            if lane.depth is not None:
                self._reject(lane.span, "the depth of a send queue is not written", "leave `depth` out")

    def _starts(self, thread: ast.ThreadDeclaration, statement: ast.StartStatement) -> None:
        started, starter = statement.thread.text, thread.name.text
        if self.places[started] != thread.node.text:
            self._reject(statement.span, "a thread of another node cannot be created", "let it wait for a message or a word")
        elif self.starters.setdefault(started, starter) != starter:
            self._reject(statement.span, f"`{started}` is created by one thread", "let one thread start it")

    def _reject(self, span: Span, message: str, hint: str) -> None:
        self.given.refuse(NotInCError(span, message, hint))

    # words

    def object_of(self, node: str, name: str) -> str:
        """Return the object of a node that has one of its variables."""
        return (self.relaxed if self.given.words_of(node)[name][0].relaxed else self.objects)[node]

    def word(self, thread: ast.ThreadDeclaration, name: str, index: str) -> str:
        place = f"{self.object_of(thread.node.text, name)}.{field_name(name)}"
        return f"{place}[{index}]" if index else place

    def far_word(self, writer: ThreadWriter, ref: ast.Ref) -> str:
        """Return the address of a word of another node."""
        assert ref.owner is not None
        found = self.object_of(ref.owner.text, ref.name.text)
        self.reached.setdefault(writer.written.node.text, set()).add(found)
        index = "" if ref.index is None else f"[{writer.expression(ref.index)}]"
        return f"&{self.remote[found]}->{field_name(ref.name.text)}{index}"

    def _source(self, writer: ThreadWriter, source: ast.Expr, *, inline: bool) -> tuple[list[str], str]:
        """Return the lines before a request that carries data, and the address of the data."""
        if isinstance(source, ast.Ref) and writer.words(source) == [source]:
            return [], writer.address(source)
        if inline:
            value = writer.local("inlined")
            return [f"{value} = {writer.expression(source)};"], f"&{value}"
        return [], f"&{self._constant(source)}"

    def _constant(self, source: ast.Expr) -> str:
        value = self.given.constant(source)
        if value not in self.constants:
            self.constants[value] = self.given.name(f"value_{value}".replace("-", "minus_"))
        return self.constants[value]

    # queue pairs

    def pair(self, thread: str, place: str) -> VerbsPair:
        """Return the queue pair of a thread to a node, or under the name of a lane."""
        key = thread, place
        if key not in self.connections:
            lane = self.lanes.get(key)
            to = place if lane is None else lane.node.text
            name = self.given.name(f"{thread}_to_{place}".replace("[", "_").rstrip("]"))
            far = self.given.name(f"{to}_from_{thread}")
            self.connections[key] = VerbsPair(name, self.places[thread], far, to)
        return self.connections[key]

    def _place(self, name: ast.Ident) -> str:
        """Return the name of a node or a lane, with its number if it is one of several."""
        return name.text if name.index is None else f"{name.text}[{self.given.constant(name.index)}]"

    def _of_request(self, writer: ThreadWriter, node: str, flags: tuple[ast.Flag, ...]) -> VerbsPair:
        lane = next((self._place(flag.lane) for flag in flags if flag.lane is not None), node)
        return self.pair(writer.written.name.text, lane)

    def _sent_to(self, writer: ThreadWriter, to: ast.Ident, flags: tuple[ast.Flag, ...]) -> VerbsPair:
        found = self._of_request(writer, self.places[to.text], flags)
        return self._received_by(found, to.text, to.span)

    def _received(self, writer: ThreadWriter, sender: ast.Ident, on: ast.Flag | None) -> VerbsPair:
        own = writer.written
        place = own.node.text if on is None or on.lane is None else self._place(on.lane)
        return self._received_by(self.pair(sender.text, place), own.name.text, sender.span)

    def _received_by(self, pair: VerbsPair, receiver: str, span: Span) -> VerbsPair:
        if pair.receiver not in ("", receiver):
            message = f"messages to `{pair.receiver}` and to `{receiver}` go on one queue pair, which ends at one thread"
            raise NotInCError(span, message, "a lane for each: `qp a to NODE, b to NODE`")
        pair.receiver = receiver
        return pair

    def _flags(self, writer: ThreadWriter, pair: VerbsPair, flags: tuple[ast.Flag, ...]) -> tuple[str, list[str]]:
        words = {flag.word for flag in flags}
        is_signaled = "unsignaled" not in words and pair.near not in writer.unpolled
        found = ["IBV_SEND_SIGNALED"] if is_signaled else []
        found += [text for word, text in _FLAGS.items() if word in words]
        fences = writer.fences.get(pair.near)
        if fences is None:
            return " | ".join(found) or "0", []
        return " | ".join([*found, fences]), [f"{fences} = 0;"]

    def _call(self, helper: str, *arguments: str | int) -> str:
        self.used[helper] = None
        return f"{helper}({', '.join(map(str, arguments))})"

    # statements

    def begin(self, writer: ThreadWriter) -> None:
        found, name = list(statements_in(writer.written.body)), writer.written.name.text
        for statement in found:
            if isinstance(statement, ast.RFenceStatement):
                place = self._place(statement.node)
                writer.fences[self.pair(name, place).near] = writer.local(
                    f"fence_{place}".replace("[", "_").rstrip("]"), "int"
                )
        if any(isinstance(each, ast.While | ast.Loop) for each in found) and self.given.program.hardware.send_depth is None:
            polled = {self._place(node) for each in found for node in _polled(each)}
            pairs = self.connections.items()
            writer.unpolled = {pair.near for (thread, place), pair in pairs if thread == name and place not in polled}

    def request(self, writer: ThreadWriter, statement: ast.Statement) -> Iterable[str]:
        match statement:
            case ast.PutStatement():
                return self._put(writer, statement)
            case ast.GetStatement(target, source, flags=flags):
                return self._get(writer, target, source, flags)
            case ast.SendStatement(source, to, flags=flags, last=last):
                pair, count = self._sent_to(writer, to, flags), self.given.count(source, last)
                return self._posted(writer, pair, "IBV_WR_SEND", source, flags, length=8 * count)
            case ast.PollStatement(node, count=count):
                take = f"{self._taken(writer, node)};"
                times = 1 if count is None else self.given.constant(count)
                return [take] if times == 1 else [f"for (int taken = 0; taken < {times}; taken++)", f"\t{take}"]
            case ast.TryPoll(target, node):
                pair = self.pair(writer.written.name.text, self._place(node))
                return [f"{writer.place(target)} = {self._call('try_take', f'{pair.near}_sent')};"]
            case ast.PollAny():
                return self._poll_any(writer, statement)
            case ast.RFenceStatement(node):
                pair = self.pair(writer.written.name.text, self._place(node))
                return [f"{writer.fences[pair.near]} = IBV_SEND_FENCE;"]
            case ast.PostedStatement(buffers, sender, on=on):
                pair = self._received(writer, sender, on)
                self.used["post_receive"] = None
                pair.posted += [(writer.address(each.first), self.given.count(each.first, each.last)) for each in buffers]
                return ()
            case ast.RecvStatement(buffer, sender, on=on):
                pair = self._received(writer, sender, on)
                length = 8 * self.given.count(buffer.first, buffer.last)
                return [f"{self._call('post_receive', pair.far, writer.address(buffer.first), length)};"]
            case ast.RecvPollStatement(sender, target, on=on):
                pair = self._received(writer, sender, on)
                taken = self._call("take", f"{pair.far}_received")
                return [f"{taken};" if target is None else f"{writer.place(target)} = {taken};"]
            case ast.StartStatement(thread):
                return [f"pthread_create(&{self._handle(writer, thread)}, 0, {thread.text}, 0);"]
            case ast.JoinStatement(thread):
                if self.starters.get(thread.text) != writer.written.name.text:
                    raise NotInCError(statement.span, "a thread is joined by the one that created it", "`start` it here")
                return [f"pthread_join({self._handle(writer, thread)}, 0);"]
            case ast.Call(call):
                message = "an atomic of verbs writes the old value somewhere"
                raise NotInCError(statement.span, message, f"get x = {printer.expression(call)}")
            case _:
                message, hint = _REFUSED.get(type(statement), _UNKNOWN)
                raise NotInCError(statement.span, message, hint)

    @staticmethod
    def _handle(writer: ThreadWriter, thread: ast.Ident) -> str:
        return writer.local(f"thread_{thread.text}", "pthread_t")

    def _taken(self, writer: ThreadWriter, place: ast.Ident) -> str:
        return self._call("take", f"{self.pair(writer.written.name.text, self._place(place)).near}_sent")

    def _poll_any(self, writer: ThreadWriter, statement: ast.PollAny) -> Iterator[str]:
        yield "for (;;) {"
        for number, node in enumerate(statement.nodes):
            pair = self.pair(writer.written.name.text, self._place(node))
            yield f"\tif ({self._call('try_take', f'{pair.near}_sent')}) {{"
            if statement.target is not None:
                yield f"\t\t{writer.place(statement.target)} = {number};"
            yield "\t\tbreak;"
            yield "\t}"
        yield "}"

    def _put(self, writer: ThreadWriter, statement: ast.PutStatement) -> Iterable[str]:
        assert statement.target.owner is not None
        node, imm = statement.target.owner.text, statement.imm
        far = self.far_word(writer, statement.target)
        if imm is None:
            pair = self._of_request(writer, node, statement.flags)
            return self._posted(writer, pair, "IBV_WR_RDMA_WRITE", statement.source, statement.flags, far=far)
        pair = self._sent_to(writer, imm.to, statement.flags)
        number = writer.expression(imm.value)
        opcode = "IBV_WR_RDMA_WRITE_WITH_IMM"
        return self._posted(writer, pair, opcode, statement.source, statement.flags, far=far, number=number)

    def _posted(
        self,
        writer: ThreadWriter,
        pair: VerbsPair,
        opcode: str,
        source: ast.Expr,
        flags: tuple[ast.Flag, ...],
        *,
        far: str = "0",
        length: int = 8,
        number: str = "0",
    ) -> list[str]:
        before, own = self._source(writer, source, inline=any(flag.word == "inline" for flag in flags))
        words, after = self._flags(writer, pair, flags)
        return [*before, f"{self._call('post', pair.near, opcode, words, own, far, length, number)};", *after]

    def _get(self, writer: ThreadWriter, target: ast.Ref, source: ast.Expr, flags: tuple[ast.Flag, ...]) -> list[str]:
        own = writer.address(target)
        remote = source if isinstance(source, ast.Ref) else source.target  # type: ignore[union-attr] # an atomic, else
        assert remote.owner is not None
        pair = self._of_request(writer, remote.owner.text, flags)
        words, after = self._flags(writer, pair, flags)
        far = self.far_word(writer, remote)
        match source:
            case ast.Ref():
                call = self._call("post", pair.near, "IBV_WR_RDMA_READ", words, own, far, 8, 0)
            case ast.CasCall(_, expected, new):
                values = [self._operand(writer, each) for each in (expected, new)]
                call = self._call("post_atomic", pair.near, "IBV_WR_ATOMIC_CMP_AND_SWP", words, own, far, *values)
            case ast.RmwCall("faa", _, value):
                added = self._operand(writer, value)
                call = self._call("post_atomic", pair.near, "IBV_WR_ATOMIC_FETCH_AND_ADD", words, own, far, added, 0)
            case _:
                raise NotInCError(source.span, "verbs have no such atomic", "cas and faa are there")
        return [f"{call};", *after]

    def _operand(self, writer: ThreadWriter, operand: ast.Expr) -> str:
        if writer.words(operand):
            message = "an atomic of verbs takes its operands along, and does not read them in memory"
            raise NotInCError(operand.span, message, "read it into a register first")
        return writer.expression(operand)

    def chosen(self, target: str, low: str, high: str) -> str:
        return f"RR_INPUT({target}, {low}, {high});"

    def awaited(self, word: str, comparison: str, value: str, *, aside: bool) -> str:
        return f"{'RR_ASSUME_WORD' if aside else 'RR_AWAIT'}({word}, {comparison}, {value});"

    def assumed(self, condition: str, span: Span) -> str:
        del span
        return f"RR_ASSUME({condition});"

    def asserted(self, condition: str) -> str:
        return f"RR_ASSERT({condition});"
