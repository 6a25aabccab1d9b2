"""A memory model as a value: a record of words, whose meaning is in the tables of `semantics/`.

`semantics/order_table.py` says which order the words stand for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, Literal, get_args

from rdma_robust.errors import UsageError
from rdma_robust.orders import order_name

ModelName = Literal["sc", "rdma"]
Network = Literal["none", "rdma", "rma"]
Cpu = Literal["sc", "tso", "pso"]
Atomics = Literal["hca", "glob"]
Processor = Literal["sc", "tso"]
"""What processors of machines with NICs do."""
Rnr = Literal["fault", "wait"]
"""What a message does that finds no buffer at its receiver (receiver not ready)."""
CARDS: Final = ("default", "multipath", "relaxed")
"""The orders of NICs that are asked for where none are named."""
PROMISED: Final = ("none", "accumulate")
"""The orders that standards of one-sided libraries promise, and no card is said to be."""

SEARCHED: Final[tuple[ModelName, ...]] = get_args(ModelName)
"""The models that `verify` and `reach` search."""


@dataclass(frozen=True, slots=True)
class Model:
    """A memory model.

    `network` is what orders the events of NICs: `none` keeps program order (puts and gets are two steps of their
    thread), `rdma` is the paper's, `rma` keeps no order but that of a flush. `cpu` is what orders those of CPUs: `tso` and
    `pso` buffer stores. `atomics` says against what remote read-modify-writes are atomic: only each other (`hca`), or every
    access (`glob`). `order` is the table of preserved orders: the name of one of the package, or all that one says
    (:mod:`rdma_robust.orders.known_orders`). `ordered_reads` keeps two gets of a queue pair in order.

    Raises UsageError for a word that has no meaning (yet): nothing would give it one, and it would be decided as another.
    What has no table of orders is a machine only (`semantics/machines/by_model.py`): `prove` decides it.
    """

    network: Network = "rdma"
    cpu: Cpu = "sc"
    atomics: Atomics = "hca"
    order: str = "default"
    ordered_reads: bool = False

    def __post_init__(self) -> None:
        for what, words, word in (
            ("network", get_args(Network), self.network),
            ("cpu", get_args(Cpu), self.cpu),
            ("atomics", get_args(Atomics), self.atomics),
        ):
            if word not in words:
                raise UsageError(f"no {what} is called {word!r}; there is {', '.join(words)}")

    def __str__(self) -> str:
        reads = ", reads ordered" if self.ordered_reads else ""
        return f"network {self.network}, cpu {self.cpu}, atomics {self.atomics}, order {self.order_name}{reads}"

    @property
    def order_name(self) -> str:
        """What the order is called: the name of its table, which a file may have."""
        return order_name(self.order)

    @property
    def words(self) -> str:
        """What tells the model from the default one, as `cpu tso, order relaxed, reads ordered`, or nothing."""
        told = ((name, getattr(self, name)) for name in ("network", "cpu", "atomics"))
        said = [f"{name} {word}" for name, word in told if word != getattr(RDMA, name)]
        said += [f"order {self.order_name}"] if self.order != RDMA.order else []
        return ", ".join([*said, *(["reads ordered"] if self.ordered_reads else [])])

    def described(self) -> dict[str, object]:
        """Return the model as members of a report's `options`: `ordered_reads`, as ever, and `model` with all of it."""
        return {"ordered_reads": self.ordered_reads, "model": asdict(self)}

    @property
    def has_order_table(self) -> bool:
        """Whether a table says which program order is kept, so that axioms and robustness mean something."""
        return (self.network != "rma" and self.cpu == "sc") or (self.network == "rdma" and self.cpu == "tso")

    @property
    def is_of_paper(self) -> bool:
        """Whether it is the paper's model, with two gets in order or not."""
        return self.with_ordered_reads(False) == Model()

    def with_ordered_reads(self, ordered_reads: bool) -> Model:
        return self if ordered_reads == self.ordered_reads else replace(self, ordered_reads=ordered_reads)


@dataclass(frozen=True, slots=True)
class Hardware:
    """Statements about the hardware that programs run on, None where nothing is said. Fields are as in Model.

    `send_depth` is how many requests a send queue has room for: that is no part of the memory model, but of what the
    threads of a program do (:mod:`~rdma_robust.language.flow.send_queues`). `rnr` says what a message does that finds no
    buffer: that is part of what sequential consistency means (:mod:`~rdma_robust.semantics.waiting_runs`).
    """

    cpu: Processor | None = None
    atomics: Atomics | None = None
    order: str | None = None
    ordered_reads: bool | None = None
    send_depth: int | None = None
    rnr: Rnr | None = None

    def over(self, other: Hardware) -> Hardware:
        """Return what this says, and what `other` says where this says nothing."""
        said = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(other, **said)

    @property
    def said(self) -> bool:
        """Whether it says anything."""
        return self != UNSAID

    @property
    def model(self) -> Model:
        """The memory model that it is, with the defaults where nothing is said."""
        return Model("rdma", self.cpu or "sc", self.atomics or "hca", self.order or "default", bool(self.ordered_reads))


UNSAID: Final = Hardware()
"""What is said of hardware by somebody who says nothing."""

SC: Final = Model(network="none")
TSO: Final = Model(network="none", cpu="tso")
PSO: Final = Model(network="none", cpu="pso")
RMA: Final = Model(network="rma")
RDMA: Final = Model()


def rdma(ordered_reads: bool) -> Model:
    """Return the paper's model with two gets in order or not."""
    return RDMA.with_ordered_reads(ordered_reads)


NAMED: Final[Mapping[str, Model]] = {"sc": SC, "tso": TSO, "pso": PSO, "rma": RMA, "rdma": RDMA}
"""The models that have a name of their own."""
