// clinalg for C++11 and newer: all of clinalg.h, with objects that release themselves and errors as exceptions. Header-only.
//
//   clinalg::Csr a = clinalg::csr(rows, cols, offsets, columns, values);
//   clinalg::Vector b = clinalg::vector(right), x;
//   const clinalg::Report report = clinalg::solve(a, b, x, clinalg::SolverOptions(CLINALG_METHOD_CG));
//   const double residual = norm(b - a * x);
//
// Every class derives from clinalg::Object, whose get() and out() pass it to a function of clinalg.h.
#pragma once

#include "clinalg/array.hpp"
#include "clinalg/bem.hpp"
#include "clinalg/factorisation.hpp"
#include "clinalg/object.hpp"
#include "clinalg/ode.hpp"
#include "clinalg/opencl.hpp"
#include "clinalg/poisson.hpp"
#include "clinalg/solver.hpp"
#include "clinalg/team.hpp"
#include "clinalg/wave.hpp"
