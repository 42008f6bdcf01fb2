// a·b, or with chain=1 the chain a·b + c·(d·e), by ScaLAPACK's psgemm: a is n×k, b k×n, c n×k, d k×l, e l×n.
// usage: mpirun -n P scalapack N K L CHAIN STEPS SECONDS; prints one line of JSON as the programs in Python do. The numbers
// of the matrices are its own.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void Cblacs_pinfo(int *, int *), Cblacs_get(int, int, int *), Cblacs_gridinit(int *, const char *, int, int), Cblacs_gridinfo(int, int *, int *, int *, int *);
extern int numroc_(int *, int *, int *, int *, int *);
extern void descinit_(int *, int *, int *, int *, int *, int *, int *, int *, int *, int *);
extern void psgemm_(char *, char *, int *, int *, int *, float *, float *, int *, int *, int *, float *, int *, int *, int *, float *, float *, int *, int *, int *);

static int block = 128, zero = 0, one = 1, context, rows_of_grid, columns_of_grid, my_row, my_column;

typedef struct {
	int m, n, desc[9];
	float *v;
} matrix;

static matrix make(int m, int n) {
	matrix x = {m, n, {0}, NULL};
	int info, ml = numroc_(&m, &block, &my_row, &zero, &rows_of_grid), nl = numroc_(&n, &block, &my_column, &zero, &columns_of_grid), lead = ml > 1 ? ml : 1;
	descinit_(x.desc, &m, &n, &block, &block, &zero, &zero, &context, &lead, &info);
	size_t size = (size_t)ml * nl;
	x.v = malloc(4 * size + 4);
	if (info != 0 || x.v == NULL) {
		fprintf(stderr, "no matrix of %d × %d\n", m, n);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (size_t i = 0; i < size; i++) x.v[i] = (i * 2654435761u & 1023) / 1024.0f;
	return x;
}

// c = a·b + beta·c
static void multiply(matrix a, matrix b, float beta, matrix c) {
	float alpha = 1;
	psgemm_("N", "N", &c.m, &c.n, &a.n, &alpha, a.v, &one, &one, a.desc, b.v, &one, &one, b.desc, &beta, c.v, &one, &one, c.desc);
}

static long peak(void) {
	char line[256];
	long kb = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f)) sscanf(line, "VmHWM: %ld", &kb);
	if (f) fclose(f);
	return kb * 1024;
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	if (argc != 7) return 2;
	int n = atoi(argv[1]), k = atoi(argv[2]), l = atoi(argv[3]), chain = atoi(argv[4]), steps = atoi(argv[5]), me, processes, done = 0;
	double seconds = atof(argv[6]), *took = calloc(steps, sizeof *took);
	Cblacs_pinfo(&me, &processes);
	Cblacs_get(-1, 0, &context);
	Cblacs_gridinit(&context, "Row", 1, processes);
	Cblacs_gridinfo(context, &rows_of_grid, &columns_of_grid, &my_row, &my_column);
	matrix a = make(n, k), b = make(k, n), r = make(n, n), c, d, e, de;
	if (chain) c = make(n, k), d = make(k, l), e = make(l, n), de = make(k, n);
	double begin = MPI_Wtime();
	for (int more = 1; more && done < steps; done++) {
		MPI_Barrier(MPI_COMM_WORLD);
		double t = MPI_Wtime();
		multiply(a, b, 0, r);
		if (chain) multiply(d, e, 0, de), multiply(c, de, 1, r);
		MPI_Barrier(MPI_COMM_WORLD);
		took[done] = MPI_Wtime() - t;
		more = done < 2 || MPI_Wtime() - begin < seconds;
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	long mine = peak(), all = 0;
	MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0) {
		printf("{\"steps\": [");
		for (int i = 0; i < done; i++) printf("%s%g", i ? ", " : "", took[i]);
		printf("], \"loss\": [], \"peak\": %ld, \"versions\": \"\"}\n", all);
	}
	MPI_Finalize();
	return 0;
}
