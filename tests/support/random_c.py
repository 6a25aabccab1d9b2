"""Random programs twice: as `.rdma`, and as C with verbs, statement by statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

WORDS = ("x", "y", "z")
REGISTERS = ("r0", "r1")
HEAD = """
#include <infiniband/verbs.h>
#include <rdma_robust.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
struct memory {{ long x, y, z, b0, b1, out_r0, out_r1; }};
static struct memory m;
static struct ibv_cq *sent, *received, *sent_too;
static struct ibv_qp *qp, *first, *second;
static void post(int opcode, int flags, void *from, void *to, int length, long a, long b, int number)
{{
	struct ibv_sge sge = {{ .addr = (uintptr_t)from, .length = length, .lkey = 1 }};
	struct ibv_send_wr wr, *bad;
	memset(&wr, 0, sizeof wr);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = opcode;
	wr.send_flags = flags;
	wr.imm_data = number;
	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {{
		wr.wr.atomic.remote_addr = (uintptr_t)to;
		wr.wr.atomic.compare_add = a;
		wr.wr.atomic.swap = b;
	}} else
		wr.wr.rdma.remote_addr = (uintptr_t)to;
	ibv_post_send(qp, &wr, &bad);
}}
static void post_receive(void *to, int length)
{{
	struct ibv_sge sge = {{ .addr = (uintptr_t)to, .length = length, .lkey = 1 }};
	struct ibv_recv_wr wr = {{ .sg_list = &sge, .num_sge = 1 }}, *bad;
	ibv_post_recv(qp, &wr, &bad);
}}
static int take(struct ibv_cq *cq)
{{
	struct ibv_wc wc;
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	return wc.wc_flags & IBV_WC_WITH_IMM ? (int)wc.imm_data : 0;
}}
static void set_up(const char *mine, const char *theirs, struct memory **there)
{{
	{hardware}
	RR_EXPORT(mine, &m);
	RR_IMPORT(*there, theirs);
	RR_CQ(sent);
	RR_CQ(received);
	RR_QP(qp, sent, received);
	RR_CQ(sent_too);
	RR_QP(second, sent_too, received);
	first = qp;
}}
"""


@dataclass(slots=True)
class Side:
    """One process: what its thread does, in both languages, and what is outstanding."""

    name: str
    other: str
    c: list[str] = field(default_factory=list)
    rdma: list[str] = field(default_factory=list)
    signaled: int = 0
    signaled_too: int = 0
    arrivals: int = 0

    def add(self, c: str, rdma: str) -> None:
        """Add a statement."""
        self.c.append(c)
        self.rdma.append(rdma)


@dataclass(frozen=True, slots=True)
class Twin:
    """A program as `.rdma` and as C."""

    rdma: str
    c: str
    used: frozenset[str]


class _Maker:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.used: set[str] = set()
        self.sides = (Side("A", "B"), Side("B", "A"))

    def flags(self, side: Side, *, inline: bool = False) -> tuple[str, str]:
        """Return flags of a request in both languages; a signaled one can be polled."""
        c, rdma = [], []
        if inline:
            c.append("IBV_SEND_INLINE")
            rdma.append("inline")
        if self.random.random() < 0.6:
            c.append("IBV_SEND_SIGNALED")
            side.signaled += 1
        else:
            rdma.append("unsignaled")
        if self.random.random() < 0.15:
            c.append("IBV_SEND_FENCE")
            rdma.append("fenced")
        self.used |= set(rdma)
        return " | ".join(c) or "0", "".join(f" {each}" for each in rdma)

    def word(self) -> str:
        return self.random.choice(WORDS)

    def write(self, side: Side) -> None:
        word, value = self.word(), self.random.randint(1, 3)
        side.add(f"m.{word} = {value};", f"m_{word} = {value}")

    def read(self, side: Side) -> None:
        word, register = self.word(), self.random.choice(REGISTERS)
        side.add(f"{register} = m.{word};", f"{register} = m_{word}")

    def copy(self, side: Side) -> None:
        word, register = self.word(), self.random.choice(REGISTERS)
        side.add(f"m.{word} = {register};", f"m_{word} = {register}")

    def put(self, side: Side) -> None:
        here, there = self.word(), self.word()
        inline = self.random.random() < 0.2
        c, rdma = self.flags(side, inline=inline)
        side.add(f"post(IBV_WR_RDMA_WRITE, {c}, &m.{here}, &there->{there}, 8, 0, 0, 0);",
                 f"put {side.other}.m_{there} = m_{here}{rdma}")  # fmt: skip

    def put_value(self, side: Side) -> None:
        there, value = self.word(), self.random.choice(("2", "3", *REGISTERS))
        c, rdma = self.flags(side, inline=True)
        side.add(f"{{ long v = {value}; post(IBV_WR_RDMA_WRITE, {c}, &v, &there->{there}, 8, 0, 0, 0); }}",
                 f"put {side.other}.m_{there} = {value}{rdma}")  # fmt: skip

    def get(self, side: Side) -> None:
        here, there = self.word(), self.word()
        c, rdma = self.flags(side)
        side.add(f"post(IBV_WR_RDMA_READ, {c}, &m.{here}, &there->{there}, 8, 0, 0, 0);",
                 f"get m_{here} = {side.other}.m_{there}{rdma}")  # fmt: skip

    def put_pair(self, side: Side) -> None:
        """Two words at once: a write of each, of which the last is signaled."""
        here, there = self.random.choice((0, 1)), self.random.choice((0, 1))
        c, rdma = self.flags(side)
        words = [(WORDS[here + each], WORDS[there + each]) for each in (0, 1)]
        first = " unsignaled" + " fenced" * ("fenced" in rdma)
        side.add(f"post(IBV_WR_RDMA_WRITE, {c}, &m.{words[0][0]}, &there->{words[0][1]}, 16, 0, 0, 0);",
                 f"put {side.other}.m_{words[0][1]} = m_{words[0][0]}{first}\n"
                 f"  put {side.other}.m_{words[1][1]} = m_{words[1][0]}{rdma.replace(' fenced', '')}")  # fmt: skip
        self.used.add("pair")

    def put_on_lane(self, side: Side) -> None:
        here, there = self.word(), self.word()
        signaled = self.random.random() < 0.5
        side.signaled_too += signaled
        flags = "IBV_SEND_SIGNALED" if signaled else "0"
        side.add(f"qp = second; post(IBV_WR_RDMA_WRITE, {flags}, &m.{here}, &there->{there}, 8, 0, 0, 0); qp = first;",
                 f"put {side.other}.m_{there} = m_{here} on d{'' if signaled else ' unsignaled'}")  # fmt: skip
        self.used.add("lane")

    def poll_lane(self, side: Side) -> None:
        if side.signaled_too:
            side.signaled_too -= 1
            side.add("take(sent_too);", "poll d")

    def swap(self, side: Side) -> None:
        here, there, a, b = self.word(), self.word(), self.random.randint(0, 2), self.random.randint(1, 3)
        c, rdma = self.flags(side)
        side.add(f"post(IBV_WR_ATOMIC_CMP_AND_SWP, {c}, &m.{here}, &there->{there}, 8, {a}, {b}, 0);",
                 f"get m_{here} = cas({side.other}.m_{there}, {a}, {b}){rdma}")  # fmt: skip
        self.used.add("remote atomic")

    def poll(self, side: Side) -> None:
        if side.signaled:
            side.signaled -= 1
            side.add("take(sent);", f"poll {side.other}")
            self.used.add("poll")

    def local_swap(self, side: Side) -> None:
        word, a, b, register = (
            self.word(),
            self.random.randint(0, 2),
            self.random.randint(1, 3),
            self.random.choice(REGISTERS),
        )
        side.add(f"{register} = __sync_val_compare_and_swap(&m.{word}, {a}, {b});", f"{register} = cas(m_{word}, {a}, {b})")
        self.used.add("local atomic")

    def fence(self, side: Side) -> None:
        side.add("atomic_thread_fence(memory_order_seq_cst);", "mfence")

    def branch(self, side: Side) -> None:
        register, value = self.random.choice(REGISTERS), self.random.randint(0, 2)
        inner = Side(side.name, side.other)
        for _ in range(self.random.randint(1, 2)):
            self.random.choice((self.write, self.read, self.copy))(inner)
        side.c += [f"if ({register} == {value}) {{", *inner.c, "}"]
        side.rdma += [f"if {register} == {value} {{", *inner.rdma, "}"]
        self.used.add("branch")

    def message(self, side: Side) -> None:
        """A message that finds one of two buffers; the other side may wait for it."""
        other = next(each for each in self.sides if each is not side)
        if other.arrivals == (1 if self.kind == "wide" else 2):
            return
        other.arrivals += 1
        c, rdma = self.flags(side)
        first = " unsignaled" + " fenced" * ("fenced" in rdma)
        last = rdma.replace(" fenced", "")
        if self.kind == "wide":
            side.add(f"post(IBV_WR_SEND, {c}, &m.x, 0, 16, 0, 0, 0);",
                     f"send m_x to {side.other}T{first}\n  send m_y to {side.other}T{last}")  # fmt: skip
            self.used.add("wide")
        elif self.kind == "send imm":
            here, number = self.word(), self.random.randint(1, 3)
            side.add(f"post(IBV_WR_SEND_WITH_IMM, {c}, &m.{here}, 0, 8, 0, 0, {number});",
                     f"send m_{here} to {side.other}T{first}\n"
                     f"  put {side.other}.unread = 0 inline{last} imm {number} to {side.other}T")  # fmt: skip
            self.used.add("data and number")
        elif self.kind == "write imm":
            there, number = self.word(), self.random.randint(1, 3)
            here = self.word()
            side.add(f"post(IBV_WR_RDMA_WRITE_WITH_IMM, {c}, &m.{here}, &there->{there}, 8, 0, 0, {number});",
                     f"put {side.other}.m_{there} = m_{here}{rdma} imm {number} to {side.other}T")  # fmt: skip
        else:
            here = self.word()
            side.add(f"post(IBV_WR_SEND, {c}, &m.{here}, 0, 8, 0, 0, 0);", f"send m_{here} to {side.other}T{rdma}")
        self.used.add("message")

    def arrive(self, side: Side) -> None:
        """Wait for a message that is sent in any case."""
        register = self.random.choice(REGISTERS)
        more = f"rpoll {side.other}T\n  "
        if self.kind == "wide":
            side.add("take(received);", f"{more}rpoll {side.other}T")
        elif self.kind == "send imm":
            side.add(f"{register} = take(received);", f"{more}{register} = rpoll {side.other}T")
        elif self.kind == "write imm":
            side.add(f"{register} = take(received);", f"{register} = rpoll {side.other}T")
        else:
            side.add("take(received);", f"rpoll {side.other}T")
        self.used.add("rpoll")

    def program(self, size: int) -> Twin:
        """Return a program with so many statements in all."""
        random = self.random
        self.kind = random.choice(("send", "send", "write imm", "write imm", "wide", "send imm"))
        makers: list[Callable[[Side], None]] = [
            self.write, self.read, self.read, self.copy, self.put, self.put, self.put_value, self.get, self.swap, self.poll,
            self.poll, self.local_swap, self.fence, self.branch, self.put_pair, self.put_on_lane, self.poll_lane,
        ]  # fmt: skip
        with_messages = random.random() < 0.3
        for _ in range(size):
            random.choice(makers)(random.choice(self.sides))
        if with_messages:
            for _ in range(random.randint(1, 2)):
                self.message(random.choice(self.sides))
            for side in self.sides:
                for _ in range(random.randint(0, side.arrivals)):
                    at = random.randint(0, len(side.c))
                    if side.c[:at].count("}") == sum(line.startswith("if (") for line in side.c[:at]):
                        tail = side.c[at:], side.rdma[at:]
                        del side.c[at:], side.rdma[at:]
                        self.arrive(side)
                        side.c += tail[0]
                        side.rdma += tail[1]
        tso = random.random() < 0.3
        self.used |= {"tso"} if tso else set()
        return Twin(self.rdma(tso), self.c(tso), frozenset(self.used))

    def rdma(self, tso: bool) -> str:
        lines = ["hardware cpu tso"] if tso else []
        names = ", ".join(f"m_{each}" for each in (*WORDS, "b0", "b1", "out_r0", "out_r1"))
        for side in self.sides:
            lines.append(f"node {side.name} {{ {names}, nothing, unread }}")
        for side in self.sides:
            lines += [f"thread {side.name}T on {side.name} {{", "  reg r0, r1"]
            lines += ["  qp d to " + side.other] * any(" on d" in each for each in side.rdma)
            buffers = "m_b0, nothing, m_b1, nothing" if self.kind == "send imm" else "m_b0, m_b1"
            lines += [f"  posted {buffers} from {side.other}T"] * (side.arrivals > 0)
            lines += [f"  {line}" for line in side.rdma]
            lines += ["  m_out_r0 = r0", "  m_out_r1 = r1", "}"]
        return "\n".join(lines) + "\n"

    def c(self, tso: bool) -> str:
        text = HEAD.format(hardware='RR_HARDWARE("cpu tso");' if tso else "")
        for side in self.sides:
            text += f"RR_PROCESS({side.name}) void {side.name}T(void)\n{{\n\tstruct memory *there;\n\tlong r0 = 0, r1 = 0;\n"
            text += f'\tset_up("{side.name}", "{side.other}", &there);\n'
            text += "\tibv_reg_mr(0, &m, sizeof m, IBV_ACCESS_LOCAL_WRITE);\n"
            posted = ("&m.b0, 16",) if self.kind == "wide" else ("&m.b0, 8", "&m.b1, 8")
            text += "".join(f"\tpost_receive({each});\n" for each in posted) * (side.arrivals > 0)
            text += '\tRR_CONNECT(qp, "c");\n\tRR_CONNECT(second, "d");\n'
            text += "".join(f"\t{line}\n" for line in side.c)
            text += "\tm.out_r0 = r0;\n\tm.out_r1 = r1;\n}\n"
        return text


def random_twin(seed: int, size: int = 7) -> Twin:
    """Return the program of a seed."""
    return _Maker(Random(seed)).program(size)
