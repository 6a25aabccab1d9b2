"""Why a verdict is what it is, as plain data: the run, its graph, what the hardware may reorder, and final states."""
