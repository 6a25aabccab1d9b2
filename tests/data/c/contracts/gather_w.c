/* Gather from anybody: the root stores each value by its sender. Whoever has sent could go on and send once more,
   which the root must not take for a value: so callers have to be quiet. */
#include <mpi.h>

/*@ \mpi_collective(comm, P2P):
  @   requires 0 <= root < \mpi_comm_size && \mpi_agree(root);
  @   behavior root:
  @     assumes \mpi_comm_rank == root;
  @     requires \valid(all + (0 .. \mpi_comm_size - 1));
  @     requires \absenceof \sendfrom(\others, 0) \after \exit(\others) \until \exit;
  @     assigns all[0 .. \mpi_comm_size - 1];
  @     ensures \forall integer t; 0 <= t < \mpi_comm_size ==> all[t] == \on(t, value);
  @     ensures \absenceof \exit \after \enter \until \enter(\all);
  @   behavior others:
  @     assumes \mpi_comm_rank != root;
  @     assigns \nothing;
  @*/
void gather_w(int value, int *all, int root, MPI_Comm comm)
{
	int rank, size, from;
	MPI_Status status;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	if (rank != root) {
		MPI_Send(&value, 1, MPI_INT, root, 0, comm);
	} else {
		all[root] = value;
		for (int i = 1; i < size; i++) {
			int one;

			MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &status);
			from = status.MPI_SOURCE;
			all[from] = one;
		}
	}
}

/* rdma-robust: expect contract gather_w verified */
