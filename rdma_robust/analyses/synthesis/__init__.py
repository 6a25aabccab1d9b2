"""The smallest programs that two kinds of hardware tell apart.

In: two memory models and a number of statements. Out: programs as texts, with final states that one of the models reaches
and the other does not. `program_shapes` lists programs up to renaming, `telling` decides which are told apart.
"""
