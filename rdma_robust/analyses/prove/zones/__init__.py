"""E1: control states explicit, wide variables in zones, that is conjunctions of `x - y <= c`.

In: a transition system. Out: what it found, as every engine says it: a path to a violation, or zones by control state
that are an inductive invariant. Updates become code over matrices (`linear_ways.py`, `zone_updates.py`),
which `zone_matrix.py` runs in Python and `_zones.pyx` compiled. Source: docs/theory-safety.md,
"Zones"; Dill (CAV 1989); Larsen, Larsson, Pettersson, Yi (RTSS 1997) for minimal constraints; Behrmann, Bouyer, Larsen,
Pelanek (TACAS 2004) for clipping.
"""
