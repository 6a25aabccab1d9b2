/* The whole sort by neighbours: as many rounds as there are processes. */
#include <mpi.h>

int my;

/*@ rdma_bounds i in 0..1;
  @ rdma_bounds my in 0..1;
  @ \mpi_collective(MPI_COMM_WORLD, P2P):
  @   requires i >= 0 && \mpi_agree(i);
  @   assigns my;
  @   ensures (\mpi_comm_rank + i) % 2 == 0 && \mpi_comm_rank < \mpi_comm_size - 1 ==> my <= \on(\mpi_comm_rank + 1, my);
  @   ensures \let x = my; \numof(0, \mpi_comm_size - 1, \lambda integer t; \on(t, my) == x)
  @           == \numof(0, \mpi_comm_size - 1, \lambda integer t; \old(\on(t, my)) == x);
  @   ensures (\mpi_comm_rank + i) % 2 == 0 ==> \absenceof \exit \after \enter \until \enter(\mpi_comm_rank + 1);
  @   ensures (\mpi_comm_rank + i) % 2 == 1 ==> \absenceof \exit \after \enter \until \enter(\mpi_comm_rank - 1);
  @*/
void oddEvenSort(int i)
{
	int rank, size, v;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if ((rank + i) % 2 == 0) {
		if (rank < size - 1) {
			MPI_Send(&my, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
			MPI_Recv(&v, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (v < my)
				my = v;
		}
	} else if (rank > 0) {
		MPI_Recv(&v, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&my, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD);
		if (v > my)
			my = v;
	}
}

/*@ rdma_bounds my in 0..2;
  @ \mpi_collective(MPI_COMM_WORLD, P2P):
  @   assigns my;
  @   ensures \mpi_comm_rank < \mpi_comm_size - 1 ==> my <= \on(\mpi_comm_rank + 1, my);
  @   ensures \let x = my; \numof(0, \mpi_comm_size - 1, \lambda integer t; \on(t, my) == x)
  @           == \numof(0, \mpi_comm_size - 1, \lambda integer t; \old(\on(t, my)) == x);
  @   waitsfor \all;
  @*/
void sort(void)
{
	int size;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < size; i++)
		oddEvenSort(i);
}

/* rdma-robust: expect contract oddEvenSort verified, contract sort verified */
