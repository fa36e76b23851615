/* Random calls over every kind of object: create, use, release, use after release, forged handles.
 *
 *   fuzz CALLS [SEED [host]]
 *
 * With `host` only three kernels run, at the end: for tools under which a driver's compiler takes minutes.
 * A model on the host says for each call whether its handles are live and, where all fit together, what must come out.
 * Values are small whole numbers, on which both precisions are exact. At the end no device memory may be left. */

#include <clinalg.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE = 32, DEAD = 64, SIDE = 3, MOST = SIDE * SIDE };

/* An object and what it must hold: v[j * rows + i], zero where nothing is stored. */
typedef struct {
    clinalg_handle handle;
    clinalg_kind kind;
    clinalg_precision precision;
    size_t rows, cols;
    double v[MOST];
} object;

static object pool[LIVE];
static size_t count;
static clinalg_handle dead[DEAD];
static size_t deaths;
static unsigned long calls, failures;
static uint64_t state;
static int host_only;

static uint64_t below(uint64_t n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (state >> 16) % n;
}

static double small(void) { return (double)below(7) - 3; }

static void expect(int holds, const char *what, clinalg_status got)
{
    if (holds) return;
    ++failures;
    fprintf(stderr, "call %lu: %s: status %d (last error: %s)\n", calls, what, (int)got, clinalg_last_error_message());
    if (failures > 20) exit(1);
}

static size_t length(const object *o) { return o->rows * o->cols; }

/* Sparse matrices store the diagonal and the first row, band matrices the diagonal and the one below. */
static int stored(const object *o, size_t i, size_t j)
{
    switch (o->kind) {
    case CLINALG_KIND_CSR: return i == j || i == 0;
    case CLINALG_KIND_BAND: return i == j || i == j + 1;
    default: return 1;
    }
}

static int full(const object *o) { return o->kind == CLINALG_KIND_VECTOR || o->kind == CLINALG_KIND_DENSE; }

static int alike(const object *a, const object *b)
{
    return a->kind == b->kind && a->precision == b->precision && a->rows == b->rows && a->cols == b->cols;
}

/* The handle given to a call: of a live object, which is then in *o, or of none. */
static clinalg_handle pick(object **o)
{
    *o = NULL;
    if (count > 0 && below(8) != 0) {
        *o = &pool[below(count)];
        return (*o)->handle;
    }
    if (below(2) && deaths > 0) return dead[below(deaths < DEAD ? deaths : DEAD)];
    {
        clinalg_handle forged = below(4) == 0 || count == 0 ? state : pool[below(count)].handle ^ (1ULL << below(64));
        size_t k;
        for (k = 0; k < count; ++k)
            if (pool[k].handle == forged) *o = &pool[k];
        return forged;
    }
}

static int about_handle(clinalg_status status)
{
    return status == CLINALG_STATUS_HANDLE_STALE || status == CLINALG_STATUS_HANDLE_FOREIGN
        || status == CLINALG_STATUS_HANDLE_KIND;
}

/* What an argument that is no live object, or that does not fit, may lead to. */
static int about_argument(clinalg_status status)
{
    return about_handle(status) || (status >= CLINALG_STATUS_LENGTH && status <= CLINALG_STATUS_CONTEXT);
}

static void forget(size_t k)
{
    dead[deaths++ % DEAD] = pool[k].handle;
    pool[k] = pool[--count];
}

static void release(size_t k)
{
    clinalg_status status = clinalg_object_release(pool[k].handle);
    ++calls;
    expect(status == CLINALG_STATUS_OK, "release of a live object", status);
    forget(k);
}

static object *append(object made)
{
    pool[count] = made;
    return &pool[count++];
}

