"""The names of the engines for message programs, apart from what they load."""

from __future__ import annotations

from typing import Literal

MessageEngineName = Literal["auto", "states", "sat", "smt"]
