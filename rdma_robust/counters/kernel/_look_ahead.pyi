from array import array
from collections.abc import Sequence

class Look:
    def __init__(
        self,
        words: int,
        fields: list[tuple[int, int, int, int]],
        locations: list[int],
        header: array[int],
        moves: array[int],
        pairs: array[int],
        kinds: array[int],
        guards: array[int],
        rows: array[int],
    ) -> None: ...
    def stand_anywhere(self, process: int) -> None: ...
    def dead(self, state: Sequence[int], gone: int) -> bool: ...