/* One kernel of each sort, on objects known. */
static void kernels(void)
{
    const double values[3] = {1, 2, 3}, entries[3] = {2, 2, 2};
    const size_t offsets[4] = {0, 1, 2, 3}, indices[3] = {0, 1, 2};
    double found[3], number = 0;
    clinalg_handle x = 0, y = 0, a = 0;
    clinalg_status status = clinalg_vector_create(CLINALG_PRECISION_F64, values, 3, &x);
    if (!status) status = clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 3, 3, offsets, indices, entries, &a);
    if (!status) status = clinalg_matrix_mv(1, a, x, 0, &y);
    if (!status) status = clinalg_array_add(x, y, &y);
    if (!status) status = clinalg_array_dot(x, y, &number);
    if (!status) status = clinalg_array_read(y, CLINALG_PRECISION_F64, 0, 3, found);
    expect(!status && number == 42 && found[0] == 3 && found[1] == 6 && found[2] == 9, "kernels", status);
    clinalg_object_release(x), clinalg_object_release(y), clinalg_object_release(a);
    calls += 9;
}

/* Keeps values where sums and products are exact. */
static void calm(object *o)
{
    size_t i, j, k;
    double value = small();
    int large = 0;
    clinalg_status status;
    for (k = 0; k < length(o); ++k) large |= fabs(o->v[k]) > 1024;
    if (!large) return;
    status = clinalg_array_fill(o->handle, value);
    ++calls;
    expect(status == CLINALG_STATUS_OK, "fill", status);
    for (j = 0; j < o->cols; ++j)
        for (i = 0; i < o->rows; ++i) o->v[j * o->rows + i] = stored(o, i, j) ? value : 0;
}

static void to_type(clinalg_precision precision, const double *from, size_t n, void *to)
{
    size_t k;
    for (k = 0; k < n; ++k)
        if (precision == CLINALG_PRECISION_F32) ((float *)to)[k] = (float)from[k];
        else ((double *)to)[k] = from[k];
}

static double from_type(clinalg_precision precision, const void *from, size_t k)
{
    return precision == CLINALG_PRECISION_F32 ? ((const float *)from)[k] : ((const double *)from)[k];
}

static void create(void)
{
    object o;
    double data[MOST];
    size_t offsets[SIDE + 1], indices[MOST], entries = 0, i, j;
    clinalg_status status = CLINALG_STATUS_INTERNAL;
    memset(&o, 0, sizeof o);
    o.kind = (clinalg_kind)(CLINALG_KIND_VECTOR + below(4));
    o.precision = (clinalg_precision)below(2);
    o.rows = below(SIDE + 1);
    o.cols = o.kind == CLINALG_KIND_VECTOR ? 1 : below(SIDE + 1);
    for (j = 0; j < o.cols; ++j)
        for (i = 0; i < o.rows; ++i) o.v[j * o.rows + i] = stored(&o, i, j) ? small() : 0;
    to_type(o.precision, o.v, length(&o), data);
    switch (o.kind) {
    case CLINALG_KIND_VECTOR: status = clinalg_vector_create(o.precision, data, o.rows, &o.handle); break;
    case CLINALG_KIND_DENSE: status = clinalg_dense_create(o.precision, o.rows, o.cols, data, &o.handle); break;
    case CLINALG_KIND_BAND: status = clinalg_band_create(o.precision, o.rows, o.cols, 1, 0, data, &o.handle); break;
    default: {
        double values[MOST];
        int by_rows = host_only || below(2); /* columns are converted on the device */
        size_t outer = by_rows ? o.rows : o.cols, inner = by_rows ? o.cols : o.rows;
        for (i = 0; i < outer; ++i) {
            offsets[i] = entries;
            for (j = 0; j < inner; ++j) {
                size_t row = by_rows ? i : j, col = by_rows ? j : i;
                if (!stored(&o, row, col)) continue;
                indices[entries] = j;
                values[entries++] = o.v[col * o.rows + row];
            }
        }
        offsets[outer] = entries;
        to_type(o.precision, values, entries, data);
        status = (by_rows ? clinalg_sparse_from_csr : clinalg_sparse_from_csc)(o.precision, o.rows, o.cols, offsets, indices, data, &o.handle);
    }
    }
    ++calls;
    expect(status == CLINALG_STATUS_OK, "create", status);
    if (status == CLINALG_STATUS_OK) append(o);
}

