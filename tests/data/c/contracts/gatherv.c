/* Gather of parts of different lengths: the root puts each at its place. Places are apart from each other. */
#include <mpi.h>

/*@ requires 0 <= count && \valid(part + (0 .. count - 1));
  @ rdma_bounds count in 0..1;
  @ rdma_bounds counts len 0 .. \mpi_comm_size in 0..1;
  @ rdma_bounds displs len 0 .. \mpi_comm_size in 0..\mpi_comm_size - 1;
  @ rdma_bounds total in \mpi_comm_size..\mpi_comm_size;
  @ rdma_bounds root in 0..0;
  @ \mpi_collective(comm, P2P):
  @   requires 0 <= root < \mpi_comm_size && \mpi_agree(root);
  @   behavior root:
  @     assumes \mpi_comm_rank == root;
  @     requires \valid(counts + (0 .. \mpi_comm_size - 1)) && \valid(displs + (0 .. \mpi_comm_size - 1));
  @     requires \valid(all + (0 .. total - 1));
  @     requires \forall integer t; 0 <= t < \mpi_comm_size ==>
  @                counts[t] == \on(t, count) && 0 <= displs[t] && displs[t] + counts[t] <= total;
  @     requires \forall integer s; 0 <= s < \mpi_comm_size ==> \forall integer t; 0 <= t < s ==>
  @                displs[s] + counts[s] <= displs[t] || displs[t] + counts[t] <= displs[s];
  @     assigns all[0 .. total - 1];
  @     ensures \forall integer t; 0 <= t < \mpi_comm_size ==> \forall integer k; 0 <= k < counts[t] ==>
  @               all[displs[t] + k] == \on(t, part[k]);
  @     waitsfor \all;
  @   behavior others:
  @     assumes \mpi_comm_rank != root;
  @     assigns \nothing;
  @*/
void gatherv(const int *part, int count, int *all, const int *counts, const int *displs, int total, int root, MPI_Comm comm)
{
	int rank, size;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	if (rank != root) {
		MPI_Send(part, count, MPI_INT, root, 0, comm);
		return;
	}
	for (int t = 0; t < size; t++) {
		if (t != root) {
			MPI_Recv(all + displs[t], counts[t], MPI_INT, t, 0, comm, MPI_STATUS_IGNORE);
		} else {
			for (int k = 0; k < count; k++)
				all[displs[t] + k] = part[k];
		}
	}
}

/* rdma-robust: expect contract gatherv verified */
