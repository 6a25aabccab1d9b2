"""Repair: a cheapest set of polls, remote fences and flushes that makes a program robust.

In: a program that is not robust, and costs. Out: the edits, proven cheapest, or the limit. `plan` is the way in,
`repairs` has what goes in and comes out. Violating traces become clauses, and a cheapest hitting set of all of them
is a cheapest repair (docs/repair-method.md).
"""