/* Reads the whole object and compares it. */
static void compare(const object *o)
{
    double data[MOST];
    size_t offsets[SIDE + 1], indices[MOST], entries = MOST, i, j, k;
    double found[MOST];
    clinalg_status status;
    clinalg_object_info info;
    status = clinalg_object_get_info(o->handle, &info);
    expect(status == CLINALG_STATUS_OK && info.kind == o->kind && info.precision == o->precision
               && info.rows == o->rows && info.cols == o->cols, "info", status);
    memset(found, 0, sizeof found);
    if (full(o)) {
        status = clinalg_array_read(o->handle, o->precision, 0, length(o), data);
        for (k = 0; k < length(o); ++k) found[k] = from_type(o->precision, data, k);
    } else {
        status = clinalg_sparse_read(o->handle, o->precision, offsets, indices, data, &entries);
        for (j = 0; status == CLINALG_STATUS_OK && j < o->cols; ++j)
            for (k = offsets[j]; k < offsets[j + 1]; ++k) {
                i = indices[k];
                found[j * o->rows + i] = from_type(o->precision, data, k);
            }
    }
    calls += 2;
    expect(status == CLINALG_STATUS_OK, "read", status);
    for (k = 0; k < length(o); ++k)
        if (found[k] != o->v[k]) {
            fprintf(stderr, "object %llx of kind %d: value %lu is %g instead of %g\n", (unsigned long long)o->handle,
                    (int)o->kind, (unsigned long)k, found[k], o->v[k]);
            expect(0, "values", status);
            return;
        }
}

/* out = f(a, b) element by element. */
static void elementwise(void)
{
    object *a, *b, *out = NULL, result;
    clinalg_handle ah = pick(&a), bh = pick(&b), oh = 0;
    int op = (int)below(7), two = op < 5, make = below(2) == 0, fits;
    clinalg_status status;
    double c = small();
    size_t k;
    if (!two) b = a, bh = ah;
    if (a != NULL && two && below(2)) {
        size_t start = below(count);
        for (k = 0; k < count; ++k)
            if (alike(a, &pool[(start + k) % count])) { b = &pool[(start + k) % count], bh = b->handle; break; }
    }
    if (!make) oh = below(2) && a != NULL ? (out = a)->handle : pick(&out);
    make = oh == 0;
    if (make && count == LIVE) { release(below(count)); return; }
    fits = a && b && alike(a, b) && (make || (out && alike(a, out)));
    if (a && b) {
        result = *a;
        for (k = 0; k < length(a); ++k) {
            double x = a->v[k], y = b->v[k < length(b) ? k : 0];
            switch (op) {
            case 0: result.v[k] = x + y; break;
            case 1: result.v[k] = x - y; break;
            case 2: result.v[k] = x - c * y; break;
            case 3: result.v[k] = x * y; break;
            case 4: result.v[k] = c * x + 2 * y; break;
            case 5: result.v[k] = c * x; break;
            default: result.v[k] = x;
            }
        }
    }
    switch (op) {
    case 0: status = clinalg_array_add(ah, bh, &oh); break;
    case 1: status = clinalg_array_subtract(ah, bh, &oh); break;
    case 2: status = clinalg_array_subtract_scaled(ah, bh, c, &oh); break;
    case 3: status = clinalg_array_multiply(ah, bh, &oh); break;
    case 4: status = clinalg_array_axpby(c, ah, 2, bh, &oh); break;
    case 5: status = clinalg_array_scale(ah, c, &oh); break;
    default: status = clinalg_array_copy(ah, &oh);
    }
    ++calls;
    if (fits) {
        expect(status == CLINALG_STATUS_OK, "operation on objects that fit", status);
    } else if (a && b && (make || out) && full(a) && full(b) && (make || full(out)) && status == CLINALG_STATUS_OK) {
        /* A vector passes for a dense matrix of one column. */
        expect(length(a) == length(b) && (make || length(out) == length(a)), "shapes", status);
    } else {
        expect(about_argument(status), "operation on what does not fit", status);
        return;
    }
    if (status != CLINALG_STATUS_OK) return;
    if (make) {
        result.handle = oh;
        out = append(result);
    } else {
        memcpy(out->v, result.v, sizeof out->v);
    }
    calm(out);
}

