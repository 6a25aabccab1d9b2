"""The compiled twins of the classes in `loops`, and the search that is compiled as a whole.

Importing this raises ImportError where one of the extension modules is missing, as without a C compiler.
"""

from rdma_robust.petri.kernel._firing import Firing
from rdma_robust.petri.kernel._forest import Forest
from rdma_robust.petri.kernel._markings import MarkingSet, Tree
from rdma_robust.petri.kernel._pair_table import PairTable
from rdma_robust.petri.kernel._relaxation import Relaxation

__all__ = ["Firing", "Forest", "MarkingSet", "PairTable", "Relaxation", "Tree"]
