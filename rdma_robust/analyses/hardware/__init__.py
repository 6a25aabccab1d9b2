"""One program on all hardware: under which settings it is robust, what breaks it first, and what tells tables apart.

In: a program and options. Out: its outcomes, the strongest hardware first, and why. Source: docs/weaker-orders.md, "Weaker
orders".
"""
