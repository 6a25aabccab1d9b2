"""Set-up by librdmacm: identifiers, the queue pairs that they have, and the events that calls are answered with.

Connecting itself is not looked at: RR_CONNECT says which queue pairs are the ends of a connection.
"""

from __future__ import annotations

from rdma_robust.c.evaluate.c_values import Pointer, UnknownValue, Value, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, given
from rdma_robust.c.evaluate.verbs.records import new_handle, set_field
from rdma_robust.c.evaluate.verbs.set_up import RELIABLE, queue_pair_as, register_memory

_ANSWERS = {
    "rdma_resolve_addr": 0,
    "rdma_resolve_route": 2,
    "rdma_listen": 4,
    "rdma_connect": 9,
    "rdma_accept": 9,
    "rdma_disconnect": 10,
}
"""The event that comes after a call (`enum rdma_cm_event_type`)."""
_CONNECT_REQUEST = 4
_NEXT_EVENT, _ITS_IDENTIFIER = "the next event of rdmacm", "the identifier of the next event of rdmacm"
_NOTHING = """
rdma_bind_addr rdma_ack_cm_event rdma_destroy_id rdma_destroy_ep rdma_destroy_qp rdma_destroy_event_channel
rdma_freeaddrinfo rdma_reject rdma_establish rdma_migrate_id rdma_set_option
"""


def _identifier(call: CallContext, channel: Value = 0, context: Value = 0) -> Pointer:
    """Return a new identifier."""
    found = new_handle(call, "cm id", "rdma_cm_id")
    verbs, domain = new_handle(call, "context", "ibv_context"), new_handle(call, "pd", "ibv_pd")
    for path, value in (("channel", channel), ("context", context), ("verbs", verbs), ("pd", domain)):
        set_field(call, "rdma_cm_id", found, path, value)
    return found


def _give_queues(call: CallContext, identifier: Value, attributes: Value, kind: int | None = None) -> None:
    """Let an identifier have a queue pair with queues of its own, where the program gives none."""
    own = new_handle(call, "cq", "ibv_cq"), new_handle(call, "cq", "ibv_cq")
    made, queues = queue_pair_as(call, "ibv_qp_init_attr", attributes, own=own, kind=kind)
    for path, value in (("qp", made), ("send_cq", queues[0]), ("recv_cq", queues[1])):
        set_field(call, "rdma_cm_id", identifier, path, known_scalar(value))


def _create_id(call: CallContext) -> Result:
    found = _identifier(call, known_scalar(call.arguments[0]), known_scalar(call.arguments[2]))
    call.set_private(call.arguments[1], 8, found, "the identifier")
    return 0


def _create_pair(call: CallContext) -> Result:
    _give_queues(call, call.arguments[0], call.arguments[2])
    return 0


def _create_end(call: CallContext) -> Result:
    """`rdma_create_ep`: an identifier with a queue pair; one that listens lends its attributes to what it accepts."""
    found = _identifier(call)
    if known_scalar(call.arguments[3]) != 0:
        _give_queues(call, found, call.arguments[3], kind=RELIABLE)
    call.set_private(call.arguments[0], 8, found, "the identifier")
    return 0


def _get_request(call: CallContext) -> Result:
    """`rdma_get_request`: the queue pair of the identifier that listens is the one of the connection."""
    call.set_private(call.arguments[1], 8, known_scalar(call.arguments[0]), "the identifier")
    return 0


def _addresses(call: CallContext) -> Result:
    call.set_private(call.arguments[3], 8, new_handle(call, "addresses"), "the addresses")
    return 0


def _answered(call: CallContext) -> Result:
    """A call that is answered with an event."""
    identifier = known_scalar(call.arguments[0])
    call.state.numbers[_NEXT_EVENT] = _ANSWERS[call.name]
    if isinstance(identifier, Pointer) and isinstance(number := identifier.object.key[0], int):
        call.state.numbers[_ITS_IDENTIFIER] = number
    return 0


def _event(call: CallContext) -> Result:
    """`rdma_get_cm_event`: what the last call is answered with, else an event that is not known."""
    found = new_handle(call, "cm event", "rdma_cm_event")
    kind = call.state.numbers.pop(_NEXT_EVENT, None)
    number = call.state.numbers.pop(_ITS_IDENTIFIER, None)
    listens: Value = 0
    identifier: Value = UnknownValue("the identifier of an event")
    if number is not None:
        handles = (each for each in call.state.memory if each.kind == "handle" and each.name == "cm id")
        identifier = next((Pointer(each) for each in handles if each.key == (number,)), identifier)
    if kind == _CONNECT_REQUEST:
        listens, identifier = identifier, _identifier(call)
    event: Value = UnknownValue("which event comes") if kind is None else kind
    for path, value in (("event", event), ("status", 0), ("id", identifier), ("listen_id", listens)):
        set_field(call, "rdma_cm_event", found, path, value)
    call.set_private(call.arguments[1], 8, found, "the event")
    return 0


def _register(call: CallContext) -> Result:
    return register_memory(call, 1, 2, 0)


def _name(call: CallContext) -> Result:
    return UnknownValue(f"what `{call.name}` returns")


CONNECTION_MANAGER: dict[str, Handler] = {
    **dict.fromkeys(_NOTHING.split(), given(0)),
    **dict.fromkeys(_ANSWERS, _answered),
    "rdma_create_event_channel": lambda call: new_handle(call, "event channel", "rdma_event_channel"),
    "rdma_create_id": _create_id,
    "rdma_create_qp": _create_pair,
    "rdma_create_ep": _create_end,
    "rdma_get_request": _get_request,
    **dict.fromkeys(("getaddrinfo", "rdma_getaddrinfo"), _addresses),
    "rdma_get_cm_event": _event,
    **dict.fromkeys(("rdma_reg_msgs", "rdma_reg_read", "rdma_reg_write"), _register),
    **dict.fromkeys(("rdma_event_str", "rdma_get_src_port", "rdma_get_dst_port"), _name),
}
