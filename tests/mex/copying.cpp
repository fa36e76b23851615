// A MEX function that copies its input's arrays: what an upload costs at least. With a second argument to memory that
// was used before, else to fresh memory of the system, as an upload that finds none kept has to.
#include <cstddef>
#include <cstring>
#include <sys/mman.h>

struct mxArray;
extern "C" size_t mxGetM(const mxArray *);
extern "C" size_t mxGetN(const mxArray *);
extern "C" void *mxGetData(const mxArray *);
extern "C" bool mxIsSparse(const mxArray *);
extern "C" size_t *mxGetIr(const mxArray *);
extern "C" size_t *mxGetJc(const mxArray *);
extern "C" mxArray *mxCreateDoubleScalar(double);

static const size_t ROOM = size_t{1} << 28;

static void *fresh(size_t bytes)
{
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static bool copy(const void *from, size_t bytes, bool again)
{
    static void *const kept = fresh(ROOM);
    void *memory = again ? kept : fresh(bytes + 1);
    if (memory == MAP_FAILED || bytes > ROOM) {
        return false;
    }
    memcpy(memory, from, bytes);
    // Someone might look at it, as far as the compiler knows.
    asm volatile("" : : "r"(memory) : "memory");
    return again || munmap(memory, bytes + 1) == 0;
}

extern "C" void mexFunction(int, mxArray **plhs, int inputs, const mxArray **prhs)
{
    const mxArray *a = prhs[0];
    const bool sparse = mxIsSparse(a), again = inputs > 1;
    const size_t columns = mxGetN(a);
    const size_t count = sparse ? mxGetJc(a)[columns] : mxGetM(a) * columns;
    bool done = copy(mxGetData(a), count * sizeof(double), again);
    if (sparse) {
        done &= copy(mxGetIr(a), count * sizeof(size_t), again);
        done &= copy(mxGetJc(a), (columns + 1) * sizeof(size_t), again);
    }
    plhs[0] = mxCreateDoubleScalar(done);
}
