/* Reduce and scatter with an operation that is not commutative, the first number that is not 0. What comes from smaller
   numbers is put in front of what there is of them, and so for greater ones. */
#include <mpi.h>

/*@ rdma_bounds x in 0..2;
  @ rdma_bounds y in 0..2;
  @ assigns \nothing;
  @ ensures \result == (x != 0 ? x : y);
  @*/
int first(int x, int y)
{
	if (x != 0)
		return x;
	return y;
}

/*@ rdma_bounds s len \mpi_comm_size .. \mpi_comm_size in 0..1;
  @ \mpi_collective(comm, P2P):
  @   requires \valid(s + (0 .. \mpi_comm_size - 1));
  @   assigns \nothing;
  @   ensures \let me = \mpi_comm_rank; (\forall integer t; 0 <= t < \mpi_comm_size ==> \on(t, s[me]) == 0) ==> \result == 0;
  @   ensures \let me = \mpi_comm_rank; \forall integer t; 0 <= t < \mpi_comm_size ==>
  @     (\on(t, s[me]) != 0 && (\forall integer h; 0 <= h < t ==> \on(h, s[me]) == 0) ==> \result == \on(t, s[me]));
  @   waitsfor \all;
  @*/
int reduceScatter(const int *s, MPI_Comm comm)
{
	int rank, size, low, high = 0, one, to, from;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	low = s[rank];
	for (int h = 1; h < size; h++) {
		to = (rank + h) % size;
		from = (rank - h + size) % size;
		MPI_Send(&s[to], 1, MPI_INT, to, h, comm);
		MPI_Recv(&one, 1, MPI_INT, from, h, comm, MPI_STATUS_IGNORE);
		if (from < rank)
			low = first(one, low);
		else
			high = first(one, high);
	}
	return low != 0 ? low : high;
}

/* rdma-robust: expect contract first verified, contract reduceScatter verified */
