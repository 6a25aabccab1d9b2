"""Set-up: devices, queues, regions, and what rdma_robust.h says instead of it."""

from __future__ import annotations

from dataclasses import replace

from rdma_robust.c.evaluate.c_values import Pointer, Scalar, UnknownValue, Value, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, given
from rdma_robust.c.evaluate.libc import allocated
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import ConnectedPair, Events
from rdma_robust.c.evaluate.verbs.records import field_value, new_handle, number_field, optional, queue_pair_at, set_field

RELAXED_ORDERING = 1 << 20
_KINDS = {4: "UD", 7: "RAW_ETH", 8: "raw packet", 9: "XRC", 10: "XRC", 0xFF: "driver"}
RELIABLE, _UC = 2, 3
_RNR_RETRY = 1 << 11
_ENDLESS = 7
_OUT_OF_ORDER = 1 << 7
"""MLX5DV_QP_CREATE_OOO_DP."""


def _handle(kind: str, record: str) -> Handler:
    return lambda call: new_handle(call, kind, record)


def _device_list(call: CallContext) -> Result:
    devices = new_handle(call, "device list")
    call.set_private(devices, 8, new_handle(call, "device", "ibv_device"), "a device")
    if call.arguments and known_scalar(call.arguments[0]) != 0:
        call.set_private(call.arguments[0], 4, 1, "the number of devices")
    return devices


def _completion_queue(call: CallContext) -> Result:
    found = new_handle(call, "cq", "ibv_cq")
    set_field(call, "ibv_cq", found, "channel", known_scalar(call.arguments[3]))
    set_field(call, "ibv_cq", found, "cq_context", known_scalar(call.arguments[2]))
    return found


def register_memory(call: CallContext, address_at: int, length_at: int, access: Value) -> Result:
    """Register memory that two arguments say; others may reach it from now on."""
    name, offset = call.address(address_at, "the memory that is registered")
    world, length = call.run.world, call.number(length_at, "the length of this region")
    if not world.sizes.get(name):
        world.sizes[name] = offset + length
    if offset < 0 or offset + length > world.sizes[name]:
        message = f"bytes {offset} to {offset + length} are outside of `{name.name}`, which has {world.sizes[name]}"
        raise Refusal("RR813", message, "look at the length that is registered")
    world.share(name, offset, length)
    known_access = known_scalar(access)
    if isinstance(known_access, int) and known_access & RELAXED_ORDERING:
        world.found.relaxed.add(name)
    found = new_handle(call, "mr", "ibv_mr")
    for path, value in (("addr", Pointer(name, offset)), ("length", length), ("lkey", 1), ("rkey", 1)):
        set_field(call, "ibv_mr", found, path, value)
    return found


def _region(address_at: int, length_at: int, access_at: int) -> Handler:
    return lambda call: register_memory(call, address_at, length_at, call.arguments[access_at])


def _create_pair(call: CallContext) -> Result:
    return queue_pair_as(call, "ibv_qp_init_attr", call.arguments[1])[0]


def _create_extended(call: CallContext) -> Result:
    return queue_pair_as(call, "ibv_qp_init_attr_ex", call.arguments[1])[0]


def _create_mlx5(call: CallContext) -> Result:
    """`mlx5dv_create_qp`: its flags say whether data may be placed out of order."""
    flags = 0
    if known_scalar(call.arguments[2]) != 0:
        flags = number_field(call, "mlx5dv_qp_init_attr", call.arguments[2], "create_flags")
    return queue_pair_as(call, "ibv_qp_init_attr_ex", call.arguments[1], order="ooo-dp" if flags & _OUT_OF_ORDER else "")[0]


