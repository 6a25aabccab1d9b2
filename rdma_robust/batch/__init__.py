"""Many programs as one run: what is known already, who decides the rest, and what changed since an earlier run."""
