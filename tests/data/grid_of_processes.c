#include <mpi.h>
#include <assert.h>
int main(int argc, char **argv)
{
	int rank, size, x, y = -1, up, down, dims[2] = {0, 0}, periods[2] = {1, 0}, at[2], d[2], p[2], keep[2] = {0, 1}, r, k;
	MPI_Comm grid, row;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	assert(dims[0] * dims[1] == size && dims[0] >= dims[1]);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Comm_rank(grid, &rank);
	MPI_Cart_get(grid, 2, d, p, at);
	assert(d[0] == dims[0] && p[0] && !p[1]);
	MPI_Cart_rank(grid, at, &r);
	assert(r == rank);
	MPI_Cart_coords(grid, rank, 2, d);
	assert(d[0] == at[0] && d[1] == at[1] && rank == at[0] * dims[1] + at[1]);
	MPI_Cart_shift(grid, 0, 1, &up, &down);
	x = rank;
	MPI_Sendrecv(&x, 1, MPI_INT, down, 3, &y, 1, MPI_INT, up, 3, grid, MPI_STATUS_IGNORE);
	assert(y == up);
	MPI_Cart_shift(grid, 1, 1, &up, &down);
	if (at[1] == 0)
		assert(up == MPI_PROC_NULL);
	MPI_Cart_sub(grid, keep, &row);
	MPI_Comm_size(row, &size);
	assert(size == dims[1]);
	MPI_Comm_rank(row, &r);
	assert(r == at[1]);
	MPI_Cartdim_get(row, &k);
	assert(k == 1);
	MPI_Topo_test(row, &k);
	assert(k == MPI_CART);
	MPI_Topo_test(MPI_COMM_WORLD, &k);
	assert(k == MPI_UNDEFINED);
	MPI_Comm_free(&row);
	MPI_Comm_free(&grid);
	MPI_Finalize();
	return 0;
}
