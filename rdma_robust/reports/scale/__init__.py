"""The reports of `scale`. In: the answers for the instances of a program, by their number. Out: table, JSON, CSV, chart,
page."""
