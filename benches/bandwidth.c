/* Memory bandwidth of this machine with OpenMP threads: the limits that the CPU comparison holds operations against.
 *
 *     cc -O3 -march=native -fopenmp -o bandwidth bandwidth.c
 *     ./bandwidth ELEMENTS SAMPLES
 *
 * ELEMENTS is the length of each of the three f64 arrays. Prints one JSON object: for each kind the bytes that the algorithm
 * reads and writes (a write-allocate transfer is not counted) and the seconds of each sample. Kinds:
 *   copy            c = a by ordinary vector stores,         16 bytes per element
 *   copy_streaming  c = a by stores past the cache,          16
 *   triad           c = a + 3 b by ordinary vector stores,   24
 *   triad_streaming c = a + 3 b by stores past the cache,    24
 *   read            sum of a,                                 8
 *   read2           dot product of a and b,                  16
 */
#define _DEFAULT_SOURCE
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef double wide __attribute__((vector_size(64), aligned(64)));
enum { LANES = 8 };

/* A store past the cache, where the instruction set has one of this width. */
#if defined(__AVX512F__)
#define STREAM(to, v) __builtin_ia32_movntpd512((double *)&(to), v)
#else
#define STREAM(to, v) (to) = (v)
#endif

static wide *array(size_t blocks) {
    wide *p = aligned_alloc(4096, (blocks * sizeof(wide) + 4095) / 4096 * 4096);
    if (!p) {
        fputs("not enough memory\n", stderr);
        exit(1);
    }
    madvise(p, blocks * sizeof(wide), MADV_HUGEPAGE); /* as NumPy does; without them the page walks cost a fifth */
    return p;
}

/* The compiler must not turn the copy loop into memcpy, which is another kind. */
__attribute__((optimize("no-tree-loop-distribute-patterns"))) static void copy(wide *c, const wide *a, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) c[i] = a[i];
}

static void copy_streaming(wide *c, const wide *a, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) STREAM(c[i], a[i]);
    __sync_synchronize();
}

static void triad(wide *c, const wide *a, const wide *b, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) c[i] = a[i] + 3.0 * b[i];
}

static void triad_streaming(wide *c, const wide *a, const wide *b, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        wide v = a[i] + 3.0 * b[i];
        STREAM(c[i], v);
    }
    __sync_synchronize();
}

static wide read1(const wide *a, size_t from, size_t to) {
    wide s[4] = {{0}};
    size_t i = from;
    for (; i + 4 <= to; i += 4)
        for (int k = 0; k < 4; k++) s[k] += a[i + k];
    for (; i < to; i++) s[0] += a[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

static wide read2(const wide *a, const wide *b, size_t from, size_t to) {
    wide s[4] = {{0}};
    size_t i = from;
    for (; i + 4 <= to; i += 4)
        for (int k = 0; k < 4; k++) s[k] += a[i + k] * b[i + k];
    for (; i < to; i++) s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

int main(int argc, char **argv) {
    size_t blocks = argc > 1 ? strtoull(argv[1], 0, 10) / LANES : 0;
    int samples = argc > 2 ? atoi(argv[2]) : 0;
    if (!blocks || samples < 1) {
        fputs("usage: bandwidth ELEMENTS SAMPLES\n", stderr);
        return 2;
    }
    static const char *name[] = {"copy", "copy_streaming", "triad", "triad_streaming", "read", "read2"};
    static const int bytes[] = {16, 16, 24, 24, 8, 16};
    enum { KINDS = sizeof bytes / sizeof *bytes };
    wide *a = array(blocks), *b = array(blocks), *c = array(blocks);
    double *seconds = malloc(KINDS * (size_t)samples * sizeof *seconds);
    int threads = 1;
#pragma omp parallel
    {
        size_t t = omp_get_thread_num(), of = omp_get_num_threads(), from = blocks * t / of, to = blocks * (t + 1) / of;
        uint64_t state = 88172645463325252u + t;
        for (size_t i = from; i < to; i++)
            for (int k = 0; k < LANES; k++) {
                state ^= state << 13, state ^= state >> 7, state ^= state << 17;
                a[i][k] = (double)(state >> 11) / 9007199254740992.0 - 0.5;
                b[i][k] = 1.0 - a[i][k] * a[i][k];
                c[i][k] = 0.0;
            }
        if (!t) threads = (int)of;
    }
    double sum = 0.0;
    for (int s = -1; s < samples; s++) /* the first round warms up */
        for (int kind = 0; kind < KINDS; kind++) {
            double start = omp_get_wtime(), part = 0.0;
#pragma omp parallel reduction(+ : part)
            {
                size_t t = omp_get_thread_num(), of = omp_get_num_threads();
                size_t from = blocks * t / of, to = blocks * (t + 1) / of;
                wide v = {0};
                switch (kind) {
                case 0: copy(c, a, from, to); break;
                case 1: copy_streaming(c, a, from, to); break;
                case 2: triad(c, a, b, from, to); break;
                case 3: triad_streaming(c, a, b, from, to); break;
                case 4: v = read1(a, from, to); break;
                case 5: v = read2(a, b, from, to); break;
                }
                for (int k = 0; k < LANES; k++) part += v[k];
            }
            if (s >= 0) seconds[kind * samples + s] = omp_get_wtime() - start;
            sum += part + c[blocks / 2][0];
        }
    printf("{\"threads\": %d, \"elements\": %zu, \"checksum\": %.17g, \"kinds\": {", threads, blocks * LANES, sum);
    for (int kind = 0; kind < KINDS; kind++) {
        printf("%s\"%s\": {\"bytes\": %zu, \"samples\": [", kind ? ", " : "", name[kind], bytes[kind] * blocks * LANES);
        for (int s = 0; s < samples; s++) printf("%s%.9f", s ? ", " : "", seconds[kind * samples + s]);
        printf("]}");
    }
    puts("}}");
    return 0;
}
