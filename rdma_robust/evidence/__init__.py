"""From verdicts to certificates: what the engines found, put into the words that the checker understands.

In: an outcome and what its search can still tell. Out: the bytes of a certificate. Nothing here is trusted: what it
writes is proved right, or refused, by `certify` (Theorem 8 of docs/theory-search.md for ROBUST, Definitions 1 to 3 for NOT
ROBUST).
"""
