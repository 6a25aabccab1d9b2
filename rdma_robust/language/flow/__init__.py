"""Checked programs: values that need no text.

In: nothing but what `check` or a caller builds. Out: programs as control-flow graphs, passes from graph to graph,
and their canonical text. A pass keeps the set of traces (Definition 1 of the paper, "prefixes of paths"), but for
`waiting`, which takes failed reads away and is asked for.
"""
