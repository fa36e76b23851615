// The calls that the stand-in host makes, with what must come of them.
#include "mx.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>

namespace {

MexFunction gateway;
int failures = 0;

void check(bool holds, const std::string &what)
{
    if (!holds) {
        ++failures;
        fprintf(stderr, "FAILED: %s\n", what.c_str());
    }
}

struct Free {
    void operator()(mxArray *array) const { destroy(array); }
};
using Array = std::unique_ptr<mxArray, Free>;

/// An error that the MEX function raised.
struct Raised : std::runtime_error {
    std::string id;
    Raised(const std::string &id, const std::string &text) : std::runtime_error(text), id(id) {}
};

template <class T> constexpr Class class_of()
{
    return std::is_same_v<T, float> ? SINGLE : std::is_same_v<T, double> ? DOUBLE : std::is_same_v<T, bool> ? LOGICAL : UINT64;
}

template <class T> T *values(const Array &array) { return static_cast<T *>(array->data); }

template <class T> Array full(size_t rows, size_t cols, const std::vector<T> &list)
{
    Array array(make_array(class_of<T>(), rows, cols, true));
    for (size_t i = 0; i < list.size(); ++i) {
        values<T>(array)[i] = list[i];
    }
    return array;
}

template <class T> Array column(const std::vector<T> &list) { return full(list.size(), 1, list); }
Array number(double value) { return full<double>(1, 1, {value}); }
Array handle(uint64_t value) { return full<uint64_t>(1, 1, {value}); }
Array text(const char *words) { return Array(make_text(words)); }
Array nothing() { return full<double>(0, 0, {}); }

/// A sparse matrix from its full form, column by column.
template <class T> Array sparse(size_t rows, size_t cols, const std::vector<T> &list)
{
    size_t entries = 0;
    for (const T value : list) {
        entries += value != T(0);
    }
    Array array(make_sparse(class_of<T>(), rows, cols, entries));
    size_t k = 0;
    for (size_t j = 0; j < cols; ++j) {
        for (size_t i = 0; i < rows; ++i) {
            if (list[j * rows + i] != T(0)) {
                array->ir[k] = i;
                values<T>(array)[k++] = list[j * rows + i];
            }
        }
        array->jc[j + 1] = k;
    }
    return array;
}

/// Sets the values of a complex array in the layout of this MATLAB.
template <class T> void set_complex(const Array &array, const std::vector<std::complex<T>> &list)
{
    for (size_t i = 0; i < list.size(); ++i) {
        if (array->imaginary != nullptr) {
            values<T>(array)[i] = list[i].real();
            static_cast<T *>(array->imaginary)[i] = list[i].imag();
        } else {
            static_cast<std::complex<T> *>(array->data)[i] = list[i];
        }
    }
}

template <class T> std::vector<std::complex<T>> complex_values(const Array &array, size_t count)
{
    std::vector<std::complex<T>> list(count);
    for (size_t i = 0; i < count; ++i) {
        list[i] = array->imaginary != nullptr
                      ? std::complex<T>(values<T>(array)[i], static_cast<const T *>(array->imaginary)[i])
                      : static_cast<const std::complex<T> *>(array->data)[i];
    }
    return list;
}

template <class T> std::vector<std::complex<T>> complex_list(const Array &array)
{
    return complex_values<T>(array, array->count());
}

template <class T> Array complex_full(size_t rows, size_t cols, const std::vector<std::complex<T>> &list)
{
    Array array(make_array(class_of<T>(), rows, cols, true, true));
    set_complex(array, list);
    return array;
}

/// A sparse matrix from its full form, column by column.
Array complex_sparse(size_t rows, size_t cols, const std::vector<std::complex<double>> &list)
{
    std::vector<std::complex<double>> entries;
    std::vector<size_t> where, ends;
    for (size_t k = 0; k < list.size(); ++k) {
        if (list[k] != 0.0) {
            entries.push_back(list[k]);
            where.push_back(k % rows);
        }
        if ((k + 1) % rows == 0) {
            ends.push_back(entries.size());
        }
    }
    Array array(make_sparse(DOUBLE, rows, cols, entries.size(), true));
    set_complex(array, entries);
    std::copy(where.begin(), where.end(), array->ir);
    std::copy(ends.begin(), ends.end(), array->jc + 1);
    return array;
}

template <class T> std::vector<double> list_of(const Array &array)
{
    std::vector<double> list(array->count());
    for (size_t i = 0; i < list.size() && !array->sparse; ++i) {
        list[i] = static_cast<double>(values<T>(array)[i]);
    }
    for (size_t j = 0; array->sparse && j < array->cols(); ++j) {
        for (size_t k = array->jc[j]; k < array->jc[j + 1]; ++k) {
            list[j * array->rows() + array->ir[k]] = static_cast<double>(values<T>(array)[k]);
        }
    }
    return list;
}

/// The values in full, column by column.
std::vector<double> list_of(const Array &array)
{
    switch (array->type) {
    case SINGLE: return list_of<float>(array);
    case UINT64: return list_of<uint64_t>(array);
    case LOGICAL: return list_of<uint8_t>(array);
    default: return list_of<double>(array);
    }
}

std::vector<Array> call_array(const mxArray *first, const std::vector<const mxArray *> &inputs, int outputs)
{
    std::vector<const mxArray *> all{first};
    all.insert(all.end(), inputs.begin(), inputs.end());
    mxArray *results[16];
    if (!call_mex(gateway, outputs, results, static_cast<int>(all.size()), all.data())) {
        throw Raised(host.error_id, host.error_text);
    }
    std::vector<Array> arrays;
    for (int i = 0; i < (outputs > 0 ? outputs : 1); ++i) {
        arrays.emplace_back(results[i]);
    }
    return arrays;
}

/// Calls a function with arrays that live until it returns.
template <class... Inputs> std::vector<Array> several(int outputs, const char *name, const Inputs &...inputs)
{
    const Array first = text(name);
    return call_array(first.get(), {inputs.get()...}, outputs);
}

template <class... Inputs> Array call(const char *name, const Inputs &...inputs)
{
    return std::move(several(1, name, inputs...).front());
}

void raises(const char *id, const std::string &part, const std::function<void()> &f)
{
    try {
        f();
        check(false, std::string("no error, expected ") + id);
    } catch (const Raised &error) {
        check(error.id == id, "identifier " + error.id + ", expected " + id + ": " + error.what());
        check(std::string(error.what()).find(part) != std::string::npos, "`" + part + "` in: " + error.what());
    }
}

void same_values(const std::vector<double> &got, const std::vector<double> &expected, const std::string &what)
{
    check(got == expected, what);
}

mxArray *field(const Array &record, const char *name) { return record->records.at(0).at(name); }

void sessions(Array &gpu)
{
    check(host.locks == 0, "nothing is locked before the first call");
    gpu = call("MexInitOpenCL");
    check(host.locks == 1 && host.at_exit != nullptr, "the first call locks and sets the exit hook");
    check(gpu->type == UINT64 && gpu->count() == 1, "the session's handle is a uint64");
    check(*values<uint64_t>(call("MexInitOpenCL")) == *values<uint64_t>(gpu), "a second MexInitOpenCL gives the same handle");
    check(host.locks == 1, "one lock");

    const Array devices = call("MexPrintGPU", gpu);
    check(devices->type == STRUCT && devices->rows() >= 1, "a structure per device");
    check(field(devices, "name")->type == CHAR && field(devices, "fp64")->type == LOGICAL, "its fields");
    host.printed.clear();
    several(0, "MexPrintGPU", gpu);
    check(host.printed.find("0  ") != std::string::npos, "without an output it prints");
    several(0, "MexSetGPU", gpu, number(0), number(1));
    check(call("MexDeviceInfo", gpu)->records.size() == 1, "one record for the device in use");

    const Array first = number(1);
    raises("clinalg:argument:count", "Mex", [&] { call_array(first.get(), {}, 1); });
}

template <class T> void objects(const Array &gpu)
{
    const std::string precision = class_of<T>() == SINGLE ? "single: " : "double: ";
    const std::vector<T> list{1, -2, 3, 0, 5, 6};
    const std::vector<double> wide(list.begin(), list.end());
    const Array single = number(class_of<T>() == SINGLE);

    const Array a = call("MexMatrix", gpu, full<T>(2, 3, list));
    const Array back = call("MexHandleMatrix", gpu, a);
    check(back->type == class_of<T>() && back->rows() == 2 && back->cols() == 3, precision + "shape and class");
    same_values(list_of(back), wide, precision + "full values");

    const Array s = call("MexSparseMatrix", gpu, sparse<T>(2, 3, list));
    const Array sparse_back = call("MexHandleMatrix", gpu, s);
    check(sparse_back->sparse && sparse_back->type == DOUBLE && sparse_back->jc[3] == 5, precision + "sparse shape");
    same_values(list_of(sparse_back), wide, precision + "sparse values");

    const std::vector<double> band{1, 4, 0, 2, 5, 7, 0, 3, 6};
    const Array b = call("MexBandMatrix", gpu, full<double>(3, 3, band), number(1), number(1), single);
    same_values(list_of(call("MexHandleMatrix", gpu, b)), band, precision + "band values");
    const Array b2 = call("MexBandMatrix", gpu, sparse<double>(3, 3, band), number(1), number(1), single);
    same_values(list_of(call("MexHandleMatrix", gpu, b2)), band, precision + "band values from sparse");

    const Array x = call("MexMatrix", gpu, column<T>({1, 2, 3}));
    const Array u = call("MexMatrix", gpu, column<T>({1, 2}));
    same_values(list_of(call("MexHandleMatrix", gpu, call("MexMatrixVector", gpu, a, x))), {22, 16}, precision + "A x");
    same_values(list_of(call("MexHandleMatrix", gpu, call("MexSparseMatrixVector", gpu, s, x))), {22, 16}, precision + "S x");
    same_values(list_of(call("MexHandleMatrix", gpu, call("MexBandMatrixVector", gpu, b, x))), {5, 23, 32}, precision + "B x");
    same_values(list_of(call("MexHandleMatrix", gpu, call("MexMatrixTransposeVector", gpu, a, u))), {-3, 3, 17}, precision + "A'u");
    same_values(list_of(call("MexHandleMatrix", gpu, call("MexSparseMatrixTransposeVector", gpu, s, u))), {-3, 3, 17},
          precision + "S'u");

    const Array y = call("MexMatrix", gpu, column<T>({9, 9}));
    const Array same = call("MexSparseMatrixVector", gpu, s, x, y);
    check(*values<uint64_t>(same) == *values<uint64_t>(y), precision + "the output's handle comes back");
    same_values(list_of(call("MexHandleMatrix", gpu, y)), {22, 16}, precision + "written into");

    const Array sum = call("MexSum", gpu, x);
    check(sum->type == class_of<T>(), precision + "a number of the object's class");
    same_values(list_of(sum), {6}, precision + "sum");
    same_values(list_of(call("MexDot", gpu, x, x)), {14}, precision + "dot");
    same_values(list_of(call("MexNorm1", gpu, x)), {6}, precision + "norm1");
    same_values(list_of(call("MexNorm2", gpu, call("MexMatrix", gpu, column<T>({3, 4})))), {5}, precision + "norm2");
    same_values(list_of(call("MexNormInf", gpu, x)), {3}, precision + "norm inf");
    same_values(list_of(call("MexHandleMatrix", gpu, call("MexAxpby", gpu, number(2), x, number(-1), x))), {1, 2, 3},
          precision + "axpby");

    for (const auto &empty : {std::pair<size_t, size_t>{0, 0}, {0, 3}, {3, 0}}) {
        const Array h = call("MexMatrix", gpu, full<T>(empty.first, empty.second, {}));
        const Array e = call("MexHandleMatrix", gpu, h);
        check(e->rows() == empty.first && e->cols() == empty.second, precision + "an empty matrix keeps its shape");
    }
}

template <class T> void complex_objects(const Array &gpu)
{
    using Complex = std::complex<T>;
    const std::string precision = class_of<T>() == SINGLE ? "complex single: " : "complex double: ";
    const Complex i(0, 1);
    const std::vector<Complex> list{{1, 2}, {-2, 0}, {3, -1}, {0, 4}, 5, 0};
    const Array a = call("MexMatrix", gpu, complex_full<T>(2, 3, list));
    const Array back = call("MexHandleMatrix", gpu, a);
    check(back->type == class_of<T>() && back->complex && back->rows() == 2 && back->cols() == 3, precision + "shape and class");
    check(complex_list<T>(back) == list, precision + "full values");
    check(*static_cast<bool *>(field(call("MexInfo", gpu, a), "complex")->data), precision + "MexInfo says so");

    const Array s = call("MexSparseMatrix", gpu, complex_sparse(2, 3, {{1, 2}, 0, {3, -1}, {0, 4}, 5, 0}),
                         number(class_of<T>() == SINGLE));
    const Array sparse_back = call("MexHandleMatrix", gpu, s);
    check(sparse_back->sparse && sparse_back->complex && sparse_back->jc[3] == 4, precision + "sparse shape");
    const std::vector<std::complex<double>> entries{{1, 2}, {3, -1}, {0, 4}, 5};
    check(complex_values<double>(sparse_back, 4) == entries, precision + "sparse values");

    const Array u = call("MexMatrix", gpu, complex_full<T>(2, 1, {i, 2}));
    const Array down = call("MexHandleMatrix", gpu, call("MexMultiplyTranspose", gpu, a, u));
    const std::vector<Complex> hermitian{std::conj(list[0]) * i + std::conj(list[1]) * T(2),
                                         std::conj(list[2]) * i + std::conj(list[3]) * T(2), std::conj(list[4]) * i};
    check(complex_list<T>(down) == hermitian, precision + "A' u");
    const Array plain = call("MexHandleMatrix", gpu, call("MexMultiplyOp", gpu, text("transp"), a, u));
    check(complex_list<T>(plain)[0] == list[0] * i + list[1] * T(2), precision + "A.' u");
    const Array dot = call("MexDot", gpu, u, u);
    check(dot->type == class_of<T>() && dot->complex && complex_list<T>(dot)[0] == Complex(5), precision + "dot");
    check(complex_list<T>(call("MexDotu", gpu, u, u))[0] == Complex(3), precision + "dot without conjugation");
    const Array twice = call("MexVectorTimesConstant", gpu, u, complex_full<T>(1, 1, {i}));
    check(complex_list<T>(call("MexHandleMatrix", gpu, twice))[0] == Complex(-1), precision + "i u");
    call("MexWriteMatrix", gpu, u, column<T>({7, 8}));
    check(complex_list<T>(call("MexHandleMatrix", gpu, u))[1] == Complex(8), precision + "a real array goes into a complex object");
    raises("clinalg:argument:value", "argument 3 `b`", [&] {
        call("MexVectorPlusVector", gpu, u, call("MexMatrix", gpu, column<T>({1, 2})));
    });
    const Array none = call("MexHandleMatrix", gpu, call("MexMatrix", gpu, complex_full<T>(0, 3, {})));
    check(none->rows() == 0 && none->cols() == 3, precision + "an empty matrix keeps its shape");
}

#include "indexing.hpp"
void conversions(const Array &gpu)
{
    const Array logical = call("MexHandleMatrix", gpu, call("MexMatrix", gpu, full<bool>(1, 3, {true, false, true})));
    check(logical->type == DOUBLE, "logical values are stored as double");
    same_values(list_of(logical), {1, 0, 1}, "logical values");
    const Array s = call("MexSparseMatrix", gpu, sparse<bool>(2, 2, {true, false, true, true}));
    same_values(list_of(call("MexHandleMatrix", gpu, s)), {1, 0, 1, 1}, "logical sparse values");
    const Array z = call("MexSparseMatrix", gpu, sparse<double>(2, 2, {1, 2, 3, 4}));
    call("MexFill", gpu, z, number(0));
    check(call("MexHandleMatrix", gpu, z)->jc[2] == 0, "stored zeros do not go to the host");
}

/// An object of a class, with a property h of this value.
Array object(Array h, const char *class_name = "clinalg.array")
{
    Array array = full<double>(1, 1, {0});
    array->type = OPAQUE_CLASS;
    array->class_name = class_name;
    array->handle = h.release();
    return array;
}

/// Objects stand for the handles that they have.
void handles_of_objects(const Array &gpu)
{
    const Array x = call("MexMatrix", gpu, column<double>({3, 4}));
    const Array own = object(handle(*values<uint64_t>(x)));
    const Array sum = call("MexLazy2", gpu, text("plus"), own, own);
    same_values(list_of(call("MexHandleMatrix", gpu, sum)), {6, 8}, "sum of objects");
    const Array more = call("MexLazy2", gpu, text("times"), number(2), own);
    same_values(list_of(call("MexHandleMatrix", gpu, more)), {6, 8}, "a number and an object");
    const Array less = call("MexLazy", gpu, text("uminus"), own);
    same_values(list_of(call("MexHandleMatrix", gpu, less)), {-3, -4}, "an object");
    check(*values<double>(call("MexVectorNumber", gpu, text("norm2"), own)) == 5, "norm of an object");

    const Array without = object(nothing());
    Array foreign = full<double>(1, 1, {0});
    foreign->type = OPAQUE_CLASS;
    const Array coincidence = object(handle(*values<uint64_t>(x)), "figure_of_user");
    for (const Array *other : {&without, &coincidence, const_cast<const Array *>(&foreign)}) {
        check(*values<uint64_t>(call("MexLazy", gpu, text("exp"), *other)) == 0, "an object without a handle");
        check(*values<uint64_t>(call("MexLazy2", gpu, text("plus"), own, *other)) == 0, "one without a handle");
        check(call("MexVectorNumber", gpu, text("sum"), *other)->count() == 0, "sum without a handle");
    }
    check(*values<uint64_t>(call("MexLazy2", gpu, text("plus"), own, x)) == 0, "a uint64 beside an object is a number");
    raises("clinalg:argument:class", "`a` is of class double", [&] { call("MexVectorNumber", gpu, text("sum"), number(1)); });
    raises("clinalg:handle:foreign", "`a`", [&] { call("MexLazy", gpu, text("exp"), object(handle(1))); });
    for (const Array *h : {&x, &sum, &more, &less}) {
        call("MexRelease", gpu, *h);
    }
}

void bad_input(const Array &gpu)
{
    const Array x = call("MexMatrix", gpu, column<double>({1, 2, 3}));
    const Array f = call("MexMatrix", gpu, column<float>({1, 2, 3}));
    const Array s = call("MexSparseMatrix", gpu, sparse<double>(3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
    const Array complex = complex_full<double>(1, 1, {{1, 2}});
    Array cell = full<double>(1, 1, {1});
    cell->type = CELL;
    Array string = full<double>(1, 1, {1});
    string->type = OPAQUE_CLASS;
    Array cube = full<double>(2, 2, {1, 2, 3, 4});
    cube->dims = {1, 2, 2};
    Array integers = full<double>(1, 1, {1});
    integers->type = INT64;

    mxArray *result;
    check(!call_mex(gateway, 0, &result, 0, nullptr) && host.error_id == "clinalg:call:function", "no function");
    raises("clinalg:call:function", "MexNothing", [] { call("MexNothing"); });
    raises("clinalg:call:function", "number 1.5", [] { Array n = number(1.5); call_array(n.get(), {}, 0); });
    raises("clinalg:call:function", "first argument", [&] { call_array(cell.get(), {}, 0); });
    raises("clinalg:argument:count", "MexSum: too few", [&] { call("MexSum", gpu); });
    raises("clinalg:argument:count", "MexSum: too many arguments", [&] { call("MexSum", gpu, x, x); });
    raises("clinalg:argument:count", "too many outputs", [&] { several(2, "MexSum", gpu, x); });
    raises("clinalg:argument:class", "argument 1 `gpu` is of class cell", [&] { call("MexSum", cell, x); });
    raises("clinalg:argument:class", "argument 2 `a` is of class double", [&] { call("MexSum", gpu, number(3)); });
    raises("clinalg:argument:class", "`A` is of class string", [&] { call("MexMatrix", gpu, string); });
    raises("clinalg:argument:class", "`file` is of class string", [&] { call("MexReadMarket", gpu, string); });
    raises("clinalg:argument:class", "double(x)", [&] { call("MexMatrix", gpu, integers); });
    raises("clinalg:argument:class", "full(x)", [&] { call("MexMatrix", gpu, sparse<double>(1, 1, {1})); });
    raises("clinalg:argument:class", "sparse(x)", [&] { call("MexSparseMatrix", gpu, number(1)); });
    raises("clinalg:argument:complex", "MexCG: argument 4 `tol` is complex", [&] { call("MexCG", gpu, s, x, complex); });
    raises("clinalg:argument:value", "argument 3 `k` is 1+2i", [&] { call("MexVectorTimesConstant", gpu, x, complex); });
    raises("clinalg:argument:shape", "3 dimensions", [&] { call("MexMatrix", gpu, cube); });
    raises("clinalg:argument:shape", "`value` is 3 x 1", [&] { call("MexFill", gpu, x, column<double>({1, 2, 3})); });
    raises("clinalg:argument:value", "`rows` is -1", [&] { call("MexZeros", gpu, number(-1), number(1)); });
    raises("clinalg:argument:value", "`rows` is NaN", [&] { call("MexZeros", gpu, number(NAN), number(1)); });
    raises("clinalg:argument:value", "`single` is 2", [&] { call("MexZeros", gpu, number(1), number(1), number(2)); });
    raises("clinalg:argument:value", "argument 2 `A`", [&] {
        call("MexBandMatrix", gpu, full<double>(2, 2, {1, 5, 0, 1}), number(0), number(1));
    });
    raises("clinalg:argument:precision", "argument 3 `x`", [&] { call("MexSparseMatrixVector", gpu, s, f); });
    raises("clinalg:argument:length", "argument 3 `x`", [&] {
        call("MexSparseMatrixVector", gpu, s, call("MexMatrix", gpu, column<double>({1, 2})));
    });
    raises("clinalg:argument:shape", "argument 3 `b`", [&] {
        call("MexVectorPlusVector", gpu, x, call("MexMatrix", gpu, full<double>(1, 3, {1, 2, 3})));
    });
    raises("clinalg:argument:value", "argument 4 `y`", [&] { call("MexSparseMatrixVector", gpu, s, x, x); });
    raises("clinalg:handle:kind", "MexMatrixVector: argument 2 `A`", [&] { call("MexMatrixVector", gpu, s, x); });
    raises("clinalg:handle:kind", "`h`", [&] { several(0, "MexReleaseSparseMatrix", gpu, x); });
    raises("clinalg:handle:foreign", "`a`", [&] { call("MexSum", gpu, handle(0x82000000deadbeef)); });
    raises("clinalg:handle:foreign", "`gpu`", [&] { call("MexSum", handle(1), x); });
    raises("clinalg:device:notFound", "no device", [&] { several(0, "MexSetGPU", gpu, number(1000)); });
    raises("clinalg:device:memory", "MexZeros", [&] { call("MexZeros", gpu, number(1e7), number(1e7)); });
    raises("clinalg:file:io", "there/is/none", [&] { call("MexReadMarket", gpu, text("/there/is/none.mtx")); });

    several(0, "MexReleaseMatrix", gpu, x);
    raises("clinalg:handle:stale", "MexReleaseMatrix: argument 2 `h`", [&] { several(0, "MexReleaseMatrix", gpu, x); });
    raises("clinalg:handle:stale", "argument 3 `x`", [&] { call("MexSparseMatrixVector", gpu, s, x); });
    same_values(list_of(call("MexRelease", gpu, x)), {0}, "MexRelease is quiet");
    same_values(list_of(call("MexRelease", gpu, f)), {1}, "MexRelease frees");
    check(call("MexMatrix", gpu, column<double>({1})) != nullptr, "the session goes on");
    same_values(list_of(call("MexSum", number(0), call("MexMatrix", number(0), column<double>({2, 3})))), {5},
          "0 stands for the session");
    call("MexSparseMatrixVector", gpu, s, call("MexZeros", gpu, number(3), number(1)), nothing());
}

void host_memory(const Array &gpu)
{
    const Array a = call("MexMatrix", gpu, full<double>(2, 2, {1, 2, 3, 4}));
    const Array s = call("MexSparseMatrix", gpu, sparse<double>(2, 2, {1, 2, 3, 4}));
    const Array names[] = {text("MexHandleMatrix"), text("MexInfo"), text("MexSum"), text("MexPrintGPU")};
    for (const auto &name : names) {
        const bool list = &name == &names[3];
        for (int after = 0; after < 3; ++after) {
            for (const Array *object : {&a, &s}) {
                std::vector<const mxArray *> inputs{gpu.get()};
                if (!list) {
                    inputs.push_back(object->get());
                }
                host.fail_after = after;
                try {
                    call_array(name.get(), inputs, 1);
                } catch (const Raised &error) {
                    check(error.id == "MATLAB:nomem", "out of host memory: " + error.id);
                }
                host.fail_after = -1;
            }
        }
    }
    same_values(list_of(call("MexHandleMatrix", gpu, a)), {1, 2, 3, 4}, "after errors of the host");
}

/// What a random sequence believes of an object.
struct Model {
    uint64_t handle;
    char kind;
    bool single;
    size_t rows, cols;
    std::vector<double> list;
    bool released;
};

/// Random creation, use, release and use after release; small whole numbers, so that results are exact.
void fuzz(const Array &gpu, long calls)
{
    std::mt19937 random(20120913);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    std::vector<Model> all;
    long errors = 0;
    const auto create = [&] {
        Model m{0, "fsb"[below(3)], below(2) == 1, below(5), below(5), {}, false};
        if (m.kind == 'f' && below(2) == 1) {
            m.cols = 1;
        }
        m.list.resize(m.rows * m.cols);
        for (size_t i = 0; i < m.list.size(); ++i) {
            const bool in_band = m.kind != 'b' || (i % m.rows <= i / m.rows + 1 && i / m.rows <= i % m.rows + 1);
            m.list[i] = in_band ? double(below(7)) - 3 : 0;
        }
        Array h;
        const Array single = number(m.single);
        if (m.kind == 's') {
            h = call("MexSparseMatrix", gpu, sparse<double>(m.rows, m.cols, m.list), single);
        } else if (m.kind == 'b') {
            h = call("MexBandMatrix", gpu, full<double>(m.rows, m.cols, m.list), number(1), number(1), single);
        } else if (m.single) {
            h = call("MexMatrix", gpu, full<float>(m.rows, m.cols, {m.list.begin(), m.list.end()}));
        } else {
            h = call("MexMatrix", gpu, full<double>(m.rows, m.cols, m.list));
        }
        m.handle = *values<uint64_t>(h);
        all.push_back(m);
    };
    const auto expect = [&](bool ok, const std::string &what, const std::function<void()> &f) {
        try {
            f();
            check(ok, "fuzz: no error from " + what);
        } catch (const Raised &error) {
            ++errors;
            check(!ok, "fuzz: " + what + ": " + error.what());
            check(error.id.rfind("clinalg:", 0) == 0 && error.id != "clinalg:internal:panic", "fuzz: " + error.id);
        }
    };
    for (long i = 0; i < calls && failures == 0; ++i) {
        if (all.size() < 4 || (all.size() < 64 && below(8) == 0)) {
            create();
            continue;
        }
        const size_t at = below(all.size());
        Model &m = all[at];
        const Array h = handle(m.handle);
        switch (below(8)) {
        case 0: {
            const char *name = m.kind == 'f' ? "MexReleaseMatrix" : m.kind == 's' ? "MexReleaseSparseMatrix" : "MexReleaseBandMatrix";
            expect(!m.released, name, [&] { several(0, name, gpu, h); });
            m.released = true;
            if (below(4) == 0) {
                all.erase(all.begin() + static_cast<long>(at));
            }
            break;
        }
        case 1:
            expect(!m.released && m.kind == 'b', "MexReleaseBandMatrix", [&] { several(0, "MexReleaseBandMatrix", gpu, h); });
            m.released |= m.kind == 'b';
            break;
        case 2:
            expect(!m.released, "MexHandleMatrix", [&] {
                same_values(list_of(call("MexHandleMatrix", gpu, h)), m.list, "fuzz: values");
            });
            break;
        case 3: {
            const Model &x = all[below(all.size())];
            const bool ok = !m.released && !x.released && m.single == x.single && m.kind == 's' && x.kind == 'f' &&
                            (x.rows == 1 || x.cols == 1) && x.rows * x.cols == m.cols;
            expect(ok, "MexSparseMatrixVector", [&] {
                const Array y = call("MexSparseMatrixVector", gpu, h, handle(x.handle));
                std::vector<double> expected(m.rows);
                for (size_t k = 0; k < m.list.size(); ++k) {
                    expected[k % m.rows] += m.list[k] * x.list[k / m.rows];
                }
                same_values(list_of(call("MexHandleMatrix", gpu, y)), expected, "fuzz: product");
                several(0, "MexReleaseMatrix", gpu, y);
            });
            break;
        }
        case 4: {
            const Model &b = all[below(all.size())];
            const bool ok = !m.released && !b.released && m.single == b.single && m.kind == 'f' && b.kind == 'f' &&
                            m.rows == b.rows && m.cols == b.cols;
            // Objects of other kinds may fit each other as well.
            if (m.kind == 'f' || b.kind == 'f') {
                expect(ok, "MexVectorMinusVector", [&] { call("MexVectorMinusVector", gpu, h, handle(b.handle), h); });
                for (size_t k = 0; ok && k < m.list.size(); ++k) {
                    m.list[k] = &m == &b ? 0 : m.list[k] - b.list[k];
                }
            }
            break;
        }
        case 5:
            expect(!m.released, "MexVectorTimesConstant", [&] { call("MexVectorTimesConstant", gpu, h, number(-1), h); });
            for (size_t k = 0; !m.released && k < m.list.size(); ++k) {
                m.list[k] = -m.list[k];
            }
            break;
        case 6: {
            double sum = 0;
            for (const double v : m.list) {
                sum += v;
            }
            expect(!m.released, "MexSum", [&] { same_values(list_of(call("MexSum", gpu, h)), {sum}, "fuzz: sum"); });
            break;
        }
        default: {
            // Forged handles: another generation of a slot in use, or anything.
            const uint64_t other = uint64_t{1} << (32 + below(24));
            const uint64_t forged = m.released ? uint64_t{random()} << 32 | (random() | 0x8000) : m.handle ^ other;
            expect(false, "a forged handle", [&] { call("MexSum", gpu, handle(forged)); });
        }
        }
        for (Model &o : all) {
            double largest = 0;
            for (const double v : o.list) {
                largest = std::max(largest, std::abs(v));
            }
            if (largest > 1e5 && !o.released) {
                several(0, "MexReleaseMatrix", gpu, handle(o.handle));
                o.released = true;
            }
        }
    }
    for (const Model &m : all) {
        call("MexRelease", gpu, handle(m.handle));
    }
    printf("fuzz: %ld steps, %ld errors as expected\n", calls, errors);
}

void timing(const Array &gpu)
{
    const Array h = call("MexMatrix", gpu, column<double>({1, 2, 3}));
    const Array size = text("MexSize");
    const mxArray *inputs[] = {size.get(), gpu.get(), h.get()};
    const auto now = [] {
        timespec time;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    // The least of many batches: other programs only add.
    const auto measure = [&](MexFunction f) {
        double least = 1;
        for (int batch = 0; batch < 50; ++batch) {
            const double start = now();
            for (int i = 0; i < 2000; ++i) {
                mxArray *results[2];
                f(2, results, 3, inputs);
                destroy(results[0]);
                destroy(results[1]);
            }
            least = std::min(least, (now() - start) / 2000);
        }
        return least;
    };
    // The same results without the gateway.
    const MexFunction bare = [](int, mxArray **plhs, int, const mxArray **) {
        for (int i = 0; i < 2; ++i) {
            plhs[i] = make_array(DOUBLE, 1, 1, false);
            *static_cast<double *>(plhs[i]->data) = 3;
        }
    };
    const double own = measure(bare);
    const double whole = measure(gateway);
    printf("timing: %.3f us a call of MexSize, %.3f us of it in the gateway\n", whole * 1e6, (whole - own) * 1e6);
}

void ends(Array &gpu)
{
    const Array x = call("MexMatrix", gpu, column<double>({1, 2, 3}));
    several(0, "MexReleaseOpenCL", gpu);
    raises("clinalg:handle:stale", "`gpu`", [&] { call("MexSum", gpu, x); });
    raises("clinalg:handle:stale", "`gpu`", [&] { several(0, "MexReleaseOpenCL", gpu); });
    raises("clinalg:handle:stale", "`a`", [&] { call("MexSum", number(0), x); });

    const Array second = call("MexInitOpenCL");
    check(*values<uint64_t>(second) != *values<uint64_t>(gpu), "a new session has a new handle");
    raises("clinalg:handle:stale", "`a`", [&] { call("MexSum", second, x); });
    const Array y = call("MexMatrix", second, column<double>({1, 2}));

    several(0, "MexShutdown");
    check(host.locks == 0, "MexShutdown unlocks");
    raises("clinalg:handle:stale", "`a`", [&] { call("MexSum", number(0), y); });
    check(host.locks == 1, "the next call locks again");

    const Array z = call("MexMatrix", number(0), column<double>({1, 2}));
    // Work in flight when the host ends.
    const Array a = call("MexZeros", number(0), number(1000), number(1000));
    const Array v = call("MexZeros", number(0), number(1000), number(1));
    for (int i = 0; i < 50; ++i) {
        call("MexMatrixVector", number(0), a, v, call("MexZeros", number(0), number(1000), number(1)));
    }
    host.at_exit();
    raises("clinalg:handle:stale", "`a`", [&] { call("MexSum", number(0), z); });
    check(host.locks == 2, "a call after the exit hook locks anew");
    host.at_exit();
}
}

extern "C" __attribute__((visibility("default"))) int run(const char *mode, const char *file, bool jump, long calls)
{
    host.jump = jump;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        fprintf(stderr, "FAILED: %s\n", dlerror());
        return 1;
    }
    gateway = reinterpret_cast<MexFunction>(dlsym(library, "mexFunction"));
    const auto version = reinterpret_cast<void (*)(unsigned *, unsigned *)>(dlsym(library, "mexfilerequiredapiversion"));
    unsigned built = 0, target = 0;
    version(&built, &target);
#ifdef BEFORE_R2018A
    check(target == 0x07300000, "the interface before R2018a");
#else
    check(target == 0x08000000, "the interface of R2018a");
#endif
    check(built == 0x2018a, "the release built for");

    try {
        if (strcmp(mode, "no-device") == 0) {
            raises("clinalg:device:noPlatform", "install", [] { call("MexInitOpenCL"); });
            raises("clinalg:device:noPlatform", "MexMatrix", [] { call("MexMatrix", number(0), number(1)); });
        } else if (strcmp(mode, "missing") == 0) {
            raises("clinalg:host:missing", "mxCreateStructMatrix", [] { call("MexInitOpenCL"); });
        } else {
            Array gpu;
            sessions(gpu);
            const Array before = call("MexMemory", gpu);
            objects<double>(gpu);
            complex_objects<double>(gpu);
            complex_objects<float>(gpu);
            objects<float>(gpu);
            indexing(gpu);
            conversions(gpu);
            handles_of_objects(gpu);
            bad_input(gpu);
            host_memory(gpu);
            timing(gpu);
            several(0, "MexReleaseOpenCL", gpu);
            gpu = call("MexInitOpenCL");
            fuzz(gpu, calls);
            const Array memory = call("MexMemory", gpu);
            check(*static_cast<double *>(field(memory, "live_bytes")->data) == 0, "no device memory is left");
            ends(gpu);
        }
    } catch (const Raised &error) {
        check(false, std::string("error ") + error.id + ": " + error.what());
    }
    check(host.live == 0, std::to_string(host.live) + " arrays of the host are left");

    dlclose(library);
    void *again = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    check(reinterpret_cast<MexFunction>(dlsym(again, "mexFunction")) == gateway, "the library stays in memory");
    printf("%s\n", failures == 0 ? "passed" : "failed");
    return failures == 0 ? 0 : 1;
}
