/* Loops with invariants: of a local function, and one that all processes go through together. */
#include <mpi.h>

/*@ requires n >= 0 && \valid(a + (0 .. n - 1)) && \valid(b + (0 .. n - 1));
  @ rdma_bounds a len 0 .. 2;
  @ rdma_bounds b len 0 .. 2;
  @ assigns \nothing;
  @ ensures \result == \sum(0, n - 1, \lambda integer j; a[j] * b[j]);
  @*/
int dot(const int *a, const int *b, int n)
{
	int s = 0, i = 0;

	/*@ loop invariant 0 <= i <= n && s == \sum(0, i - 1, \lambda integer j; a[j] * b[j]);
	  @ loop assigns s, i;
	  @ loop variant n - i; */
	while (i < n) {
		s += a[i] * b[i];
		i++;
	}
	return s;
}

/*@ \mpi_collective(MPI_COMM_WORLD, P2P):
  @   assigns \nothing;
  @   ensures \let me = \mpi_comm_rank; \result == \on((me + \mpi_comm_size - 1) % \mpi_comm_size, v);
  @*/
int pass(int v)
{
	int rank, size, w;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Send(&v, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
	MPI_Recv(&w, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return w;
}

/*@ \mpi_collective(MPI_COMM_WORLD, P2P):
  @   requires \mpi_agree(rounds) && rounds >= 0;
  @   assigns \nothing;
  @   ensures \let from = (\mpi_comm_rank - rounds) % \mpi_comm_size; \result == \on((from + \mpi_comm_size) % \mpi_comm_size, v);
  @*/
int passes(int v, int rounds)
{
	/*@ loop invariant \mpi_agree(rounds) && rounds >= 0;
	  @ loop invariant \let from = (\mpi_comm_rank - (i - 1)) % \mpi_comm_size; v == \on((from + \mpi_comm_size) % \mpi_comm_size, \old(v));
	  @ loop assigns v; */
	for (int i = 1; i <= rounds; i++)
		v = pass(v);
	return v;
}

/* rdma-robust: expect contract dot verified, contract dot_loop1 verified */
/* rdma-robust: expect contract pass verified, contract passes verified, contract passes_loop1 verified */
