"""Work in processes of its own, so that a death or a limit costs one program and nothing else.

In: jobs. Out: records, in order, whatever happens on the way.
"""
