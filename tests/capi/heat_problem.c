/* The Dirichlet problem of the heat equation from C99: a surface from a file, projections, right-hand sides against their mass matrices, and the
 * temperature inside against a point source. */

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 16, MOST_NODES = 128, MOST_TRIANGLES = 256, MOST = MOST_TRIANGLES * MOST_STEPS };

#define SAYS(word) CHECK(strstr(clinalg_last_error_message(), word) != NULL)

static const double pi = 3.14159265358979323846;
static const double alpha = 0.5, end_time = 3, source[3] = {2.5, 0.3, 0.2};

static double nodes[MOST_NODES][3];
static uint32_t triangles[MOST_TRIANGLES][3];
static size_t node_count, triangle_count, steps;

static uint32_t node(const double *at)
{
    size_t k;
    for (k = 0; k < node_count; ++k) {
        if (fabs(nodes[k][0] - at[0]) + fabs(nodes[k][1] - at[1]) + fabs(nodes[k][2] - at[2]) < 1e-9) return (uint32_t)k;
    }
    memcpy(nodes[node_count], at, sizeof nodes[0]);
    return (uint32_t)node_count++;
}

/* The cube (-1, 1)^3 with n by n squares on each face, two triangles each, written to a file and read again. */
static void make_cube(size_t n)
{
    static double read_nodes[MOST_NODES][3];
    static uint32_t read_triangles[MOST_TRIANGLES][3];
    const char *const name = "heat_problem.off";
    size_t i, j, k, corner, read_node_count = 0, read_triangle_count = 0;
    int axis, side;
    FILE *file;
    node_count = triangle_count = 0;
    for (axis = 0; axis < 3; ++axis) {
        for (side = -1; side <= 1; side += 2) {
            for (i = 0; i < n; ++i) {
                for (j = 0; j < n; ++j) {
                    uint32_t square[4];
                    for (corner = 0; corner < 4; ++corner) {
                        double at[3];
                        at[axis] = side;
                        at[(axis + 1) % 3] = -side + side * 2 * (double)(i + (corner == 1 || corner == 2)) / (double)n;
                        at[(axis + 2) % 3] = -1 + 2 * (double)(j + (corner >= 2)) / (double)n;
                        square[corner] = node(at);
                    }
                    memcpy(triangles[triangle_count++], square, 3 * sizeof *square);
                    square[1] = square[2];
                    square[2] = square[3];
                    memcpy(triangles[triangle_count++], square, 3 * sizeof *square);
                }
            }
        }
    }
    file = fopen(name, "w");
    CHECK(file != NULL);
    fprintf(file, "OFF\n%zu %zu 0\n", node_count, triangle_count);
    for (k = 0; k < node_count; ++k) fprintf(file, "%.17g %.17g %.17g\n", nodes[k][0], nodes[k][1], nodes[k][2]);
    for (k = 0; k < triangle_count; ++k) {
        fprintf(file, "3 %u %u %u\n", (unsigned)triangles[k][0], (unsigned)triangles[k][1], (unsigned)triangles[k][2]);
    }
    fclose(file);
    OK(clinalg_heat_mesh_read(name, NULL, 0, &read_node_count, NULL, 0, &read_triangle_count));
    CHECK(read_node_count == node_count && read_triangle_count == triangle_count);
    OK(clinalg_heat_mesh_read(name, read_nodes[0], node_count, &read_node_count, read_triangles[0], 2, &read_triangle_count));
    CHECK(memcmp(read_nodes, nodes, node_count * sizeof nodes[0]) == 0);
    CHECK(memcmp(read_triangles, triangles, 2 * sizeof triangles[0]) == 0 && read_triangle_count == triangle_count);
}

static clinalg_handle operator_of(uint32_t kind)
{
    clinalg_heat_options options;
    clinalg_handle made = 0;
    OK(clinalg_heat_options_default(&options, sizeof options));
    options.alpha = alpha;
    options.end_time = end_time;
    options.steps = steps;
    OK(clinalg_heat_operator_create(&options, kind, nodes[0], node_count, triangles[0], triangle_count, &made));
    return made;
}

static int32_t linear(const double *point, const double *normal, double time, double *value, void *data)
{
    ++*(size_t *)data;
    CHECK(fabs(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2] - 1) < 1e-12);
    *value = 1 + point[0] - 2 * point[1] + 3 * point[2] + time;
    return 0;
}

static double temperature(const double *point, double time)
{
    double squares = 0;
    int k;
    for (k = 0; k < 3; ++k) squares += (point[k] - source[k]) * (point[k] - source[k]);
    return pow(4 * pi * alpha * time, -1.5) * exp(-squares / (4 * alpha * time));
}

