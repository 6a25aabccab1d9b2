from array import array

class Arrange:
    def __init__(
        self,
        words: int,
        most: int,
        groups: array[int],
        pairs: array[int],
        trades: array[int],
        codes: array[int],
        whens: array[int],
        keys: array[int],
    ) -> None: ...
