// Arrays: the stand-in for libmx.
#include "mx.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

Host host;

size_t class_bytes(Class type)
{
    switch (type) {
    case LOGICAL: case INT8: case UINT8: return 1;
    case CHAR: case INT16: case UINT16: return 2;
    case SINGLE: case INT32: case UINT32: return 4;
    default: return 8;
    }
}

// Memory of the host, or an error of the host as MATLAB's "Out of memory".
static void *allocate(size_t count, size_t size, bool zero)
{
    if (host.fail_after == 0) {
        raise_error("MATLAB:nomem", "Out of memory.");
    }
    if (host.fail_after > 0) {
        --host.fail_after;
    }
    if (count > (size_t{1} << 46) / size) {
        raise_error("MATLAB:nomem", "Out of memory.");
    }
    const size_t bytes = count * size;
    void *memory = bytes == 0 ? nullptr : zero ? calloc(1, bytes) : malloc(bytes);
    if (memory == nullptr && bytes != 0) {
        raise_error("MATLAB:nomem", "Out of memory.");
    }
    return memory;
}

static mxArray *track(mxArray *array)
{
    ++host.live;
    if (host.in_call) {
        host.made.push_back(array);
    }
    return array;
}

// Room for the values of an array in the layout of this MATLAB.
static void allocate_values(mxArray *array, size_t count, bool zero, bool complex)
{
    const size_t bytes = class_bytes(array->type);
    array->complex = complex;
#ifdef BEFORE_R2018A
    array->data = allocate(count, bytes, zero);
    array->imaginary = complex ? allocate(count, bytes, zero) : nullptr;
#else
    array->data = allocate(count, complex ? 2 * bytes : bytes, zero);
#endif
}

mxArray *make_array(Class type, size_t rows, size_t cols, bool zero, bool complex)
{
    mxArray shape;
    shape.type = type;
    shape.dims = {rows, cols};
    allocate_values(&shape, cols == 0 ? 0 : rows * cols, zero, complex);
    return track(new mxArray(shape));
}

mxArray *make_sparse(Class type, size_t rows, size_t cols, size_t nzmax, bool complex)
{
    nzmax = nzmax == 0 ? 1 : nzmax;
    mxArray shape;
    shape.type = type;
    shape.dims = {rows, cols};
    shape.sparse = true;
    allocate_values(&shape, nzmax, true, complex);
    auto *array = new mxArray(shape);
    array->nzmax = nzmax;
    array->ir = static_cast<size_t *>(calloc(nzmax, sizeof(size_t)));
    array->jc = static_cast<size_t *>(calloc(cols + 1, sizeof(size_t)));
    return track(array);
}

mxArray *make_text(const char *text)
{
    const size_t length = strlen(text);
    mxArray *array = make_array(CHAR, length == 0 ? 0 : 1, length, false);
    for (size_t i = 0; i < length; ++i) {
        static_cast<uint16_t *>(array->data)[i] = static_cast<unsigned char>(text[i]);
    }
    return array;
}

void destroy(mxArray *array)
{
    if (array == nullptr) {
        return;
    }
    for (auto &record : array->records) {
        for (auto &field : record) {
            destroy(field.second);
        }
    }
    destroy(array->handle);
    free(array->data);
    free(array->imaginary);
    free(array->ir);
    free(array->jc);
    delete array;
    --host.live;
}