static void product(void)
{
    object *a, *x, *out = NULL, result;
    clinalg_handle ah = pick(&a), xh = pick(&x), oh = 0;
    int transposed = (int)below(2), fits;
    double alpha = small(), beta = small();
    size_t i, j, k;
    clinalg_status status;
    if (a != NULL && below(2))
        for (k = 0; k < count; ++k)
            if (pool[k].kind == CLINALG_KIND_VECTOR && pool[k].precision == a->precision
                && pool[k].rows == (transposed ? a->rows : a->cols)) x = &pool[k], xh = x->handle;
    if (below(2)) oh = pick(&out);
    if (oh == 0 && count == LIVE) { release(below(count)); return; }
    fits = a && x && a->kind != CLINALG_KIND_VECTOR && !(transposed && a->kind == CLINALG_KIND_BAND)
        && x->kind == CLINALG_KIND_VECTOR && x->precision == a->precision
        && x->rows == (transposed ? a->rows : a->cols)
        && (oh == 0 || (out && out != x && out != a && out->kind == CLINALG_KIND_VECTOR
                        && out->precision == a->precision && out->rows == (transposed ? a->cols : a->rows)));
    if (fits) {
        memset(&result, 0, sizeof result);
        result.kind = CLINALG_KIND_VECTOR;
        result.precision = a->precision;
        result.rows = transposed ? a->cols : a->rows;
        result.cols = 1;
        for (k = 0; out && k < result.rows; ++k) result.v[k] = beta * out->v[k];
        for (j = 0; j < a->cols; ++j)
            for (i = 0; i < a->rows; ++i)
                result.v[transposed ? j : i] += alpha * a->v[j * a->rows + i] * x->v[transposed ? i : j];
    }
    status = (transposed ? clinalg_matrix_mv_transposed : clinalg_matrix_mv)(alpha, ah, xh, beta, &oh);
    ++calls;
    if (!fits && status == CLINALG_STATUS_OK) {
        /* Dense matrices of one row or column pass for vectors: what came out is read, not predicted. */
        double data[MOST];
        expect(a && x && (x->rows == 1 || x->cols == 1) && full(x), "product of what does not fit", status);
        if (out == NULL) {
            memset(&result, 0, sizeof result);
            result.kind = x->kind;
            result.precision = a->precision;
            result.rows = transposed ? a->cols : a->rows;
            result.cols = 1;
            result.handle = oh;
            out = append(result);
        }
        status = clinalg_array_read(out->handle, out->precision, 0, length(out), data);
        ++calls;
        expect(status == CLINALG_STATUS_OK, "read of a product", status);
        for (k = 0; k < length(out); ++k) out->v[k] = from_type(out->precision, data, k);
        calm(out);
        return;
    }
    if (!fits) {
        expect(about_argument(status), "product of what does not fit", status);
        return;
    }
    expect(status == CLINALG_STATUS_OK, "product", status);
    if (status != CLINALG_STATUS_OK) return;
    if (out == NULL) {
        result.handle = oh;
        out = append(result);
    } else {
        memcpy(out->v, result.v, sizeof out->v);
    }
    calm(out);
}

