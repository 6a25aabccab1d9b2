from array import array
from collections.abc import Callable

from rdma_robust.counters.kernel._arrange import Arrange
from rdma_robust.counters.kernel._partition import Partition
from rdma_robust.counters.kernel._proofs import LookAhead
from rdma_robust.counters.kernel._team import Team

LAYOUT: int
Bytes = bytes

class Places:
    def set_place(self, process: int, location: int, code: int, footprints: tuple[int, ...], local: bool) -> None: ...
    def set_target(self, process: int, location: int, code: int) -> None: ...

class Search:
    states: int
    done: int
    transitions: int
    bytes: int
    waiting_bytes: int
    spare: int
    need_process: int
    need_location: int
    wide_value: int
    wide_field: int
    status: int
    found: int
    found_state: int
    places: Places
    ahead: LookAhead | None
    alike: Arrange | None

    def __init__(
        self,
        words: int,
        pairs: tuple[tuple[int, int], ...],
        fields: list[tuple[int, int, int, int]],
        numbers: list[list[int]],
        counters: int,
        rank_fields: list[int],
        *,
        reduce: bool,
        by_rank: bool,
        accelerate: bool,
        longest_chain: int,
        most: int,
    ) -> None: ...
    def load(
        self,
        code: array[int],
        slots: array[int],
        leaves: array[int],
        changes: array[int],
        effects: array[int],
        table: array[int],
        labels: int,
    ) -> None: ...
    def start(self, values: list[int]) -> None: ...
    def target_at_start(self) -> bool: ...
    def limit(self, max_states: int, max_bytes: int) -> None: ...
    def lead(self, team: Team) -> None: ...
    def follow(self, leader: Search) -> None: ...
    def divide(self, partition: Partition) -> None: ...
    def receive(self, records: memoryview) -> int: ...
    def save(self, write: Callable[[Bytes], object]) -> None: ...
    def restore(self, read: Callable[[int], Bytes]) -> None: ...
    def run(self, budget: int) -> int: ...
    def serve(self) -> None: ...
    def path(self, number: int) -> list[tuple[list[int], list[int]]]: ...
    def changes(self, every: int) -> list[int]: ...
    def spread(self, partition: Partition, every: int) -> list[int]: ...
    def link(self, number: int) -> tuple[list[int], int]: ...
    def steps(self, parent: int, words: list[int]) -> list[int]: ...
    def fired(self) -> list[int]: ...