def queue_pair_as(
    call: CallContext,
    record: str,
    attributes: Value,
    *,
    order: str = "",
    own: tuple[Value, Value] | None = None,
    kind: Scalar | None = None,
) -> tuple[Pointer, tuple[Value, Value]]:
    """Return a new queue pair as attributes say, and its completion queues: `own` ones where those say none."""
    if kind is None:
        kind = known_scalar(field_value(call, record, attributes, "qp_type"))
    if isinstance(kind, int) and kind not in (RELIABLE, _UC):
        raise Refusal("RR814", f"{_KINDS.get(kind, 'such')} queue pairs are not modelled", "IBV_QPT_RC")
    if kind == _UC:
        call.run.world.remark("RR846", "queue pairs of kind UC are taken as RC: losses are not looked at", call.chain)
    if known_scalar(optional(call, record, attributes, "srq")) != 0:
        raise Refusal("RR814", "a shared receive queue is not modelled", "a receive queue for each queue pair")
    all_signaled = known_scalar(optional(call, record, attributes, "sq_sig_all"))
    queues = (
        field_value(call, record, attributes, "send_cq") if own is None else optional(call, record, attributes, "send_cq"),
        field_value(call, record, attributes, "recv_cq") if own is None else optional(call, record, attributes, "recv_cq"),
    )
    send_queue, receive_queue = queues if own is None else (given or mine for given, mine in zip(queues, own, strict=True))
    if isinstance(all_signaled, UnknownValue):
        raise Refusal("RR819", f"`sq_sig_all` depends on {all_signaled.reason}, which is not known here")
    found = new_pair(call, send_queue, receive_queue, all_signaled != 0, order)
    send_room, receive_room = (_room(call, record, attributes, f"cap.max_{each}_wr") for each in ("send", "recv"))
    made = call.state.queue_pairs[found.object]
    call.state.queue_pairs[found.object] = replace(made, send_room=send_room, receive_room=receive_room)
    return found, (send_queue, receive_queue)


def _room(call: CallContext, record: str, attributes: Value, path: str) -> int:
    """Return for how many requests a queue has room: 0, not counted, if that is not said, or more than may wait here."""
    depth = known_scalar(optional(call, record, attributes, path))
    return depth if isinstance(depth, int) and 0 < depth <= call.run.world.options.waiting else 0


def new_pair(
    call: CallContext, send_queue: Value, receive_queue: Value, all_signaled: bool = False, order: str = ""
) -> Pointer:
    """Return a new queue pair, of the usual order or another one."""
    found = new_handle(call, "qp", "ibv_qp")
    number = found.object.key[0]
    assert isinstance(number, int)
    call.state.queue_pairs[found.object] = ConnectedPair(known_scalar(send_queue), known_scalar(receive_queue), all_signaled)
    call.run.world.found.orders.add(order)
    for path, value in (
        ("qp_num", 100 + number),
        ("send_cq", send_queue),
        ("recv_cq", receive_queue),
        ("qp_type", RELIABLE),
    ):
        set_field(call, "ibv_qp", found, path, value)
    return found


def is_queue(value: Value) -> bool:
    """Whether a value is a completion queue."""
    found = known_scalar(value)
    return isinstance(found, Pointer) and found.object.kind == "handle" and found.object.name == "cq"


def _rr_pair(call: CallContext) -> Result:
    for queue in call.arguments[1:3]:
        if not is_queue(queue):
            raise Refusal("RR812", "RR_QP: this completion queue is not known here", "RR_CQ(lvalue) before")
    call.set_private(call.arguments[0], 8, new_pair(call, call.arguments[1], call.arguments[2]), "RR_QP")
    return 0


def _connect(call: CallContext) -> Result:
    """The queue pair is one end of a connection; set-up ends here."""
    name, pair = queue_pair_at(call, call.arguments[0])
    connection, run = call.text(1), call.run
    if pair.connection not in ("", connection):
        raise Refusal("RR812", f"this queue pair is connected already, as `{pair.connection}`")
    for other, each in call.state.queue_pairs.items():
        if each.connection == connection and other != name:
            raise Refusal("RR812", f"connection `{connection}` has two ends in {run.process}", "a name for each connection")
    call.state.queue_pairs[name] = replace(pair, connection=connection)
    ends = run.world.found.connected[connection]
    ends[run.process] = None
    if len(ends) > 2:
        raise Refusal("RR812", f"connection `{connection}` has more than two ends", "a name for each connection")
    if call.state.is_set_up:
        run.world.posted_late(run.process, connection, pair)
    run.world.end_set_up(run.process, call.state)
    return 0


def _modify(call: CallContext) -> Result:
    mask = known_scalar(call.arguments[2])
    if isinstance(mask, int) and mask & _RNR_RETRY:
        call.run.world.rnr_waits.add(
            known_scalar(field_value(call, "ibv_qp_attr", call.arguments[1], "rnr_retry")) == _ENDLESS
        )
    return 0


def _allocate(call: CallContext) -> Result:
    return allocated(call, call.number(1, "the size of this memory"))


def _destroy(call: CallContext) -> Result:
    """A queue, device or region that is no more."""
    found = known_scalar(call.arguments[0])
    if isinstance(found, Pointer) and found.object.kind == "handle" and not call.state.is_set_up:
        call.state.drop(found.object)
        call.state.queue_pairs.pop(found.object, None)
    return 0


