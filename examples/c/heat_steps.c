/* The heat equation u_t = Laplace u on the unit disc, u = 0 on its boundary, by linear finite elements and implicit Euler steps
 * (M + dt K) u_new = M u. One solver makes all steps; after half of them the step is halved. In the end u falls like exp(-5.783 t). */

#include <clinalg.h>

#include <math.h>
#include <stdio.h>

enum { RINGS = 20, NODES = 1 + 3 * RINGS * (RINGS - 1), TRIANGLES = 6 * RINGS * RINGS, STEPS = 20 };

static double x[NODES + 6 * RINGS], y[NODES + 6 * RINGS];
static int32_t triangles[TRIANGLES][3], rows[9 * TRIANGLES], columns[9 * TRIANGLES];
static double mass[9 * TRIANGLES], stiffness[9 * TRIANGLES], start[NODES];

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

/* Node 0 in the centre and 6 r nodes on ring r; those of the last ring, from number NODES on, are on the boundary. */
static void make_mesh(void)
{
    int r, sector, k, count = 0;
    for (r = 1; r <= RINGS; ++r) {
        const int below = r == 1 ? 0 : 1 + 3 * (r - 1) * (r - 2), here = 1 + 3 * r * (r - 1), around = r == 1 ? 1 : 6 * (r - 1);
        for (k = 0; k < 6 * r; ++k) {
            const double angle = 2 * acos(-1.0) * k / (6 * r);
            x[here + k] = cos(angle) * r / RINGS;
            y[here + k] = sin(angle) * r / RINGS;
        }
        for (sector = 0; sector < 6; ++sector) {
            for (k = 0; k < r; ++k) {
                const int a = here + sector * r + k, b = here + (sector * r + k + 1) % (6 * r);
                const int c = below + (sector * (r - 1) + k) % around, d = below + (sector * (r - 1) + k + 1) % around;
                triangles[count][0] = a, triangles[count][1] = b, triangles[count++][2] = c;
                if (k + 1 < r) triangles[count][0] = b, triangles[count][1] = d, triangles[count++][2] = c;
            }
        }
    }
}

/* The element matrices one after the other, without the rows and columns of the boundary; gives the number of entries. */
static size_t assemble(void)
{
    size_t entries = 0;
    int t, i, j;
    for (t = 0; t < TRIANGLES; ++t) {
        const int32_t *node = triangles[t];
        double gx[3], gy[3], area;
        for (i = 0; i < 3; ++i) {
            const int32_t p = node[(i + 1) % 3], q = node[(i + 2) % 3];
            gx[i] = y[p] - y[q];
            gy[i] = x[q] - x[p];
        }
        area = fabs(gx[0] * gy[1] - gx[1] * gy[0]) / 2;
        for (i = 0; i < 3; ++i) {
            for (j = 0; j < 3; ++j) {
                if (node[i] >= NODES || node[j] >= NODES) continue;
                rows[entries] = node[i];
                columns[entries] = node[j];
                mass[entries] = area / (i == j ? 6 : 12);
                stiffness[entries++] = (gx[i] * gx[j] + gy[i] * gy[j]) / (4 * area);
            }
        }
    }
    return entries;
}

int main(void)
{
    const clinalg_complex one = {1, 0};
    clinalg_complex dt = {0.02, 0};
    clinalg_handle m, k, s = 0, u, b = 0, solver;
    clinalg_solver_options options;
    clinalg_report report;
    size_t entries, i, step, iterations = 0;
    double before, after = 1;

    make_mesh();
    entries = assemble();
    for (i = 0; i < NODES; ++i) start[i] = 1 - x[i] * x[i] - y[i] * y[i];
    if (clinalg_sparse_from_coo_i32(CLINALG_PRECISION_F64, NODES, NODES, entries, rows, columns, mass, &m)) return failed("mass matrix");
    if (clinalg_sparse_from_coo_i32(CLINALG_PRECISION_F64, NODES, NODES, entries, rows, columns, stiffness, &k)) return failed("stiffness");
    if (clinalg_vector_create(CLINALG_PRECISION_F64, start, NODES, &u)) return failed("start");

    if (clinalg_sparse_add(one, m, dt, k, &s)) return failed("matrix of a step");
    if (clinalg_solver_options_default(&options, sizeof options)) return failed("options");
    options.preconditioner = CLINALG_PRECONDITIONER_IC;
    if (clinalg_solver_create(&options, s, &solver)) return failed("solver");
    clinalg_object_release(s); /* the solver keeps the matrix */

    for (step = 1; step <= STEPS; ++step) {
        if (step == STEPS / 2 + 1) {
            dt.re /= 2;
            if (clinalg_sparse_add(one, m, dt, k, &s)) return failed("matrix of a step");
            if (clinalg_solver_refill(solver, s)) return failed("refill");
            clinalg_object_release(s);
        }
        before = after;
        if (clinalg_matrix_mv(1, m, u, 0, &b)) return failed("right-hand side");
        if (clinalg_solver_solve(solver, b, &u, NULL, NULL, &report, NULL, 0)) return failed("solve");
        if (report.stop != CLINALG_STOP_CONVERGED) return 1;
        if (clinalg_array_read(u, CLINALG_PRECISION_F64, 0, 1, &after)) return failed("read");
        iterations += report.iterations;
    }
    printf("%d unknowns, %zu iterations, u falls like exp(-%.4f t)\n", NODES, iterations, (before / after - 1) / dt.re);

    clinalg_object_release(solver);
    clinalg_object_release(b);
    clinalg_object_release(u);
    clinalg_object_release(k);
    clinalg_object_release(m);
    return 0;
}
