// A stand-in for MATLAB's libmx and libmex: enough of both to load a MEX file and call it.
//
// The functions carry the names that MATLAB's headers give them: `_800` since R2018a, before that `_730` for those
// that take 64-bit sizes and no suffix for the rest. Compiled with -DBEFORE_R2018A the `_800` names are missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

enum Class {
    UNKNOWN, CELL, STRUCT, LOGICAL, CHAR, VOID, DOUBLE, SINGLE,
    INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FUNCTION, OPAQUE_CLASS
};

struct mxArray {
    Class type = DOUBLE;
    std::vector<size_t> dims{0, 0};
    bool complex = false;
    bool sparse = false;
    void *data = nullptr;
    /// Imaginary parts, in MATLAB before R2018a; later ones keep them beside the real parts in `data`.
    void *imaginary = nullptr;
    size_t *ir = nullptr;
    size_t *jc = nullptr;
    size_t nzmax = 0;
    std::string class_name;
    /// Of an object of a class of the user.
    mxArray *handle = nullptr;
    std::vector<std::string> fields;
    std::vector<std::map<std::string, mxArray *>> records;

    size_t rows() const { return dims[0]; }
    size_t cols() const
    {
        size_t n = 1;
        for (size_t d = 1; d < dims.size(); ++d) {
            n *= dims[d];
        }
        return n;
    }
    size_t count() const { return rows() * cols(); }
};

size_t class_bytes(Class type);
mxArray *make_array(Class type, size_t rows, size_t cols, bool zero, bool complex = false);
mxArray *make_sparse(Class type, size_t rows, size_t cols, size_t nzmax, bool complex = false);
mxArray *make_text(const char *text);
void destroy(mxArray *array);

/// What the host keeps while a MEX function runs, and what tests ask for.
struct Host {
    /// Arrays alive, those of a running call among them.
    size_t live = 0;
    /// Arrays made since the call began; the host frees those that are not returned.
    std::vector<mxArray *> made;
    /// The host's constructors fail from the given one on (0: the next), or never for -1.
    int fail_after = -1;
    bool jump = false;
    bool in_call = false;
    int locks = 0;
    void (*at_exit)() = nullptr;
    std::string error_id;
    std::string error_text;
    std::string printed;
};
extern Host host;

[[noreturn]] void raise_error(const char *id, const char *text);

/// Calls a MEX function as MATLAB does; true unless it ended by an error.
using MexFunction = void (*)(int, mxArray **, int, const mxArray **);
bool call_mex(MexFunction function, int nlhs, mxArray **plhs, int nrhs, const mxArray **prhs);

#define ALIAS(name, body) extern "C" __attribute__((alias(#body), visibility("default"))) decltype(body) name
#ifdef BEFORE_R2018A
#define PLAIN(name, body) ALIAS(name, body)
#define SIZED(name, body) ALIAS(name##_730, body)
#else
#define PLAIN(name, body) ALIAS(name, body); ALIAS(name##_800, body)
#define SIZED(name, body) ALIAS(name##_730, body); ALIAS(name##_800, body)
#endif