static void parts(void)
{
    object *a, *b, made;
    clinalg_handle ah = pick(&a), bh = pick(&b), part = 0;
    size_t offset = below(MOST + 1), n = below(MOST + 1);
    double data[MOST], values[MOST];
    size_t k;
    clinalg_status status;
    for (k = 0; k < MOST; ++k) values[k] = small();
    switch (below(3)) {
    case 0:
        if (count == LIVE) { release(below(count)); return; }
        status = clinalg_vector_slice(ah, offset, n, &part);
        if (status == CLINALG_STATUS_OK) {
            expect(a && full(a) && offset + n <= length(a), "slice outside", status);
            memset(&made, 0, sizeof made);
            made.handle = part;
            made.kind = CLINALG_KIND_VECTOR;
            made.precision = a->precision;
            made.rows = n;
            made.cols = 1;
            memcpy(made.v, a->v + offset, n * sizeof *made.v);
            append(made);
        } else {
            expect(about_argument(status) && !(a && full(a) && offset + n <= length(a)), "slice", status);
        }
        break;
    case 1:
        status = clinalg_vector_write_slice(ah, offset, bh);
        if (status == CLINALG_STATUS_OK) {
            expect(a && b && a != b && full(a) && full(b) && offset + length(b) <= length(a), "slice", status);
            memcpy(a->v + offset, b->v, length(b) * sizeof *b->v);
        } else {
            expect(about_argument(status), "write of a slice", status);
        }
        break;
    default: {
        clinalg_precision precision = a && below(8) ? a->precision : (clinalg_precision)below(2);
        int fits = a && full(a) && precision == a->precision && offset + n <= length(a);
        to_type(precision, values, n, data);
        status = clinalg_array_write(ah, precision, offset, n, data);
        expect(fits ? status == CLINALG_STATUS_OK : about_argument(status), "write", status);
        if (fits && status == CLINALG_STATUS_OK) memcpy(a->v + offset, values, n * sizeof *values);
    }
    }
    ++calls;
}

static void numbers(void)
{
    object *a, *b;
    clinalg_handle ah = pick(&a), bh = pick(&b);
    double got = NAN, want = 0;
    size_t k;
    int op = (int)below(5);
    clinalg_status status;
    switch (op) {
    case 0: status = clinalg_array_sum(ah, &got); break;
    case 1: status = clinalg_array_norm1(ah, &got); break;
    case 2: status = clinalg_array_norm2(ah, &got); break;
    case 3: status = clinalg_array_norm_inf(ah, &got); break;
    default: status = clinalg_array_dot(ah, bh, &got);
    }
    ++calls;
    if (a == NULL || (op == 4 && (b == NULL || !alike(a, b)))) {
        if (op == 4 && a && b && status == CLINALG_STATUS_OK) expect(full(a) && full(b), "dot product", status);
        else expect(about_argument(status), "number of what does not fit", status);
        return;
    }
    for (k = 0; k < length(a); ++k)
        switch (op) {
        case 0: want += a->v[k]; break;
        case 1: want += fabs(a->v[k]); break;
        case 2: want += a->v[k] * a->v[k]; break;
        case 3: want = fmax(want, fabs(a->v[k])); break;
        default: want += a->v[k] * b->v[k];
        }
    if (op == 2) want = sqrt(want);
    expect(status == CLINALG_STATUS_OK && fabs(got - want) <= (op == 2 ? 1e-6 * want : 0), "number", status);
}

