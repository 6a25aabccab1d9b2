"""The codes of violations of contracts, for all that tell of them."""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str]] = {
    "RTE": "RR030",
    "CCM": "RR031",
    "DL": "RR032",
    "SGV": "RR033",
    "PGV": "RR034",
    "ITF": "RR035",
    "SRV": "RR036",
    "PRV": "RR037",
    "INV": "RR039",
}
"""The codes of violations by their classes."""