static int32_t value_of(const double *point, const double *normal, double time, double *value, void *data)
{
    (void)normal, (void)data;
    *value = temperature(point, time);
    return 0;
}

static int32_t failing(const double *point, const double *normal, double time, double *value, void *data)
{
    (void)point, (void)normal, (void)time, (void)data;
    *value = 0;
    return 42;
}

static int32_t no_number(const double *point, const double *normal, double time, double *value, void *data)
{
    (void)point, (void)normal, (void)time, (void)data;
    *value = INFINITY;
    return 0;
}

/* The area of a triangle, and its centre. */
static double area(size_t k, double *centre)
{
    const double *p = nodes[triangles[k][0]], *q = nodes[triangles[k][1]], *r = nodes[triangles[k][2]];
    double normal[3];
    int c;
    for (c = 0; c < 3; ++c) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        normal[c] = (q[d] - p[d]) * (r[e] - p[e]) - (q[e] - p[e]) * (r[d] - p[d]);
        centre[c] = (p[c] + q[c] + r[c]) / 3;
    }
    return sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]) / 2;
}

/* Projections of linear functions are exact; right-hand sides less the products are halves of the mass matrices. */
static void projections(void)
{
    const double h = end_time / (double)steps;
    static double found[MOST], mass[MOST];
    clinalg_handle k = operator_of(CLINALG_HEAT_KIND_K), ks = operator_of(CLINALG_HEAT_KIND_KS);
    clinalg_handle u = 0, w = 0, b = 0, product = 0;
    size_t calls = 0, step, i, c;
    double centre[3];
    OK(clinalg_heat_project(k, linear, &calls, &u));
    OK(clinalg_heat_project(ks, linear, &calls, &w));
    CHECK(calls > 2 * triangle_count * steps);
    OK(clinalg_array_read(u, CLINALG_PRECISION_F64, 0, node_count * steps, found));
    for (step = 0; step < steps; ++step) {
        for (i = 0; i < node_count; ++i) {
            const double want = 1 + nodes[i][0] - 2 * nodes[i][1] + 3 * nodes[i][2] + ((double)step + 0.5) * h;
            CHECK(fabs(found[step * node_count + i] - want) < 1e-11);
        }
    }
    for (step = 0; step < steps; ++step) {
        for (i = 0; i < triangle_count; ++i) {
            double mean = 0;
            for (c = 0; c < 3; ++c) mean += found[step * node_count + triangles[i][c]] / 3;
            mass[step * triangle_count + i] = 0.5 * h * area(i, centre) * mean;
        }
    }
    OK(clinalg_heat_right_side(k, u, &b));
    OK(clinalg_matrix_mv(1, k, u, 0, &product));
    OK(clinalg_array_subtract(b, product, &b));
    OK(clinalg_array_read(b, CLINALG_PRECISION_F64, 0, triangle_count * steps, found));
    for (i = 0; i < triangle_count * steps; ++i) CHECK(fabs(found[i] - mass[i]) < 1e-12);
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(product));
    product = 0;

    OK(clinalg_array_read(w, CLINALG_PRECISION_F64, 0, triangle_count * steps, found));
    memset(mass, 0, sizeof mass);
    for (step = 0; step < steps; ++step) {
        for (i = 0; i < triangle_count; ++i) {
            const double of_triangle = area(i, centre), value = found[step * triangle_count + i];
            CHECK(fabs(value - (1 + centre[0] - 2 * centre[1] + 3 * centre[2] + ((double)step + 0.5) * h)) < 1e-11);
            for (c = 0; c < 3; ++c) mass[step * node_count + triangles[i][c]] += 0.5 * h * of_triangle / 3 * value;
        }
    }
    OK(clinalg_heat_right_side(ks, w, &b));
    OK(clinalg_matrix_mv(1, ks, w, 0, &product));
    OK(clinalg_array_add(b, product, &b));
    OK(clinalg_array_read(b, CLINALG_PRECISION_F64, 0, node_count * steps, found));
    for (i = 0; i < node_count * steps; ++i) CHECK(fabs(found[i] - mass[i]) < 1e-12);

    {
        clinalg_handle v = operator_of(CLINALG_HEAT_KIND_V), none = 0, narrow = 0;
        const double inside[3] = {0, 0, 0};
        double values[MOST_STEPS];
        size_t count = 7;
        FAILS(clinalg_heat_right_side(v, w, &none), CLINALG_STATUS_VALUE);
        SAYS("K or Ks");
        FAILS(clinalg_heat_right_side(k, w, &none), CLINALG_STATUS_LENGTH);
        FAILS(clinalg_heat_right_side(w, w, &none), CLINALG_STATUS_HANDLE_KIND);
        FAILS(clinalg_heat_right_side(k, u, NULL), CLINALG_STATUS_NULL_POINTER);
        OK(clinalg_array_convert(u, CLINALG_PRECISION_F32, &narrow));
        FAILS(clinalg_heat_right_side(k, narrow, &none), CLINALG_STATUS_PRECISION);
        FAILS(clinalg_heat_project(v, NULL, NULL, &none), CLINALG_STATUS_NULL_POINTER);
        FAILS(clinalg_heat_project(v, failing, NULL, &none), CLINALG_STATUS_VALUE);
        SAYS("42");
        FAILS(clinalg_heat_project(k, no_number, NULL, &none), CLINALG_STATUS_VALUE);
        SAYS("finite");
        FAILS(clinalg_heat_project(u, value_of, NULL, &none), CLINALG_STATUS_HANDLE_KIND);
        FAILS(clinalg_heat_interior(v, w, u, inside, 1, values, steps - 1), CLINALG_STATUS_LENGTH);
        FAILS(clinalg_heat_interior(v, u, w, inside, 1, values, steps), CLINALG_STATUS_LENGTH);
        FAILS(clinalg_heat_interior(v, w, u, NULL, 1, values, steps), CLINALG_STATUS_NULL_POINTER);
        FAILS(clinalg_heat_mesh_read("no such file.off", NULL, 0, &count, NULL, 0, &count), CLINALG_STATUS_FILE_IO);
        FAILS(clinalg_heat_mesh_read("heat_problem.txt", NULL, 0, &count, NULL, 0, &count), CLINALG_STATUS_VALUE);
        FAILS(clinalg_heat_mesh_read(NULL, NULL, 0, &count, NULL, 0, &count), CLINALG_STATUS_NULL_POINTER);
        FAILS(clinalg_heat_mesh_read("heat_problem.off", NULL, 0, NULL, NULL, 0, &count), CLINALG_STATUS_NULL_POINTER);
        FAILS(clinalg_heat_mesh_read("heat_problem.off", NULL, 1, &count, NULL, 0, &count), CLINALG_STATUS_NULL_POINTER);
        CHECK(none == 0);
        OK(clinalg_object_release(v));
        OK(clinalg_object_release(narrow));
    }
    OK(clinalg_object_release(k));
    OK(clinalg_object_release(ks));
    OK(clinalg_object_release(u));
    OK(clinalg_object_release(w));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(product));
}

