"""Message programs as guarded events without branches, which pairs can match, and what must come before what.

In: a checked `MessageProgram` and a bound of loops. Out: an `UnrolledProgram` (unrolled.py; made by unrolling.py), its
candidate pairs with the reason for each dropped one (match_candidates.py), circles of the order that a matching asks for.
Source: docs/theory-messages.md, "The encoding". What cannot be expressed is refused with NotEncodedError, never left out.
"""
