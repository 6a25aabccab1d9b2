"""Records of libibverbs in private memory, and handles."""

from __future__ import annotations

from rdma_robust.c.evaluate.c_values import (
    Object,
    Pointer,
    UnknownValue,
    Value,
    is_unset,
    known_scalar,
    map_one,
    raw_of,
    value_of_raw,
)
from rdma_robust.c.evaluate.calls import CallContext, as_number, further
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import ConnectedPair


def field_value(call: CallContext, record: str, address: Value, path: str) -> Value:
    """Return a field of a record of the library that the program has filled in."""
    leaf = call.run.world.fields(f"struct {record}").get(path)
    if leaf is None:
        raise Refusal("RR814", f"`struct {record}` has no field `{path}` in the headers that were read")
    raw = call.private(further(address, leaf.offset), leaf.size, f"`{path}` of `struct {record}`")
    return map_one(raw, lambda each: value_of_raw(each, leaf.type))


def number_field(call: CallContext, record: str, address: Value, path: str) -> int:
    """Return a field that has to be a known number."""
    value = field_value(call, record, address, path)
    if is_unset(value):
        raise Refusal("RR819", f"`{path}` of `struct {record}` has no value here", "memset the record to zero before")
    return as_number(value, f"`{path}`")


def optional(call: CallContext, record: str, address: Value, path: str) -> Value:
    """Return a field, 0 if the headers have none or nothing was written to it."""
    if path not in call.run.world.fields(f"struct {record}"):
        return 0
    value = field_value(call, record, address, path)
    return 0 if is_unset(value) else value


def set_field(call: CallContext, record: str, address: Value, path: str, value: Value) -> None:
    """Fill in a field of a record that the library gives back, if the headers have it."""
    leaf = call.run.world.fields(f"struct {record}").get(path)
    if leaf is not None:
        call.set_private(
            further(address, leaf.offset), leaf.size, map_one(value, lambda each: raw_of(each, leaf.type)), path
        )


def new_handle(call: CallContext, kind: str, record: str = "") -> Pointer:
    """Return what stands for a new queue, device or the like."""
    number = 0
    while Object("handle", call.run.process, kind, (number,)) in call.state.memory:
        number += 1
    found = Object("handle", call.run.process, kind, (number,))
    call.state.place(found, ObjectBytes(zero=True))
    if record:
        call.run.world.types.setdefault(found, f"struct {record}")
    return Pointer(found)


def queue_pair_at(call: CallContext, value: Value) -> tuple[Object, ConnectedPair]:
    """Return a queue pair. Raises RR812 for one that is not known."""
    found = known_scalar(value)
    if isinstance(found, Pointer) and found.object in call.state.queue_pairs:
        return found.object, call.state.queue_pairs[found.object]
    what = f"is {found.reason}, which is not known here" if isinstance(found, UnknownValue) else "is not known here"
    raise Refusal("RR812", f"this queue pair {what}", "RR_QP(lvalue, send_cq, recv_cq) where set-up ends")


def connected_at(call: CallContext, value: Value) -> tuple[Object, ConnectedPair]:
    """Return a queue pair that is connected. Raises RR812 for others."""
    name, pair = queue_pair_at(call, value)
    if not pair.connection:
        raise Refusal("RR812", "this queue pair is not connected", "RR_CONNECT(qp, name) where set-up ends")
    return name, pair


def other_end(call: CallContext, connection: str) -> str:
    """Return the process at the other end. Raises RR812 if there is none."""
    found = call.run.world.peer(connection, call.run.process)
    if found is None:
        raise Refusal(
            "RR812",
            f'no other process has RR_CONNECT(.., "{connection}")',
            "both ends say the same name",
            follows=True,
        )
    return found
