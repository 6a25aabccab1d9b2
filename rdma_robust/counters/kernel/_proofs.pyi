from array import array

class LookAhead:
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
