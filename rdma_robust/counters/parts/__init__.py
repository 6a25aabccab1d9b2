"""One search whose states are divided among processes, on this machine or on many.

In: a counter program's search, as the kernel takes it, and who has room for parts of it. Out: what one search finds: the
same states and transitions. Each process has the states with certain hashes; successors go to the process they belong to.
"""
