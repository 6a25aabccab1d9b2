"""The statements that the events of a recorded run become, thread by thread, in the order of the run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rdma_robust.record.card_events import ADD, ATOMIC, FENCE, INLINE, READ, SEND, SEND_IMM, SIGNALED, WRITE_IMM
from rdma_robust.record.memory_words import EventPlaces, MemoryWord, pairs_of
from rdma_robust.record.recorded_log import LoggedAccess, LoggedEvent, LoggedRequest, ThreadKey
from rdma_robust.record.recorded_order import OrderEdge
from rdma_robust.record.recorded_program import RecordedProgram
from rdma_robust.record.replayed_run import parts_of


class RecordedStatements:
    """Writes the statements of a run into the threads of its program. Raises UsageError for what the language lacks."""

    def __init__(self, program: RecordedProgram, told: EventPlaces) -> None:
        self.program = program
        self.told = told
        self.added = 0
        """The sum of all that remote atomics add."""
        run = program.run
        self._repeated = self._spins()
        self._begun = {event.words[0]: event.thread for event in run.events if event.kind == "b"}
        self._before: dict[int, list[OrderEdge]] = defaultdict(list)
        self._after: dict[int, list[OrderEdge]] = defaultdict(list)
        for edge in program.order.edges:
            self._before[edge.before.number].append(edge)
            self._after[edge.after.number].append(edge)

    def write(self) -> None:
        """Write them all."""
        for event in self.program.run.written or self.program.run.events:
            for edge in self._after[event.number]:
                self.program.add(event, f"await {self._told_word(edge)} == 1")
            if event.number in self.program.run.turns:
                self.program.add(event, "mfence")
            access = self.program.accesses.get(event.number)
            if access is not None:
                self._access(access)
            elif event.kind == "P" and event.number in self.program.card.requests:
                self._request(self.program.card.requests[event.number])
            elif event.kind == "V" and event.number in self.program.card.taken:
                self._receive(event, self.program.card.taken[event.number])
            elif event.kind == "C":
                self._completion(event)
            else:
                self._thread_order(event)
            for edge in self._before[event.number]:
                self._tell(edge)

    def _spins(self) -> set[int]:
        """Return the numbers of reads that are made again at once, at the same place: what they saw was not waited for."""
        found, last = set[int](), dict[ThreadKey, LoggedEvent]()
        for event in self.program.run.events:
            if event.kind == "S" and (before := last.get(event.thread)) is not None and before.kind in ("R", "S"):
                found.add(before.number)
            if event.kind != "E":
                last[event.thread] = event
        return found

    def _access(self, access: LoggedAccess) -> None:
        event, program = access.event, self.program
        if event.number in self._repeated and program.drops_failed:
            return
        for word, old, new in parts_of(access, program.words):
            if not program.replay.matters(word):
                continue
            name = program.word(word)
            before, behind = (None if each is None else program.value(each) for each in (old, new))
            if access.wanted is not None:
                compared, wanted = map(program.value, access.wanted)
                program.got(event, f"cas({name}, {compared}, {wanted})", before or 0)
            elif before is not None and behind is not None:
                program.got(event, f"cas({name}, {before}, {behind})", before)
            elif before is not None:
                if access.repeats and event.number not in self._repeated:
                    program.add(event, f"await {name} == {before}")
                else:  # it may see anything; what the thread does then is not known
                    program.got(event, name, before)
            else:
                program.add(event, f"{name} = {behind}")
            if access.kind == "s":
                program.add(event, "mfence")

    def _request(self, request: LoggedRequest) -> None:
        program, event = self.program, request.event
        pairs = [pair for pair in self._pairs(request) if pair[1] in program.words.kept]
        there = program.peer(request.qp).process
        remote, message = f"{program.nodes[there]}", ""
        if request.opcode in (SEND, SEND_IMM):
            texts = self._sent(request, pairs)
        elif pairs:
            texts = [self._carried(request, source, target) for source, target in pairs]
        elif request.opcode == READ:
            texts = [(f"get {program.empty(event.thread[0])} = {remote}.{program.empty(there)}", "")]
        else:
            texts = []
        if request.opcode in (WRITE_IMM, SEND_IMM):
            message = f" imm {program.value(request.immediate)} to {self._receiver(request)}"
        if not texts or request.opcode == SEND_IMM:  # a write of nothing, and a number beside the words of a message
            texts.append((f"put {remote}.{program.empty(there)} = 0", " inline"))
        lane = program.on_lane(request.qp)
        last = "" if request.flags & SIGNALED else " unsignaled"
        for index, (text, inline) in enumerate(texts):
            first = " fenced" if request.flags & FENCE and index == 0 else ""
            is_last = index == len(texts) - 1
            program.add(event, f"{text}{lane}{inline}{first}{f'{last}{message}' if is_last else ' unsignaled'}")

    def _pairs(self, request: LoggedRequest) -> Iterator[tuple[MemoryWord | None, MemoryWord]]:
        """Yield what a request carries: from where to where."""
        for transfer in self.program.card.transfers[request.event.number]:
            yield from pairs_of(self.program.words, transfer)

    def _sent(self, request: LoggedRequest, pairs: list[tuple[MemoryWord | None, MemoryWord]]) -> list[tuple[str, str]]:
        """Return the messages for the words of a message, each of which is one, as for C that is read
        (:mod:`rdma_robust.c.evaluate.verbs.sent_words`), and ` inline` for those that the processor reads."""
        receiver, inline = self._receiver(request), " inline" if request.flags & INLINE else ""
        if not pairs and request.opcode == SEND:
            return [(f"send 0 to {receiver}", " inline")]
        return [(f"send {self._data(request, *pair)} to {receiver}", inline) for pair in pairs]

    def _carried(self, request: LoggedRequest, source: MemoryWord | None, target: MemoryWord) -> tuple[str, str]:
        """Return the statement that carries one word, and ` inline` if the processor reads it."""
        program = self.program
        node = program.nodes[target.process]
        if request.opcode == READ or request.opcode in ATOMIC:
            assert source is not None
            remote = f"{program.nodes[source.process]}.{program.word(source)}"
            if request.opcode == ADD:
                added = program.value(request.compare)
                self.added += abs(added)
                remote = f"faa({remote}, {added})"
            elif request.opcode in ATOMIC:
                remote = f"cas({remote}, {program.value(request.compare)}, {program.value(request.swap)})"
            return f"get {program.word(target)} = {remote}", ""
        inline = " inline" if request.flags & INLINE else ""
        return f"put {node}.{program.word(target)} = {self._data(request, source, target)}", inline

    def _data(self, request: LoggedRequest, source: MemoryWord | None, target: MemoryWord) -> str:
        """Return the word that is sent, or its value where it never changes or was in the request."""
        program = self.program
        if source is not None:
            if source in program.replay.written:
                return program.word(source)
            return str(program.value(program.replay.initial.get(source, 0)))
        at = 0
        for transfer in program.card.transfers[request.event.number]:
            inside = target.address - transfer.target.address
            if transfer.target.process == target.process and 0 <= inside < transfer.target.length:
                assert request.data is not None
                data = request.data[at + inside : at + inside + target.size]
                return str(program.value(int.from_bytes(data, "little")))
            at += transfer.target.length
        raise AssertionError("a word is not of the request that carries it")

    def _receiver(self, request: LoggedRequest) -> str:
        receives = self.program.peer(request.qp).receives
        assert receives is not None, "a message that took a receive"
        return self.program.threads[receives].name

    def _buffers(self, request: LoggedRequest) -> list[MemoryWord | None]:
        """Return where the messages go that a message is, None for one without data."""
        words = [] if request.opcode == WRITE_IMM else [word for _, word in self._pairs(request)]
        found: list[MemoryWord | None] = [word for word in words if word in self.program.words.kept]
        return found if found and request.opcode == SEND else [*found, None]

    def _receive(self, event: LoggedEvent, request: LoggedRequest) -> None:
        program = self.program
        sender = f"{program.threads[request.event.thread].name}{program.on_lane(request.qp)}"
        for word in self._buffers(request):
            buffer = program.empty(event.thread[0]) if word is None else program.word(word)
            program.add(event, f"recv {buffer} from {sender}")

    def _completion(self, event: LoggedEvent) -> None:
        program, number = self.program, int(event.words[0])
        qp = program.card.queue_pairs[number]
        if event.words[1] == "0":
            program.add(event, f"poll {program.target(qp)}")
            return
        request = program.card.arrived[qp.queue].popleft()
        text = f"rpoll {program.threads[request.event.thread].name}{program.on_lane(request.qp)}"
        for _ in self._buffers(request)[1:]:
            program.add(event, text)
        if event.words[2] == "1":
            program.got(event, text, program.value(event.hexadecimal(3)))
        else:
            program.add(event, text)

    def _thread_order(self, event: LoggedEvent) -> None:
        """Write what orders threads of one process by itself: fences, starts and ends of threads, barriers."""
        program = self.program
        about = event.words[0] if event.words else ""
        if event.kind in ("F", "L", "U"):  # taking a mutex, and giving it back, is an atomic operation
            program.add(event, "mfence")
        elif event.kind in ("c", "j") and about in self._begun and event.words[1] == "0":
            child = program.threads[self._begun[about]]
            program.add(event, f"{'start' if event.kind == 'c' else 'join'} {child.name}")
        elif event.kind == "B" and len(set(met := program.order.barriers.get(event.number, ()))) > 1:
            program.add(event, f"barrier {', '.join(program.threads[each].name for each in met)}")

    def _told_word(self, edge: OrderEdge) -> str:
        program, process = self.program, edge.after.thread[0]
        name = program.names[process].name(("told", edge.before.number, edge.after.number), "told")
        program.declared[process][name] = 0
        program.synchronising.add((process, name))
        return name

    def _tell(self, edge: OrderEdge) -> None:
        """Write what lets another thread go on: nothing orders it with what the card still does."""
        program, word = self.program, self._told_word(edge)
        here, there = edge.before.thread[0], edge.after.thread[0]
        if here == there:
            program.add(edge.before, f"{word} = 1" if edge.before.kind == "u" else f"swap({word}, 1)")
        else:
            lane = program.lane(edge.before.thread, there, "tell")
            program.add(edge.before, f"put {program.nodes[there]}.{word} = 1 on {lane} inline")