static void solve(void)
{
    object *a, *b;
    clinalg_handle ah = pick(&a), bh = pick(&b), x = 0, solver = 0;
    clinalg_solver_options options;
    clinalg_poisson_options grid;
    clinalg_report report;
    double history[4];
    size_t k;
    clinalg_status status;
    for (k = 0; a != NULL && k < count; ++k)
        if (pool[k].kind == CLINALG_KIND_VECTOR && pool[k].precision == a->precision && pool[k].rows == a->rows)
            bh = pool[k].handle;
    clinalg_solver_options_default(&options, sizeof options);
    options.method = (uint32_t)below(4);
    options.preconditioner = (uint32_t)below(3);
    options.max_iterations = 3;
    options.restart = below(3);
    status = clinalg_system_solve(&options, ah, bh, &x, &report, history, 4);
    expect(status == CLINALG_STATUS_OK || about_argument(status), "solve", status);
    expect((status == CLINALG_STATUS_OK) == (x != 0), "handle of a solution", status);
    if (x != 0) clinalg_object_release(x);
    x = 0;
    options.inverse = pick(&b);
    status = clinalg_system_solve(&options, ah, bh, &x, &report, history, 4);
    expect(status == CLINALG_STATUS_OK || about_argument(status), "preconditioned solve", status);
    expect((status == CLINALG_STATUS_OK) == (x != 0), "handle of a preconditioned solution", status);
    if (x != 0) clinalg_object_release(x);
    x = 0;
    clinalg_poisson_options_default(&grid, sizeof grid);
    grid.points[0] = grid.points[1] = 1 + below(9);
    grid.cycle = (uint32_t)below(4);
    grid.smoother = (uint32_t)below(3);
    grid.backend = (uint32_t)below(4);
    grid.mixed_precision = (int32_t)below(2);
    grid.max_cycles = 2;
    status = clinalg_poisson_create(&grid, &solver);
    expect(status == CLINALG_STATUS_OK || about_argument(status), "poisson", status);
    expect((status == CLINALG_STATUS_OK) == (solver != 0), "handle of a Poisson solver", status);
    if (solver != 0) {
        status = clinalg_poisson_solve_vector(solver, ah, &x, NULL, NULL, NULL, NULL, 0);
        expect(status == CLINALG_STATUS_OK || about_argument(status), "Poisson solve", status);
        expect((status == CLINALG_STATUS_OK) == (x != 0), "handle of a Poisson solution", status);
        if (x != 0) clinalg_object_release(x);
        clinalg_object_release(solver);
    }
    calls += 9;
}

/* An operator of the heat equation, its inverse and its preconditioner, with random others in between; what is released first
 * must not matter. */