def _notify(call: CallContext) -> Result:
    """Ask for an event when a completion comes."""
    queue = known_scalar(call.arguments[0])
    if isinstance(queue, Pointer):
        call.state.events[queue.object] = call.state.events.get(queue.object, Events()).asked()
    return 0


def _event(call: CallContext) -> Result:
    """Wait for an event of a completion channel: which queue it is about. That it has come is seen by the next poll."""
    channel = known_scalar(call.arguments[0])
    queues = [each for each in call.state.memory if each.kind == "handle" and each.name == "cq"]
    fitting = [each for each in queues if known_scalar(field_value(call, "ibv_cq", Pointer(each), "channel")) == channel]
    if len(fitting) != 1:
        raise Refusal(
            "RR814", f"an event of a channel of {len(fitting)} completion queues is not modelled", "a channel for each"
        )
    call.state.events[fitting[0]] = call.state.events.get(fitting[0], Events()).taken()
    call.set_private(call.arguments[1], 8, Pointer(fitting[0]), "the queue of this event")
    call.set_private(call.arguments[2], 8, field_value(call, "ibv_cq", Pointer(fitting[0]), "cq_context"), "this event")
    return 0


def _filled(index: int, record: str) -> Handler:
    """A query: what it gives is not known."""

    def handler(call: CallContext) -> Result:
        name, offset = call.address(index, "where this query's answer goes")
        size = call.run.world.size_of(f"struct {record}")
        if size and not call.run.is_visible(call.state, name, offset, size):
            call.run.raw_write(call.state, name, offset, size, UnknownValue(f"what `{call.name}` says"))
        return 0

    return handler


def _refused(call: CallContext) -> Result:
    raise Refusal("RR814", f"`{call.name}` is not modelled", "queue pairs of kind RC with receive queues of their own are")


_NOTHING = """
ibv_free_device_list ibv_ack_cq_events ibv_fork_init ibv_free_buf ibv_destroy_ah ibv_get_async_event
ibv_ack_async_event ibv_advise_mr ibv_resize_cq
"""
_DESTROYED = """
ibv_dereg_mr rdma_dereg_mr ibv_destroy_qp ibv_destroy_cq ibv_dealloc_pd ibv_close_device ibv_destroy_comp_channel
"""
_REFUSED = """
ibv_create_srq ibv_create_srq_ex ibv_post_srq_recv ibv_post_srq_ops ibv_create_cq_ex ibv_start_poll ibv_next_poll
ibv_end_poll ibv_open_xrcd ibv_bind_mw ibv_alloc_mw ibv_create_ah
ibv_create_flow ibv_create_wq ibv_create_rwq_ind_table ibv_alloc_dm ibv_reg_dm_mr ibv_attach_mcast
"""


def _name(call: CallContext) -> Result:
    return UnknownValue(f"what `{call.name}` returns")


SET_UP: dict[str, Handler] = {
    **dict.fromkeys(_NOTHING.split(), given(0)),
    **dict.fromkeys(_DESTROYED.split(), _destroy),
    **dict.fromkeys(_REFUSED.split(), _refused),
    "ibv_get_device_list": _device_list,
    "ibv_get_device_name": _name,
    "ibv_open_device": _handle("context", "ibv_context"),
    "ibv_alloc_pd": _handle("pd", "ibv_pd"),
    "ibv_create_comp_channel": _handle("channel", "ibv_comp_channel"),
    "ibv_create_cq": _completion_queue,
    "__rr_cq": _handle("cq", "ibv_cq"),
    "__rr_qp": _rr_pair,
    "__rr_connect": _connect,
    **dict.fromkeys(("ibv_reg_mr", "__ibv_reg_mr"), _region(1, 2, 3)),
    **dict.fromkeys(("ibv_reg_mr_iova", "__ibv_reg_mr_iova", "ibv_reg_mr_iova2"), _region(1, 2, 4)),
    "ibv_alloc_buf": _allocate,
    "ibv_reg_buf_mr": _region(2, 3, 4),
    "ibv_create_qp": _create_pair,
    "ibv_create_qp_ex": _create_extended,
    "mlx5dv_create_qp": _create_mlx5,
    "ibv_modify_qp": _modify,
    "ibv_get_cq_event": _event,
    "ibv_req_notify_cq": _notify,
    **dict.fromkeys(("ibv_query_port", "__ibv_query_port", "___ibv_query_port"), _filled(2, "ibv_port_attr")),
    "ibv_query_gid": _filled(3, "ibv_gid"),
    "ibv_query_device": _filled(1, "ibv_device_attr"),
    "ibv_query_qp": _filled(1, "ibv_qp_attr"),
}