/* Solves V w = (M / 2 + K) u for a point source outside; gives the largest relative error of the temperature inside, in the last step. */
static double dirichlet(void)
{
    static const double inside[2][3] = {{0, 0, 0}, {0.2, -0.3, 0.1}};
    clinalg_handle v = operator_of(CLINALG_HEAT_KIND_V), k = operator_of(CLINALG_HEAT_KIND_K), u = 0, b = 0, w = 0, inverse = 0;
    clinalg_solver_options options;
    clinalg_report report;
    double values[2 * MOST_STEPS], most = 0;
    size_t i;
    OK(clinalg_heat_project(k, value_of, NULL, &u));
    OK(clinalg_heat_right_side(k, u, &b));
    OK(clinalg_heat_forward_create(v, &inverse));
    OK(clinalg_solver_options_default(&options, sizeof options));
    options.method = CLINALG_METHOD_GMRES;
    options.inverse = inverse;
    OK(clinalg_system_solve(&options, v, b, &w, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED);
    OK(clinalg_heat_interior(v, w, u, inside[0], 2, values, 2 * steps));
    for (i = 0; i < 2; ++i) {
        const double want = temperature(inside[i], ((double)steps - 0.5) * end_time / (double)steps);
        if (!(fabs(values[2 * (steps - 1) + i] / want - 1) <= most)) most = fabs(values[2 * (steps - 1) + i] / want - 1);
    }
    OK(clinalg_object_release(v));
    OK(clinalg_object_release(k));
    OK(clinalg_object_release(u));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(w));
    OK(clinalg_object_release(inverse));
    return most;
}

int main(void)
{
    double coarse, fine;
    make_cube(2);
    steps = 4;
    projections();
    coarse = dirichlet();
    make_cube(4);
    steps = 16;
    fine = dirichlet();
    printf("errors %.2e and %.2e\n", coarse, fine);
    CHECK(fine < coarse / 4 && fine < 0.005);
    OK(clinalg_shutdown());
    if (failures == 0) puts("passed");
    return failures != 0;
}
