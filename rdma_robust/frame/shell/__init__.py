"""The frame's side to the operating system: inputs, standard output and error, processes that are watched.

In: arguments, files, tasks. Out: texts, replies of processes, lines for people.
"""