#pragma GCC visibility push(hidden)
extern "C" {

int class_id(const mxArray *a) { return a->type; }

const char *class_name(const mxArray *a)
{
    static const char *const names[] = {
        "unknown", "cell", "struct", "logical", "char", "void", "double", "single", "int8", "uint8", "int16", "uint16",
        "int32", "uint32", "int64", "uint64", "function_handle", "string"
    };
    return a->class_name.empty() ? names[a->type] : a->class_name.c_str();
}

bool is_char(const mxArray *a) { return a->type == CHAR; }
bool is_double(const mxArray *a) { return a->type == DOUBLE; }
bool is_uint64(const mxArray *a) { return a->type == UINT64; }
bool is_complex(const mxArray *a) { return a->complex; }
bool is_sparse(const mxArray *a) { return a->sparse; }
size_t get_m(const mxArray *a) { return a->rows(); }
size_t get_n(const mxArray *a) { return a->cols(); }
size_t elements(const mxArray *a) { return a->count(); }

double scalar(const mxArray *a)
{
    switch (a->type) {
    case SINGLE: return *static_cast<const float *>(a->data);
    case LOGICAL: case UINT8: return *static_cast<const uint8_t *>(a->data);
    case INT8: return *static_cast<const int8_t *>(a->data);
    case INT16: return *static_cast<const int16_t *>(a->data);
    case UINT16: return *static_cast<const uint16_t *>(a->data);
    case INT32: return *static_cast<const int32_t *>(a->data);
    case UINT32: return *static_cast<const uint32_t *>(a->data);
    case INT64: return static_cast<double>(*static_cast<const int64_t *>(a->data));
    case UINT64: return static_cast<double>(*static_cast<const uint64_t *>(a->data));
    default: return *static_cast<const double *>(a->data);
    }
}

size_t dimensions(const mxArray *a) { return a->dims.size(); }
void *data(const mxArray *a) { return a->data; }
#ifdef BEFORE_R2018A
void *imaginary(const mxArray *a) { return a->imaginary; }
#else
void *complex_doubles(const mxArray *a) { return a->type == DOUBLE && a->complex ? a->data : nullptr; }
void *complex_singles(const mxArray *a) { return a->type == SINGLE && a->complex ? a->data : nullptr; }
#endif
size_t *row_indices(const mxArray *a) { return a->ir; }
size_t *column_offsets(const mxArray *a) { return a->jc; }

int string(const mxArray *a, char *buffer, size_t size)
{
    if (a->type != CHAR) {
        return 1;
    }
    const size_t length = a->count();
    size_t i = 0;
    for (; i < length && i + 1 < size; ++i) {
        buffer[i] = static_cast<char>(static_cast<const uint16_t *>(a->data)[i]);
    }
    buffer[i] = 0;
    return i == length ? 0 : 1;
}

mxArray *create_uninit(size_t rows, size_t cols, int type, int complex)
{
    mxArray *array = make_array(static_cast<Class>(type), rows, cols, false, complex != 0);
    // What is not written must not look like a result.
    const size_t bytes = array->count() * class_bytes(array->type);
    const bool interleaved = array->complex && array->imaginary == nullptr;
    if (array->data != nullptr) {
        memset(array->data, 0xa5, interleaved ? 2 * bytes : bytes);
    }
    if (array->imaginary != nullptr) {
        memset(array->imaginary, 0xa5, bytes);
    }
    return array;
}

mxArray *create_logical(bool value)
{
    mxArray *array = make_array(LOGICAL, 1, 1, false);
    *static_cast<uint8_t *>(array->data) = value;
    return array;
}

mxArray *create_string(const char *text) { return make_text(text); }
mxArray *create_sparse(size_t rows, size_t cols, size_t nzmax, int complex)
{
    return make_sparse(DOUBLE, rows, cols, nzmax, complex != 0);
}

mxArray *create_struct(size_t rows, size_t cols, int count, const char **names)
{
    mxArray *array = make_array(STRUCT, 0, 0, false);
    array->dims = {rows, cols};
    array->fields.assign(names, names + count);
    array->records.resize(rows * cols);
    return array;
}

void set_field(mxArray *array, size_t index, const char *name, mxArray *value)
{
    array->records.at(index)[name] = value;
    for (auto &made : host.made) {
        if (made == value) {
            made = nullptr;
        }
    }
}

// A copy of the property h, as MATLAB gives one of each property.
mxArray *get_property(const mxArray *a, size_t index, const char *name)
{
    if (a->handle == nullptr || index != 0 || strcmp(name, "h") != 0) {
        return nullptr;
    }
    mxArray *copy = make_array(a->handle->type, a->handle->rows(), a->handle->cols(), false);
    if (copy->data != nullptr) {
        memcpy(copy->data, a->handle->data, copy->count() * class_bytes(copy->type));
    }
    return copy;
}

void destroy_array(mxArray *array)
{
    for (auto &made : host.made) {
        if (made == array) {
            made = nullptr;
        }
    }
    destroy(array);
}

// Functions for 32-bit sizes, which no program may call any more.
void *for_32_bits()
{
    fputs("a function for 32-bit sizes was called\n", stderr);
    abort();
}
}
#pragma GCC visibility pop

PLAIN(mxGetClassID, class_id);
PLAIN(mxGetClassName, class_name);
PLAIN(mxIsChar, is_char);
PLAIN(mxIsDouble, is_double);
PLAIN(mxIsUint64, is_uint64);
PLAIN(mxIsComplex, is_complex);
PLAIN(mxIsSparse, is_sparse);
PLAIN(mxGetM, get_m);
PLAIN(mxGetN, get_n);
PLAIN(mxGetNumberOfElements, elements);
PLAIN(mxGetScalar, scalar);
PLAIN(mxGetData, data);
#ifdef BEFORE_R2018A
PLAIN(mxGetImagData, imaginary);
#else
PLAIN(mxGetComplexDoubles, complex_doubles);
PLAIN(mxGetComplexSingles, complex_singles);
#endif
PLAIN(mxCreateLogicalScalar, create_logical);
PLAIN(mxCreateString, create_string);
PLAIN(mxCreateUninitNumericMatrix, create_uninit);
SIZED(mxGetNumberOfDimensions, dimensions);
SIZED(mxGetIr, row_indices);
SIZED(mxGetJc, column_offsets);
SIZED(mxGetString, string);
SIZED(mxCreateNumericMatrix, create_uninit);
SIZED(mxCreateSparse, create_sparse);
#ifndef LACKS_STRUCTURES
SIZED(mxCreateStructMatrix, create_struct);
#endif
SIZED(mxSetField, set_field);
SIZED(mxGetProperty, get_property);
PLAIN(mxDestroyArray, destroy_array);
ALIAS(mxGetIr, for_32_bits);
ALIAS(mxGetJc, for_32_bits);
ALIAS(mxGetString, for_32_bits);
ALIAS(mxCreateSparse, for_32_bits);
ALIAS(mxSetField, for_32_bits);
ALIAS(mxGetNumberOfDimensions, for_32_bits);
