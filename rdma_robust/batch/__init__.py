"""Many programs as one run.

In: jobs. Out: answers in order: from the cache where they are known, else from an executor; and what changed since an
earlier run.
"""
