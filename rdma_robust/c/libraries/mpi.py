"""The functions of MPI 4.1 that C programs call most: their names and declarations (`mpi.h`), and its predefined types.

One table for one-sided calls and messages: what is declared here and not evaluated is refused by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

PARAMETERS: Final = {
    "b": "void *", "cb": "const void *", "n": "int", "t": "MPI_Datatype", "r": "int", "tag": "int", "c": "MPI_Comm",
    "s": "MPI_Status *", "ss": "MPI_Status *", "q": "MPI_Request *", "qs": "MPI_Request *", "o": "MPI_Op", "w": "MPI_Win",
    "a": "MPI_Aint", "g": "MPI_Group", "i": "MPI_Info", "ip": "int *", "cip": "const int *", "pw": "MPI_Win *",
    "pc": "MPI_Comm *", "pg": "MPI_Group *", "pt": "MPI_Datatype *", "pa": "MPI_Aint *", "cap": "const MPI_Aint *",
    "ct": "const MPI_Datatype *", "st": "const char *", "ch": "char *", "pi": "MPI_Info *", "e": "MPI_Errhandler",
    "pe": "MPI_Errhandler *", "po": "MPI_Op *", "m": "MPI_Message *", "cs": "const MPI_Status *",
    "av": "char ***", "f": "MPI_User_function *", "l": "long long", "lp": "int *", "rq": "MPI_Request",
}  # fmt: skip
"""Letters for the types of parameters in the table below. `lp` is a list that a call fills, and that may be empty."""
FILLED: Final = ("ip", "q", "pw", "pc", "pg", "pt", "pa", "po", "m", "pe", "pi")
"""The letters of what a call gives back at an address, which has to be one."""
_TABLE: Final = """
Init lp av; Init_thread lp av n ip; Finalize; Initialized ip; Finalized ip; Abort c n; Query_thread ip; Is_thread_main ip
Comm_rank c ip; Comm_size c ip; Comm_dup c pc; Comm_split c n n pc; Comm_split_type c n n i pc; Comm_free pc
Comm_create c g pc
Comm_compare c c ip; Comm_group c pg; Comm_set_errhandler c e; Comm_get_name c ch ip; Comm_set_name c st
Comm_remote_size c ip
Comm_create_group c g n pc; Comm_get_attr c n b ip; Comm_set_attr c n b; Cart_create c n cip cip n pc; Cart_coords c r n lp
Cart_rank c cip ip; Cart_shift c n n ip ip; Cart_sub c cip pc; Dims_create n n lp; Cart_get c n lp lp lp; Cartdim_get c ip
Topo_test c ip
Group_incl g n cip pg; Group_excl g n cip pg; Group_rank g ip; Group_size g ip; Group_free pg; Group_union g g pg
Group_intersection g g pg; Group_difference g g pg; Group_translate_ranks g n cip g lp; Group_compare g g ip
Win_create b a n i c pw; Win_allocate a n i c b pw; Win_allocate_shared a n i c b pw; Win_create_dynamic i c pw; Win_free pw
Win_attach w b a; Win_detach w cb; Win_shared_query w r pa ip b; Win_get_group w pg; Win_set_errhandler w e
Win_get_info w pi
Win_set_info w i; Win_get_attr w n b ip; Win_set_name w st; Win_get_name w ch ip; Alloc_mem a i b; Free_mem b
Put cb n t r a n t w; Get b n t r a n t w; Accumulate cb n t r a n t o w; Get_accumulate cb n t b n t r a n t o w
Fetch_and_op cb b t r a o w; Compare_and_swap cb cb b t r a w; Rput cb n t r a n t w q; Rget b n t r a n t w q
Raccumulate cb n t r a n t o w q; Rget_accumulate cb n t b n t r a n t o w q
Win_fence n w; Win_start g n w; Win_complete w; Win_post g n w; Win_wait w; Win_test w ip; Win_lock n r n w; Win_lock_all n w
Win_unlock r w; Win_unlock_all w; Win_flush r w; Win_flush_all w; Win_flush_local r w; Win_flush_local_all w; Win_sync w
Send cb n t r tag c; Ssend cb n t r tag c; Bsend cb n t r tag c; Rsend cb n t r tag c; Recv b n t r tag c s
Isend cb n t r tag c q; Issend cb n t r tag c q; Ibsend cb n t r tag c q; Irsend cb n t r tag c q; Irecv b n t r tag c q
Sendrecv cb n t r tag b n t r tag c s; Sendrecv_replace b n t r tag r tag c s; Probe r tag c s; Iprobe r tag c ip s
Mprobe r tag c m s; Improbe r tag c ip m s; Mrecv b n t m s; Imrecv b n t m q; Get_count cs t ip; Get_elements cs t ip
Wait q s; Waitall n qs ss; Waitany n qs ip s; Waitsome n qs ip lp ss; Test q ip s; Testall n qs ip ss; Testany n qs ip ip s
Testsome n qs ip lp ss; Request_free q; Cancel q; Test_cancelled cs ip; Send_init cb n t r tag c q; Recv_init b n t r tag c q
Ssend_init cb n t r tag c q; Start q; Startall n qs; Buffer_attach b n; Buffer_detach b ip; Request_get_status rq ip s
Barrier c; Bcast b n t r c; Reduce cb b n t o r c; Allreduce cb b n t o c; Gather cb n t b n t r c; Scatter cb n t b n t r c
Allgather cb n t b n t c; Alltoall cb n t b n t c; Gatherv cb n t b cip cip t r c; Scatterv cb cip cip t b n t r c
Allgatherv cb n t b cip cip t c; Alltoallv cb cip cip t b cip cip t c; Scan cb b n t o c; Exscan cb b n t o c
Reduce_scatter cb b cip t o c; Reduce_scatter_block cb b n t o c; Reduce_local cb b n t o; Ibarrier c q; Ibcast b n t r c q
Ireduce cb b n t o r c q; Iallreduce cb b n t o c q; Igather cb n t b n t r c q; Iscatter cb n t b n t r c q
Iallgather cb n t b n t c q; Ialltoall cb n t b n t c q; Op_create f n po; Op_free po
Igatherv cb n t b cip cip t r c q; Iscatterv cb cip cip t b n t r c q; Iallgatherv cb n t b cip cip t c q
Ialltoallv cb cip cip t b cip cip t c q; Iscan cb b n t o c q; Iexscan cb b n t o c q; Ireduce_scatter cb b cip t o c q
Ireduce_scatter_block cb b n t o c q; Bsend_init cb n t r tag c q; Rsend_init cb n t r tag c q
Type_contiguous n t pt; Type_vector n n n t pt; Type_create_hvector n n a t pt; Type_indexed n cip cip t pt
Type_create_indexed_block n n cip t pt; Type_create_hindexed n cip cap t pt; Type_create_struct n cip cap ct pt
Type_create_subarray n cip cip cip n t pt; Type_create_resized t a a pt; Type_commit pt; Type_free pt; Type_size t ip
Type_dup t pt
Type_get_extent t pa pa; Type_get_true_extent t pa pa; Get_address cb pa; Pack cb n t b n ip c; Unpack cb n ip b n t c
Pack_size n t c ip; Info_create pi; Info_set i st st; Info_free pi; Info_get i st n ch ip; Info_dup i pi; Errhandler_free pe
Error_string n ch ip; Error_class n ip; Get_processor_name ch ip; Get_version ip ip; Get_library_version ch ip
Status_set_elements s t n; Status_set_cancelled s n; Comm_test_inter c ip; Intercomm_create c n c n n pc
Intercomm_merge c n pc; Comm_remote_group c pg; Comm_dup_with_info c i pc; Comm_idup c pc q; Comm_create_errhandler b pe
Comm_get_errhandler c pe
Comm_free_keyval lp; Comm_delete_attr c n; Type_set_name t st; Type_get_name t ch ip; Op_commutative o ip
Graph_create c n cip cip n pc; Graphdims_get c ip ip; Graph_get c n n lp lp; Graph_neighbors_count c r ip
Graph_neighbors c r n lp; Dist_graph_create c n cip cip cip cip i n pc
Dist_graph_create_adjacent c n cip cip n cip cip i n pc; Dist_graph_neighbors_count c ip ip ip
Dist_graph_neighbors c n lp lp n lp lp; Neighbor_allgather cb n t b n t c; Neighbor_alltoall cb n t b n t c
Neighbor_allgatherv cb n t b cip cip t c; Neighbor_alltoallv cb cip cip t b cip cip t c
Neighbor_alltoallw cb cip cap ct b cip cap ct c; Ineighbor_allgather cb n t b n t c q; Ineighbor_alltoall cb n t b n t c q
Ineighbor_allgatherv cb n t b cip cip t c q; Ineighbor_alltoallv cb cip cip t b cip cip t c q
Alltoallw cb cip cip ct b cip cip ct c; Ialltoallw cb cip cip ct b cip cip ct c q
Type_create_darray n n n cip cip cip cip n t pt; Type_create_hindexed_block n n cap t pt; Type_match_size n n pt
Psend_init cb n l t r tag c i q; Precv_init b n l t r tag c i q; Pready n rq; Pready_range n n rq; Pready_list n cip rq
Parrived rq n ip
Type_get_envelope t ip ip ip ip; Type_get_contents t n n n lp pa pt; Group_range_incl g n b pg; Group_range_excl g n b pg
Win_call_errhandler w n; Comm_call_errhandler c n; Win_create_keyval b b ip b; Win_free_keyval lp; Win_set_attr w n b
Win_delete_attr w n; Comm_create_keyval b b ip b; Win_create_errhandler b pe
"""
TYPES: Final[Mapping[str, tuple[str, int, bool]]] = {
    "CHAR": ("int", 1, True), "SIGNED_CHAR": ("int", 1, True), "UNSIGNED_CHAR": ("int", 1, False),
    "BYTE": ("byte", 1, False),
    "SHORT": ("int", 2, True), "UNSIGNED_SHORT": ("int", 2, False), "INT": ("int", 4, True), "UNSIGNED": ("int", 4, False),
    "LONG": ("int", 8, True), "UNSIGNED_LONG": ("int", 8, False), "LONG_LONG_INT": ("int", 8, True),
    "UNSIGNED_LONG_LONG": ("int", 8, False), "FLOAT": ("float", 4, True), "DOUBLE": ("float", 8, True),
    "LONG_DOUBLE": ("float", 16, True), "WCHAR": ("int", 4, True), "C_BOOL": ("int", 1, False), "INT8_T": ("int", 1, True),
    "INT16_T": ("int", 2, True), "INT32_T": ("int", 4, True), "INT64_T": ("int", 8, True), "UINT8_T": ("int", 1, False),
    "UINT16_T": ("int", 2, False), "UINT32_T": ("int", 4, False), "UINT64_T": ("int", 8, False), "AINT": ("int", 8, True),
    "COUNT": ("int", 8, True), "OFFSET": ("int", 8, True), "PACKED": ("byte", 1, False), "2INT": ("pair", 8, True),
    "FLOAT_INT": ("pair", 8, True), "DOUBLE_INT": ("pair", 16, True), "LONG_INT": ("pair", 16, True),
    "SHORT_INT": ("pair", 8, True), "LONG_DOUBLE_INT": ("pair", 32, True), "CXX_BOOL": ("int", 1, False),
    "C_COMPLEX": ("pair", 8, True), "C_DOUBLE_COMPLEX": ("pair", 16, True), "C_LONG_DOUBLE_COMPLEX": ("pair", 32, True),
    "INTEGER": ("int", 4, True), "REAL": ("float", 4, True), "DOUBLE_PRECISION": ("float", 8, True),
    "LOGICAL": ("int", 4, True), "CHARACTER": ("int", 1, True),
}  # fmt: skip
"""The predefined types: kind, extent in bytes, and whether they have a sign. Their handles are their places, from 1 on."""
PAIRS: Final[Mapping[str, tuple[str, str, int]]] = {
    "2INT": ("INT", "INT", 4), "FLOAT_INT": ("FLOAT", "INT", 4), "DOUBLE_INT": ("DOUBLE", "INT", 8),
    "LONG_INT": ("LONG", "INT", 8), "SHORT_INT": ("SHORT", "INT", 4), "LONG_DOUBLE_INT": ("LONG_DOUBLE", "INT", 16),
    "C_COMPLEX": ("FLOAT", "FLOAT", 4), "C_DOUBLE_COMPLEX": ("DOUBLE", "DOUBLE", 8),
    "C_LONG_DOUBLE_COMPLEX": ("LONG_DOUBLE", "LONG_DOUBLE", 16),
}  # fmt: skip
"""Types of two numbers: both types, and where the second is."""
OPERATIONS: Final = (
    "SUM", "REPLACE", "NO_OP", "MAX", "MIN", "PROD", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR", "MAXLOC", "MINLOC",
)  # fmt: skip
"""The predefined operations: their handles are their places, from 1 on."""


ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    words[0]: tuple(words[1:]) for entry in _TABLE.replace("\n", ";").split(";") if (words := entry.split())
}
"""The functions by their names without `MPI_`, each with the letters of its parameters."""
TARGETS: Final = {
    f"MPI_{name}": (letters.index("r"), letters.index("w"))
    for name, letters in ROWS.items()
    if "w" in letters and "a" in letters[:-1] and "r" in letters
}
"""The one-sided operations, each with the places of its target and its window among its arguments."""


def _declarations() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, letters in ROWS.items():
        parameters = ", ".join(PARAMETERS[each] for each in letters) or "void"
        found[f"MPI_{name}"] = f"int MPI_{name}({parameters})"
    found["MPI_Wtime"], found["MPI_Wtick"] = "double MPI_Wtime(void)", "double MPI_Wtick(void)"
    found["MPI_Aint_add"] = "MPI_Aint MPI_Aint_add(MPI_Aint, MPI_Aint)"
    found["MPI_Aint_diff"] = "MPI_Aint MPI_Aint_diff(MPI_Aint, MPI_Aint)"
    return found


DECLARATIONS: Final[Mapping[str, str]] = _declarations()
"""The functions by their names, each with its declaration."""

_ERRORS: Final = """
BUFFER COUNT TYPE TAG COMM RANK ROOT GROUP OP TOPOLOGY DIMS ARG UNKNOWN TRUNCATE OTHER INTERN IN_STATUS PENDING REQUEST
WIN BASE SIZE DISP LOCKTYPE ASSERT RMA_CONFLICT RMA_SYNC RMA_RANGE RMA_ATTACH RMA_FLAVOR RMA_SHARED NO_MEM INFO INFO_KEY
INFO_VALUE INFO_NOKEY KEYVAL NAME PORT SERVICE SPAWN LASTCODE
"""
"""The classes of errors, from 1 on: none happens here."""
_INTEGERS: Final = {
    "SUCCESS": 0, "ANY_SOURCE": -1001, "ANY_TAG": -1001, "PROC_NULL": -2, "ROOT": -3, "UNDEFINED": -32766,
    "LOCK_SHARED": 1, "LOCK_EXCLUSIVE": 2, "MODE_NOCHECK": 1, "MODE_NOSTORE": 2, "MODE_NOPUT": 4, "MODE_NOPRECEDE": 8,
    "MODE_NOSUCCEED": 16, "THREAD_SINGLE": 0, "THREAD_FUNNELED": 1, "THREAD_SERIALIZED": 2, "THREAD_MULTIPLE": 3,
    "MAX_PROCESSOR_NAME": 128, "MAX_ERROR_STRING": 256, "MAX_INFO_KEY": 36, "MAX_INFO_VAL": 256, "MAX_OBJECT_NAME": 64,
    "BSEND_OVERHEAD": 96, "IDENT": 0, "CONGRUENT": 1, "SIMILAR": 2, "UNEQUAL": 3, "ORDER_C": 1, "ORDER_FORTRAN": 2,
    "COMM_TYPE_SHARED": 1, "WIN_SEPARATE": 1, "WIN_UNIFIED": 2, "VERSION": 4, "SUBVERSION": 1,
    "MAX_LIBRARY_VERSION_STRING": 256,
    "CART": 1, "GRAPH": 2, "DIST_GRAPH": 3, "KEYVAL_INVALID": -1, "TYPECLASS_REAL": 1, "TYPECLASS_INTEGER": 2,
    "TYPECLASS_COMPLEX": 3, "MAX_PORT_NAME": 256, "MAX_DATAREP_STRING": 128, "COMBINER_NAMED": 1,
    "DISTRIBUTE_NONE": 0, "DISTRIBUTE_BLOCK": 1, "DISTRIBUTE_CYCLIC": 2, "DISTRIBUTE_DFLT_DARG": -1,
    "WIN_FLAVOR_CREATE": 1, "WIN_FLAVOR_ALLOCATE": 2, "WIN_FLAVOR_DYNAMIC": 3, "WIN_FLAVOR_SHARED": 4,
}  # fmt: skip
_KEYS: Final = """
WIN_BASE WIN_SIZE WIN_DISP_UNIT WIN_CREATE_FLAVOR WIN_MODEL TAG_UB HOST IO WTIME_IS_GLOBAL UNIVERSE_SIZE APPNUM LASTUSEDCODE
"""
"""The keys of attributes. They are numbers that are no tag, rank or count: a key that is taken for its value is found."""
_HANDLES: Final = {
    "Comm": {"COMM_NULL": 0, "COMM_WORLD": 1, "COMM_SELF": 2},
    "Group": {"GROUP_NULL": 0, "GROUP_EMPTY": 1},
    "Win": {"WIN_NULL": 0},
    "Request": {"REQUEST_NULL": 0},
    "Info": {"INFO_NULL": 0, "INFO_ENV": 1},
    "Errhandler": {"ERRHANDLER_NULL": 0, "ERRORS_ARE_FATAL": 1, "ERRORS_RETURN": 2, "ERRORS_ABORT": 3},
    "Message": {"MESSAGE_NULL": 0, "MESSAGE_NO_PROC": 1},
    "Datatype": {"DATATYPE_NULL": 0, **{name: number + 1 for number, name in enumerate(TYPES)}},
    "Op": {"OP_NULL": 0, **{name: number + 1 for number, name in enumerate(OPERATIONS)}},
}
_NUMBERS: Final = {**_INTEGERS, **{name: 2**30 + number for number, name in enumerate(_KEYS.split(), 1)}}
NUMBERS: Final[Mapping[str, int]] = {**_NUMBERS, **{name: at for names in _HANDLES.values() for name, at in names.items()}}
"""The constants and predefined handles of `mpi.h` as numbers, by their names without `MPI_`."""
IN_PLACE: Final = 1
"""`MPI_IN_PLACE`, an address."""
STATUS_IGNORE: Final = 2
"""`MPI_STATUS_IGNORE`, an address: NULL is none."""
_HEAD: Final = """/* MPI 4.1, declarations of ours. */
#ifndef MPI_H
#define MPI_H
#include <stddef.h>
#include <stdint.h>
typedef long MPI_Aint;
typedef long long MPI_Count, MPI_Offset;
typedef struct { int MPI_SOURCE, MPI_TAG, MPI_ERROR, count; } MPI_Status;
#define MPI_BOTTOM ((void *)0)
#define MPI_LONG_LONG MPI_LONG_LONG_INT
#define MPI_C_FLOAT_COMPLEX MPI_C_COMPLEX
#define MPI_COMPLEX MPI_C_COMPLEX
#define MPI_DOUBLE_COMPLEX MPI_C_DOUBLE_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX MPI_C_COMPLEX
#define MPI_CXX_DOUBLE_COMPLEX MPI_C_DOUBLE_COMPLEX
#define MPI_CXX_LONG_DOUBLE_COMPLEX MPI_C_LONG_DOUBLE_COMPLEX
#define MPI_WIN_NULL_COPY_FN ((void *)0)
#define MPI_WIN_NULL_DELETE_FN ((void *)0)
#define MPI_COMM_NULL_COPY_FN ((void *)0)
#define MPI_COMM_NULL_DELETE_FN ((void *)0)
#define MPI_UNWEIGHTED ((int *)4)
#define MPI_WEIGHTS_EMPTY ((int *)5)
#define MPI_ERRCODES_IGNORE ((int *)0)
"""


@lru_cache
def mpi_header() -> str:
    """Return the text of `mpi.h`."""
    lines = [f"typedef struct __rr_mpi_{name.lower()} *MPI_{name};" for name in _HANDLES]
    lines.append("typedef void MPI_User_function(void *, void *, int *, MPI_Datatype *);")
    lines += [
        f"#define MPI_{name} ((MPI_{kind})({number}))" for kind, names in _HANDLES.items() for name, number in names.items()
    ]
    lines += [f"#define MPI_ERR_{name} ({number})" for number, name in enumerate(_ERRORS.split(), 1)]
    lines += [f"#define MPI_{name} ({number})" for name, number in _NUMBERS.items()]
    lines.append(f"#define MPI_IN_PLACE ((void *){IN_PLACE})")
    lines += [f"#define MPI_{name}_IGNORE ((MPI_Status *){STATUS_IGNORE})" for name in ("STATUS", "STATUSES")]
    lines += [f"{declared};" for declared in DECLARATIONS.values()]
    return _HEAD + "\n".join([*lines, "#endif", ""])
