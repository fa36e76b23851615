// Runs the cases of the stand-in host:
//   host CASES.so MODE FILE.mexa64 global|local throw|jump CALLS
// CASES.so is opened with its libmx and libmex for all to see, or for itself.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

int main(int argc, char **argv)
{
    if (argc != 7) {
        return 2;
    }
    const bool local = strcmp(argv[4], "local") == 0;
    void *cases = dlopen(argv[1], RTLD_NOW | (local ? RTLD_LOCAL : RTLD_GLOBAL));
    if (cases == nullptr) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    const auto run = reinterpret_cast<int (*)(const char *, const char *, bool, long)>(dlsym(cases, "run"));
    return run(argv[2], argv[3], strcmp(argv[5], "jump") == 0, atol(argv[6]));
}
