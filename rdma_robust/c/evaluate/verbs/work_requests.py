"""Work requests as the program writes them: of `ibv_post_send`, of `ibv_wr_*`, and of librdmacm's short forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rdma_robust.c.evaluate.c_values import Value, is_unset, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, as_number, further
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import Request, Segment
from rdma_robust.c.evaluate.verbs.posts import posted
from rdma_robust.c.evaluate.verbs.records import connected_at, field_value, number_field, optional

FENCE, SIGNALED, INLINE = 1, 2, 8
_LONGEST_LIST = 64
_OPCODES = {0: "write", 1: "write imm", 2: "send", 3: "send imm", 4: "read", 5: "cas", 6: "faa"}
_NOT_MODELLED = {7: "LOCAL_INV", 8: "BIND_MW", 9: "SEND_WITH_INV", 10: "TSO", 11: "DRIVER1", 14: "FLUSH", 15: "ATOMIC_WRITE"}


def segments_of(call: CallContext, record: str, address: Value) -> tuple[Segment, ...]:
    """Return the buffers of a work request."""
    count = number_field(call, record, address, "num_sge")
    first = field_value(call, record, address, "sg_list") if count else 0
    size = call.run.world.size_of("struct ibv_sge")
    found: list[Segment] = []
    for index in range(count):
        at = further(first, size * index)
        length = number_field(call, "ibv_sge", at, "length")
        if length:
            name, offset = call.run.address(field_value(call, "ibv_sge", at, "addr"), "`sge.addr`")
            found.append((name, offset, length))
    return tuple(found)


def list_of(call: CallContext, record: str, first: Value) -> list[Value]:
    """Return the addresses of the work requests of a list. Raises RR817 for one without end."""
    found: list[Value] = []
    at: Value = known_scalar(first)
    while at != 0:
        if len(found) >= _LONGEST_LIST:
            raise Refusal("RR817", "this list of work requests does not end", "the last one has `next` = NULL")
        found.append(at)
        following = field_value(call, record, at, "next")
        if is_unset(following):
            raise Refusal("RR811", f"`next` of this `struct {record}` has no value", "memset it to zero before")
        at = known_scalar(following)
    return found


def _request(call: CallContext, address: Value) -> Request:
    opcode = number_field(call, "ibv_send_wr", address, "opcode")
    if opcode not in _OPCODES:
        name = _NOT_MODELLED.get(opcode, str(opcode))
        raise Refusal("RR814", f"opcode {name} is not modelled", "WRITE, READ, SEND, their immediates, and atomics are")
    kind, _, immediate = _OPCODES[opcode].partition(" ")
    flags = number_field(call, "ibv_send_wr", address, "send_flags")
    remote: Value = 0
    operands: tuple[Value, ...] = ()
    if kind in ("write", "read"):
        remote = field_value(call, "ibv_send_wr", address, "wr.rdma.remote_addr")
    if kind in ("cas", "faa"):
        remote = field_value(call, "ibv_send_wr", address, "wr.atomic.remote_addr")
        names = ("compare_add", "swap") if kind == "cas" else ("compare_add",)
        operands = tuple(field_value(call, "ibv_send_wr", address, f"wr.atomic.{name}") for name in names)
    return Request(
        kind,
        optional(call, "ibv_send_wr", address, "wr_id"),
        segments_of(call, "ibv_send_wr", address),
        remote,
        operands,
        field_value(call, "ibv_send_wr", address, "imm_data") if immediate else None,
        bool(flags & SIGNALED),
        bool(flags & INLINE),
        bool(flags & FENCE),
    )


def _post_send(call: CallContext) -> Result:
    name, _ = connected_at(call, call.arguments[0])
    requests = [_request(call, each) for each in list_of(call, "ibv_send_wr", call.arguments[1])]
    return posted(call, name, requests) if requests else 0


# ibv_wr_start .. ibv_wr_complete


def _begin(call: CallContext) -> Result:
    name, pair = connected_at(call, call.arguments[0])
    call.state.queue_pairs[name] = replace(pair, building=())
    return 0


def _add(kind: str, *, immediate_at: int = 0, remote_at: int = 0, operands_at: tuple[int, ...] = ()) -> Handler:
    """A call that begins a request."""

    def handler(call: CallContext) -> Result:
        name, pair = connected_at(call, call.arguments[0])
        flags = number_field(call, "ibv_qp_ex", call.arguments[0], "wr_flags")
        request = Request(
            kind,
            optional(call, "ibv_qp_ex", call.arguments[0], "wr_id"),
            (),
            call.arguments[remote_at] if remote_at else 0,
            tuple(call.arguments[index] for index in operands_at),
            call.arguments[immediate_at] if immediate_at else None,
            bool(flags & SIGNALED),
            False,
            bool(flags & FENCE),
        )
        call.state.queue_pairs[name] = replace(pair, building=(*pair.building, request))
        return 0

    return handler


def _change(change: Callable[[CallContext, Request], Request]) -> Handler:
    """A call that fills in the last request."""

    def handler(call: CallContext) -> Result:
        name, pair = connected_at(call, call.arguments[0])
        if not pair.building:
            raise Refusal("RR814", f"`{call.name}` without a request before it")
        last = change(call, pair.building[-1])
        call.state.queue_pairs[name] = replace(pair, building=(*pair.building[:-1], last))
        return 0

    return handler


def _segment(call: CallContext, address: Value, length: Value) -> tuple[Segment, ...]:
    size = as_number(length, "the length of this request")
    return ((*call.run.address(address, "the buffer of this request"), size),) if size else ()


def _with_segment(call: CallContext, request: Request) -> Request:
    return replace(request, segments=_segment(call, call.arguments[2], call.arguments[3]))


def _with_inline(call: CallContext, request: Request) -> Request:
    return replace(request, segments=_segment(call, call.arguments[1], call.arguments[2]), is_inline=True)


def _with_list(call: CallContext, request: Request) -> Request:
    size = call.run.world.size_of("struct ibv_sge")
    found: tuple[Segment, ...] = ()
    for index in range(call.number(1, "the number of buffers")):
        at = further(call.arguments[2], size * index)
        found += _segment(call, field_value(call, "ibv_sge", at, "addr"), field_value(call, "ibv_sge", at, "length"))
    return replace(request, segments=found)


def _complete(call: CallContext) -> Result:
    name, pair = connected_at(call, call.arguments[0])
    call.state.queue_pairs[name] = replace(pair, building=())
    return posted(call, name, pair.building) if pair.building else 0


# librdmacm


def _short(kind: str, flags_at: int, remote_at: int = 0) -> Handler:
    """A request of librdmacm: identifier, context, address, length, region, flags, remote address."""

    def handler(call: CallContext) -> Result:
        pair_value = field_value(call, "rdma_cm_id", call.arguments[0], "qp")
        name, _ = connected_at(call, pair_value)
        flags = call.number(flags_at, "the flags of this request")
        request = Request(
            kind,
            call.arguments[1],
            _segment(call, call.arguments[2], call.arguments[3]),
            call.arguments[remote_at] if remote_at else 0,
            (),
            None,
            bool(flags & SIGNALED),
            bool(flags & INLINE),
            bool(flags & FENCE),
        )
        return posted(call, name, [request])

    return handler


def _same(call: CallContext) -> Result:
    return call.arguments[0]


REQUESTS: dict[str, Handler] = {
    "ibv_post_send": _post_send,
    "ibv_qp_to_qp_ex": _same,
    "ibv_wr_start": _begin,
    "ibv_wr_complete": _complete,
    "ibv_wr_abort": _begin,
    "ibv_wr_rdma_write": _add("write", remote_at=2),
    "ibv_wr_rdma_write_imm": _add("write", remote_at=2, immediate_at=3),
    "ibv_wr_rdma_read": _add("read", remote_at=2),
    "ibv_wr_send": _add("send"),
    "ibv_wr_send_imm": _add("send", immediate_at=1),
    "ibv_wr_atomic_cmp_swp": _add("cas", remote_at=2, operands_at=(3, 4)),
    "ibv_wr_atomic_fetch_add": _add("faa", remote_at=2, operands_at=(3,)),
    "ibv_wr_set_sge": _change(_with_segment),
    "ibv_wr_set_inline_data": _change(_with_inline),
    "ibv_wr_set_sge_list": _change(_with_list),
    "rdma_post_send": _short("send", 5),
    "rdma_post_write": _short("write", 5, 6),
    "rdma_post_read": _short("read", 5, 6),
}
