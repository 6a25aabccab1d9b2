"""Places in the units of the Language Server Protocol: 0-based lines, columns in the code units that the client counts."""

from __future__ import annotations

from lsprotocol.types import Position, Range
from pygls.workspace import PositionCodec

from rdma_robust.errors import Span


class TextPositions:
    """Conversions for one text, whose lines end with a line feed, as those of spans do."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._lines = text.split("\n")
        self._codec = codec

    def position(self, line: int, column: int) -> Position:
        """Return the place of a 1-based line and column; behind the end of a line or of the text, its end."""
        row = min(max(line, 1), len(self._lines)) - 1
        return Position(row, self._codec.client_num_units(self._lines[row][: max(column, 1) - 1]))

    def range(self, span: Span) -> Range:
        """Return the range of `span`."""
        return Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def between(self, line: int, column: int, end_line: int, end_column: int) -> Range:
        """Return the range from one 1-based line and column up to before another."""
        return Range(self.position(line, column), self.position(end_line, end_column))

    def rest_of_line(self, line: int, column: int) -> Range:
        """Return from a 1-based line and column to the end of what is written in that line."""
        row = min(max(line, 1), len(self._lines)) - 1
        return Range(self.position(line, column), self.position(line, len(self._lines[row].rstrip()) + 1))

    def whole(self) -> Range:
        """Return the range of the whole text."""
        return Range(Position(0, 0), self.position(len(self._lines), len(self._lines[-1]) + 1))

    def offset(self, position: Position) -> int:
        """Return the 0-based character at a position; behind the end of a line, its end."""
        row = min(position.line, len(self._lines) - 1)
        line = self._lines[row]
        units = column = 0
        while column < len(line) and units < position.character:
            units += self._codec.client_num_units(line[column])
            column += 1
        return sum(len(each) + 1 for each in self._lines[:row]) + column
