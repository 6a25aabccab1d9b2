/* Loops that are left early, and a choice between cases. */
#include <mpi.h>

/*@ requires n >= 0 && \valid(a + (0 .. n - 1));
  @ rdma_bounds a len 0 .. 3;
  @ assigns \nothing;
  @ ensures 0 <= \result <= n;
  @ ensures \forall integer j; 0 <= j < \result ==> a[j] != x;
  @ ensures \result < n ==> \let r = \result; a[r] == x;
  @*/
int find(const int *a, int n, int x)
{
	int place = n;

	for (int i = 0; i < n; i++) {
		if (a[i] != x)
			continue;
		place = i;
		break;
	}
	return place;
}

/*@ \mpi_collective(MPI_COMM_WORLD, P2P):
  @   requires \mpi_comm_size >= 2;
  @   behavior first:
  @     assumes \mpi_comm_rank == 0;
  @     ensures \result == \on(1, v);
  @   behavior second:
  @     assumes \mpi_comm_rank == 1;
  @     ensures \result == v;
  @   behavior others:
  @     assumes \mpi_comm_rank >= 2;
  @     ensures \result == 0;
  @*/
int pass(int v)
{
	int rank, w = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	switch (rank) {
	case 0:
		MPI_Recv(&w, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		break;
	case 1:
		MPI_Send(&v, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		w = v;
		break;
	default:
		break;
	}
	return w;
}

/* rdma-robust: expect contract find verified */
/* rdma-robust: expect contract pass verified */
