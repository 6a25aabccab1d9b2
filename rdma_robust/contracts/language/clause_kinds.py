"""What can be violated that is no clause of a contract."""

from __future__ import annotations

from typing import Final

CHANNELS: Final = "channels"
"""They are empty: required where all enter, and ensured where all have left."""

REQUESTS: Final = "requests"
"""None is active where all have left: every send and receive was waited for."""