static void heat(void)
{
    const double nodes[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const uint32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    clinalg_precision precision = (clinalg_precision)below(2);
    clinalg_heat_options options;
    clinalg_solver_options solver;
    clinalg_report report;
    clinalg_handle made[3] = {0, 0, 0}, b = 0, x = 0;
    double data[8], size = 0;
    size_t k;
    object *o;
    clinalg_handle other = pick(&o);
    clinalg_status status;
    clinalg_heat_options_default(&options, sizeof options);
    options.steps = 2;
    options.storage = (uint32_t)below(3);
    options.precision = precision;
    status = clinalg_heat_operator_create(&options, below(2) ? CLINALG_HEAT_KIND_V : CLINALG_HEAT_KIND_D, nodes, 4, triangles, 4, &made[0]);
    if (!status) status = clinalg_heat_forward_create(made[0], &made[1]);
    if (!status) status = clinalg_heat_operator_preconditioner_create(made[0], (uint32_t)below(3), &made[2]);
    to_type(precision, ones, 8, data);
    if (!status) status = clinalg_vector_create(precision, data, 8, &b);
    if (!status) status = clinalg_matrix_mv(1, made[1], b, 0, &x);
    if (!status) status = clinalg_matrix_mv(1, made[0], x, -1, &b);
    if (!status) status = clinalg_array_norm_inf(b, &size);
    expect(!status && size < 1e-3, "inverse of an operator", status);
    clinalg_solver_options_default(&solver, sizeof solver);
    solver.method = CLINALG_METHOD_GMRES;
    solver.tolerance = 1e-3;
    if (!status) status = clinalg_array_fill(b, 1);
    solver.inverse = made[1 + below(2)];
    if (!status) status = clinalg_system_solve(&solver, made[0], b, &x, &report, NULL, 0);
    expect(!status && report.stop == CLINALG_STOP_CONVERGED, "preconditioned solve", status);
    status = clinalg_matrix_mv(1, made[below(3)], other, 0, &b);
    expect(about_argument(status), "operator times what does not fit", status);
    status = clinalg_array_add(made[below(3)], other, &b);
    expect(about_argument(status), "sum with an operator", status);
    for (k = below(3); made[k] != 0; k = (k + 1) % 3) {
        status = clinalg_object_release(made[k]);
        expect(status == CLINALG_STATUS_OK, "release of an operator", status);
        made[k] = 0;
    }
    clinalg_object_release(b), clinalg_object_release(x);
    calls += 14;
}

/* The Poisson problem on a box with random sizes, spacings and conditions for u = 1 + x + 2 y, where finite volumes are exact; random
 * others in between. */
static void box(void)
{
    enum { POINTS = 7 };
    double f[POINTS * POINTS], u[POINTS * POINTS], ends[2][POINTS + 1], at[2][POINTS], g[POINTS], worst = 0;
    const double slopes[2] = {1, 2};
    clinalg_poisson_options options;
    clinalg_poisson_report report;
    clinalg_handle solver = 0, a = 0, m = 0, out = 0;
    size_t axis, i, k;
    int high;
    object *o;
    clinalg_handle other = pick(&o);
    clinalg_status status = clinalg_poisson_options_default(&options, sizeof options);
    options.precision = (uint32_t)below(2);
    options.centring = (uint32_t)below(2);
    options.shift = (double)(1 + below(3));
    options.tolerance = options.precision == CLINALG_PRECISION_F32 ? 1e-5 : 1e-11;
    for (axis = 0; axis < 2; ++axis) {
        options.points[axis] = 3 + below(POINTS - 2);
        options.diffusion[axis] = (double)(1 + below(4));
        ends[axis][0] = (double)below(3);
        for (i = 1; i <= POINTS; ++i) ends[axis][i] = ends[axis][i - 1] + (double)(1 + below(2));
        for (i = 0; i < POINTS; ++i)
            at[axis][i] = options.centring == CLINALG_CENTRING_CELL ? (ends[axis][i] + ends[axis][i + 1]) / 2 : ends[axis][i];
        options.coordinates[axis] = ends[axis];
        for (high = 0; high < 2; ++high) {
            options.sides[axis][high] = (uint32_t)below(3);
            options.alpha[axis][high] = (double)below(4);
        }
    }
    if (!status) status = clinalg_poisson_create(&options, &solver);
    for (axis = 0; !status && axis < 2; ++axis) {
        const size_t along = options.points[1 - axis];
        for (high = 0; !status && high < 2; ++high) {
            const size_t last = options.points[axis] - (options.centring == CLINALG_CENTRING_CELL ? 0 : 1);
            const double side = ends[axis][high ? last : 0], flux = (high ? 1 : -1) * options.diffusion[axis] * slopes[axis];
            for (k = 0; k < along; ++k) {
                const double value = 1 + slopes[axis] * side + slopes[1 - axis] * at[1 - axis][k];
                g[k] = options.sides[axis][high] == CLINALG_CONDITION_DIRICHLET ? value
                       : options.sides[axis][high] == CLINALG_CONDITION_NEUMANN ? flux
                                                                                : options.alpha[axis][high] * value + flux;
            }
            status = clinalg_poisson_set_side(solver, axis, high, g, along);
        }
    }
    for (k = 0; k < options.points[0] * options.points[1]; ++k) {
        f[k] = options.shift * (1 + at[0][k % options.points[0]] + 2 * at[1][k / options.points[0]]);
        u[k] = 0;
    }
    if (!status) status = clinalg_poisson_solve(solver, f, u, k, NULL, NULL, &report, NULL, 0);
    for (i = 0; i < k; ++i) worst = fmax(worst, fabs(u[i] - f[i] / options.shift));
    expect(!status && report.stop == CLINALG_STOP_CONVERGED && worst < (options.precision == CLINALG_PRECISION_F32 ? 0.01 : 1e-7),
           "linear function on a box", status);
    status = clinalg_poisson_operator_create(solver, &a);
    if (!status) status = clinalg_poisson_preconditioner_create(solver, &m);
    expect(!status, "operators of a box", status);
    status = clinalg_poisson_operator_create(other, &out);
    expect(about_argument(status) && out == 0, "operator of another object", status);
    status = clinalg_poisson_solve(other, f, u, k, NULL, NULL, NULL, NULL, 0);
    expect(about_argument(status), "solve with another object", status);
    status = clinalg_poisson_solve_vector(solver, solver, &out, NULL, NULL, NULL, NULL, 0);
    expect(about_argument(status) && out == 0, "a solver as source", status);
    status = clinalg_poisson_points(solver, m, &out);
    expect(about_argument(status) && out == 0, "a cycle as unknowns", status);
    if (below(2)) clinalg_object_release(solver), solver = 0;
    clinalg_object_release(m), clinalg_object_release(a);
    if (solver != 0) clinalg_object_release(solver);
    calls += 16;
}

/* Null pointers and codes that mean nothing. */
static void nonsense(void)
{
    object *a;
    clinalg_handle h = pick(&a), out = 0;
    double number;
    size_t far[2] = {0, (size_t)-1}, index = 7;
    clinalg_status status = CLINALG_STATUS_INTERNAL;
    switch (below(12)) {
    case 0: status = clinalg_vector_create((uint32_t)(4 + below(9)), &number, 1, &out); break;
    case 1: status = clinalg_vector_create(CLINALG_PRECISION_F64, NULL, 1, &out); break;
    case 2: status = clinalg_dense_create(CLINALG_PRECISION_F64, (size_t)-1, (size_t)-1, &number, &out); break;
    case 3: status = clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 1, 1, far, &index, &number, &out); break;
    case 4: far[1] = 1, status = clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 1, 1, far, &index, &number, &out); break;
    case 5: status = clinalg_array_sum(h, NULL); break;
    case 6: status = clinalg_array_add(h, h, NULL); break;
    case 7: status = clinalg_object_get_info(h, NULL); break;
    case 8: status = clinalg_object_release(0); break;
    case 9: status = clinalg_heat_forward_create(h, below(2) ? NULL : &out); break;
    case 10: status = clinalg_heat_operator_preconditioner_create(h, (uint32_t)below(5), below(2) ? NULL : &out); break;
    default: status = clinalg_vector_create(CLINALG_PRECISION_F32, &number, (size_t)-1, &out);
    }
    ++calls;
    expect(status == CLINALG_STATUS_NULL_POINTER || about_argument(status), "nonsense", status);
    expect(out == 0, "handle of nonsense", status);
}

