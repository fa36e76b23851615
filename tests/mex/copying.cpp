// A MEX function that copies its input's arrays to fresh memory: what an upload costs at least.
#include <cstddef>
#include <cstdlib>
#include <cstring>

struct mxArray;
extern "C" size_t mxGetM(const mxArray *);
extern "C" size_t mxGetN(const mxArray *);
extern "C" void *mxGetData(const mxArray *);
extern "C" bool mxIsSparse(const mxArray *);
extern "C" size_t *mxGetIr(const mxArray *);
extern "C" size_t *mxGetJc(const mxArray *);
extern "C" mxArray *mxCreateDoubleScalar(double);

static void copy(const void *from, size_t bytes)
{
    void *memory = malloc(bytes + 1);
    memcpy(memory, from, bytes);
    // Someone might look at it, as far as the compiler knows.
    asm volatile("" : : "r"(memory) : "memory");
    free(memory);
}

extern "C" void mexFunction(int, mxArray **plhs, int, const mxArray **prhs)
{
    const mxArray *a = prhs[0];
    const bool sparse = mxIsSparse(a);
    const size_t columns = mxGetN(a);
    const size_t count = sparse ? mxGetJc(a)[columns] : mxGetM(a) * columns;
    copy(mxGetData(a), count * sizeof(double));
    if (sparse) {
        copy(mxGetIr(a), count * sizeof(size_t));
        copy(mxGetJc(a), (columns + 1) * sizeof(size_t));
    }
    plhs[0] = mxCreateDoubleScalar(1);
}
