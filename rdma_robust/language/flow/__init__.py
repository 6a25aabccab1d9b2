"""What a checked program is: values that need no text.

In: nothing but what `check` or a caller builds. Out: programs as control-flow graphs, and passes from graph to graph
that keep the set of traces (Definition 1 of the paper, "prefixes of paths").
"""