int main(int argc, char **argv)
{
    unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    clinalg_memory_report before, after;
    clinalg_status status;
    object *o;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 88172645463325252ULL;
    host_only = argc > 3 && strcmp(argv[3], "host") == 0;
    status = clinalg_device_memory(&before);
    expect(status == CLINALG_STATUS_OK, "memory", status);
    while (calls < wanted) {
        uint64_t choice = below(64);
        if (host_only && ((choice >= 16 && choice < 38) || (choice >= 44 && choice < 50) || choice == 63)) continue;
        if (choice < 16) {
            if (count == LIVE) release(below(count));
            create();
        } else if (choice < 30) elementwise();
        else if (choice < 38) product();
        else if (choice < 44) parts();
        else if (choice < 50) numbers();
        else if (choice < 53) nonsense();
        else if (choice < 57) { if (count > 0) compare(&pool[below(count)]); }
        else if (choice == 63) { if (below(8) == 0) solve(); if (below(8) == 0) box(); if (below(256) == 0) heat(); }
        else {
            clinalg_handle handle = pick(&o);
            status = clinalg_object_release(handle);
            ++calls;
            expect(o ? status == CLINALG_STATUS_OK : about_handle(status), "release", status);
            if (o) {
                forget((size_t)(o - pool));
                status = clinalg_object_release(handle);
                ++calls;
                expect(status == CLINALG_STATUS_HANDLE_STALE, "second release", status);
            }
        }
    }
    kernels();
    while (count > 0) {
        compare(&pool[count - 1]);
        release(count - 1);
    }
    status = clinalg_device_memory(&after);
    expect(status == CLINALG_STATUS_OK && after.live_bytes == before.live_bytes
               && after.live_buffers == before.live_buffers, "device memory left", status);
    printf("%lu calls, %lu failures, %llu bytes left\n", calls, failures,
           (unsigned long long)(after.live_bytes - before.live_bytes));
    clinalg_shutdown();
    return failures == 0 ? 0 : 1;
}
