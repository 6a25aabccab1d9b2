"""The collective operations of `.mp`: for whom a member waits, and what it gets. Names and meaning are those of MPI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Dependence = Literal["all", "root", "at root", "lower"]
"""A member leaves when there have entered: all; the root; at the root all, elsewhere nobody else; those before it."""

CollectiveResult = Literal["nothing", "of root", "element of root", "array", "column", "fold", "fold column", "fold before"]
"""What a member gets: what the root gives, or its own element of that; what all give, as an array in the group's order;
its own element of what each gives; a fold of what all give that it waits for and itself, or of their elements, or of those
before it only. Where it waits at the root it gets something there only, and the first gets no fold of those before it."""


@dataclass(frozen=True, slots=True)
class CollectiveKind:
    """For whom a member waits and what it gets."""

    depends: Dependence
    gets: CollectiveResult = "nothing"

    @property
    def is_rooted(self) -> bool:
        """Return whether it has a root."""
        return self.depends in ("root", "at root")


_OF_VALUES: Final[dict[str, CollectiveKind]] = {
    "bcast": CollectiveKind("root", "of root"),
    "scatter": CollectiveKind("root", "element of root"),
    "scatterv": CollectiveKind("root", "element of root"),
    "gather": CollectiveKind("at root", "array"),
    "gatherv": CollectiveKind("at root", "array"),
    "reduce": CollectiveKind("at root", "fold"),
    "allgather": CollectiveKind("all", "array"),
    "allgatherv": CollectiveKind("all", "array"),
    "allreduce": CollectiveKind("all", "fold"),
    "alltoall": CollectiveKind("all", "column"),
    "alltoallv": CollectiveKind("all", "column"),
    "alltoallw": CollectiveKind("all", "column"),
    "reduce_scatter": CollectiveKind("all", "fold column"),
    "reduce_scatter_block": CollectiveKind("all", "fold column"),
    "scan": CollectiveKind("lower", "fold"),
    "exscan": CollectiveKind("lower", "fold before"),
}
_OF_ALL: Final = (
    *("barrier", "finalize"),
    *("comm_create", "comm_dup", "comm_free", "comm_split", "intercomm_create", "intercomm_merge"),
    *("cart_create", "dist_graph_create", "graph_create"),
    *("win_allocate", "win_allocate_shared", "win_create", "win_create_dynamic", "win_fence", "win_free"),
)

COLLECTIVES: Final[Mapping[str, CollectiveKind]] = _OF_VALUES | dict.fromkeys(_OF_ALL, CollectiveKind("all"))
"""All of them by name."""

FoldName = Literal["sum", "prod", "max", "min"]
FOLDS: Final[tuple[FoldName, ...]] = ("sum", "prod", "max", "min")
"""The operations whose results are known; without one it is the sum."""
