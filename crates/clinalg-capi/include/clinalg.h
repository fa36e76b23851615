/* clinalg: linear algebra on any OpenCL device. Generated from crates/clinalg-capi; do not edit.
 *
 * Every function returns a status; clinalg_last_error_message() has the message of the last failure
 * on this thread. Objects are handles, never pointers; 0 is never one. */

#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* The version of this header; clinalg_version() has that of the library. */
#define CLINALG_VERSION_MAJOR 0
#define CLINALG_VERSION_MINOR 1
#define CLINALG_VERSION_PATCH 0
/* For comparisons: #if CLINALG_VERSION >= CLINALG_MAKE_VERSION(0, 2, 0) */
#define CLINALG_MAKE_VERSION(major, minor, patch) ((major) * 1000000L + (minor) * 1000L + (patch))
#define CLINALG_VERSION CLINALG_MAKE_VERSION(CLINALG_VERSION_MAJOR, CLINALG_VERSION_MINOR, CLINALG_VERSION_PATCH)

/**
 * The outcome of a call. Numbers are never reused or changed; new ones may be added, below 64.
 */
typedef enum {
  /**
   * The call did what it says.
   */
  CLINALG_STATUS_OK = 0,
  /**
   * A fault of the library itself; please report it.
   */
  CLINALG_STATUS_INTERNAL = 1,
  /**
   * A pointer that must not be null is null.
   */
  CLINALG_STATUS_NULL_POINTER = 2,
  /**
   * No OpenCL loader library (clinalg:device:noLoader).
   */
  CLINALG_STATUS_NO_LOADER = 10,
  /**
   * No OpenCL platform (clinalg:device:noPlatform).
   */
  CLINALG_STATUS_NO_PLATFORM = 11,
  /**
   * No OpenCL device (clinalg:device:noDevice).
   */
  CLINALG_STATUS_NO_DEVICE = 12,
  /**
   * No device matches the selector (clinalg:device:notFound).
   */
  CLINALG_STATUS_DEVICE_NOT_FOUND = 13,
  /**
   * The device has no double precision (clinalg:device:noFp64).
   */
  CLINALG_STATUS_NO_FP64 = 14,
  /**
   * A kernel could not be built (clinalg:device:build).
   */
  CLINALG_STATUS_BUILD = 15,
  /**
   * An allocation that the device cannot hold (clinalg:device:memory).
   */
  CLINALG_STATUS_MEMORY = 16,
  /**
   * Another failure of OpenCL (clinalg:device:opencl).
   */
  CLINALG_STATUS_OPEN_CL = 17,
  /**
   * The device is lost (clinalg:device:lost).
   */
  CLINALG_STATUS_DEVICE_LOST = 18,
  /**
   * The process was forked after OpenCL was in use (clinalg:device:forked).
   */
  CLINALG_STATUS_FORKED = 19,
  /**
   * Another process of a team is lost (clinalg:team:lost).
   */
  CLINALG_STATUS_TEAM_LOST = 33,
  /**
   * An array of the wrong length (clinalg:argument:length).
   */
  CLINALG_STATUS_LENGTH = 20,
  /**
   * An object of the wrong shape (clinalg:argument:shape).
   */
  CLINALG_STATUS_SHAPE = 21,
  /**
   * A value outside its range (clinalg:argument:value).
   */
  CLINALG_STATUS_VALUE = 22,
  /**
   * Single and double precision mixed (clinalg:argument:precision).
   */
  CLINALG_STATUS_PRECISION = 23,
  /**
   * An index out of range or order (clinalg:argument:index).
   */
  CLINALG_STATUS_INDEX = 24,
  /**
   * Objects of different devices (clinalg:argument:context).
   */
  CLINALG_STATUS_CONTEXT = 25,
  /**
   * The handle was released (clinalg:handle:stale).
   */
  CLINALG_STATUS_HANDLE_STALE = 30,
  /**
   * The handle was never issued by this process (clinalg:handle:foreign).
   */
  CLINALG_STATUS_HANDLE_FOREIGN = 31,
  /**
   * The handle refers to another kind of object (clinalg:handle:kind).
   */
  CLINALG_STATUS_HANDLE_KIND = 32,
  /**
   * A file that does not follow its format (clinalg:file:format).
   */
  CLINALG_STATUS_FILE_FORMAT = 40,
  /**
   * A file that cannot be read or written (clinalg:file:io).
   */
  CLINALG_STATUS_FILE_IO = 41,
  /**
   * A formula that cannot be read (clinalg:ode:formula).
   */
  CLINALG_STATUS_ODE_FORMULA = 50,
  /**
   * A right-hand side in OpenCL C that reads further than it declares (clinalg:ode:access).
   */
  CLINALG_STATUS_ODE_ACCESS = 51,
  /**
   * A solution that is infinite or NaN (clinalg:ode:notFinite).
   */
  CLINALG_STATUS_ODE_NOT_FINITE = 52,
  /**
   * A tolerance that requires steps too small to advance the time (clinalg:ode:stepTooSmall).
   */
  CLINALG_STATUS_ODE_STEP_TOO_SMALL = 53,
  /**
   * Too many steps (clinalg:ode:stepLimit).
   */
  CLINALG_STATUS_ODE_STEP_LIMIT = 54,
  /**
   * Steps of a fixed size past the stability limit (clinalg:ode:unstable).
   */
  CLINALG_STATUS_ODE_UNSTABLE = 55,
  /**
   * A variant that does not fit the method, the system or the device (clinalg:ode:variant).
   */
  CLINALG_STATUS_ODE_VARIANT = 56,
  /**
   * Vectors that do not fit the device in any variant (clinalg:ode:memory).
   */
  CLINALG_STATUS_ODE_MEMORY = 57,
  /**
   * Coefficients that violate a row sum, an order condition or zero stability (clinalg:ode:condition).
   */
  CLINALG_STATUS_ODE_CONDITION = 58,
  /**
   * A data-flow graph that cannot be executed (clinalg:ode:graph).
   */
  CLINALG_STATUS_ODE_GRAPH = 59,
  /**
   * A system with a singular matrix (clinalg:matrix:singular).
   */
  CLINALG_STATUS_SINGULAR = 60,
  /**
   * A Cholesky factorisation of a matrix that is not positive definite (clinalg:matrix:notPositiveDefinite).
   */
  CLINALG_STATUS_NOT_POSITIVE_DEFINITE = 61,
  /**
   * Infinity or NaN in a waveform relaxation (clinalg:ode:waveform).
   */
  CLINALG_STATUS_ODE_WAVEFORM = 62,
  /**
   * A progress callback stopped a call that has no partial result (clinalg:solve:cancelled).
   */
  CLINALG_STATUS_CANCELLED = 63,
} clinalg_status;

/**
 * Why a solve ended.
 */
typedef enum {
  /**
   * The true relative residual is at most the tolerance.
   */
  CLINALG_STOP_CONVERGED = 0,
  /**
   * The maximum number of iterations was reached first.
   */
  CLINALG_STOP_ITERATION_LIMIT = 1,
  /**
   * A coefficient of the method vanished.
   */
  CLINALG_STOP_BREAKDOWN = 2,
  /**
   * A NaN or infinity occurred.
   */
  CLINALG_STOP_NOT_FINITE = 3,
  /**
   * The matrix or preconditioner is not positive definite.
   */
  CLINALG_STOP_INDEFINITE = 4,
  /**
   * The residual no longer falls.
   */
  CLINALG_STOP_STAGNATED = 5,
  /**
   * The residual grows.
   */
  CLINALG_STOP_DIVERGED = 6,
  /**
   * Restarts no longer reduce the residual, which is near the rounding error and above the tolerance.
   */
  CLINALG_STOP_ROUNDING_FLOOR = 7,
  /**
   * The function `progress` of the options ended the solve.
   */
  CLINALG_STOP_CANCELLED = 8,
  /**
   * x is so large that the rounding error of b - A x is as large as the residual, as happens where A is singular or nearly so.
   */
  CLINALG_STOP_UNBOUNDED = 9,
  /**
   * The system has no solution to working accuracy, and x is a least-squares solution; only with `CLINALG_METHOD_MINRES`.
   */
  CLINALG_STOP_LEAST_SQUARES = 10,
  /**
   * A reason unknown to this version of the header.
   */
  CLINALG_STOP_OTHER = 255,
} clinalg_stop;

/**
 * The kind of an object.
 */
typedef enum {
  /**
   * A contiguous vector.
   */
  CLINALG_KIND_VECTOR = 1,
  /**
   * A dense column-major matrix.
   */
  CLINALG_KIND_DENSE = 2,
  /**
   * A sparse matrix in compressed rows.
   */
  CLINALG_KIND_CSR = 3,
  /**
   * A band matrix.
   */
  CLINALG_KIND_BAND = 4,
  /**
   * A wave.
   */
  CLINALG_KIND_WAVE = 5,
  /**
   * An operator, which products and solvers accept.
   */
  CLINALG_KIND_OPERATOR = 6,
  /**
   * A system of differential equations, of `rows` points and `cols` fields.
   */
  CLINALG_KIND_ODE = 7,
  /**
   * A problem of elastodynamics, whose matrices have `rows` rows and `cols` columns.
   */
  CLINALG_KIND_ELASTODYNAMICS = 8,
  /**
   * A team of `rows` devices.
   */
  CLINALG_KIND_TEAM = 9,
  /**
   * A sparse matrix whose rows are distributed over the devices of a team.
   */
  CLINALG_KIND_TEAM_MATRIX = 10,
  /**
   * A method for a system of differential equations of `rows` points and `cols` fields.
   */
  CLINALG_KIND_ODE_STEPPER = 11,
  /**
   * A Poisson solver for `rows` points.
   */
  CLINALG_KIND_POISSON = 12,
  /**
   * A Krylov solver for `rows` equations.
   */
  CLINALG_KIND_SOLVER = 13,
  /**
   * The factors of a dense matrix of `rows` rows and `cols` columns.
   */
  CLINALG_KIND_FACTORISATION = 15,
  /**
   * Algebraic multigrid for a matrix of `rows` rows on a team.
   */
  CLINALG_KIND_TEAM_AMG = 16,
  /**
   * A kind of object unknown to this version of the header.
   */
  CLINALG_KIND_OTHER = 255,
} clinalg_kind;

/**
 * The type of the values of an object.
 */
typedef enum {
  /**
   * `float`.
   */
  CLINALG_PRECISION_F32 = 0,
  /**
   * `double`.
   */
  CLINALG_PRECISION_F64 = 1,
  /**
   * Complex numbers of two `float`: the real part, then the imaginary part, as C99's `float complex`.
   */
  CLINALG_PRECISION_COMPLEX_F32 = 2,
  /**
   * Complex numbers of two `double`: the real part, then the imaginary part, as C99's `double complex`.
   */
  CLINALG_PRECISION_COMPLEX_F64 = 3,
} clinalg_precision;

/**
 * A Krylov method.
 */
typedef enum {
  /**
   * Conjugate gradients: symmetric positive definite matrices.
   */
  CLINALG_METHOD_CG = 0,
  /**
   * Stabilised biconjugate gradients.
   */
  CLINALG_METHOD_BICGSTAB = 1,
  /**
   * Restarted generalised minimal residuals.
   */
  CLINALG_METHOD_GMRES = 2,
  /**
   * Minimal residuals: symmetric matrices, definite or not, with a positive definite preconditioner.
   */
  CLINALG_METHOD_MINRES = 3,
  /**
   * Induced dimension reduction, IDR(s): as BiCGStab, more robust.
   */
  CLINALG_METHOD_IDR = 4,
  /**
   * Conjugate gradients with a preconditioner that may differ in each iteration, such as K-cycles.
   */
  CLINALG_METHOD_FLEXIBLE_CG = 5,
  /**
   * LSQR: the x that minimises |b - A x|, for dense, sparse and band matrices of any shape. The preconditioner approximates A^H A: for a sparse A
   * `CLINALG_PRECONDITIONER_JACOBI`, which scales the columns to norm 1, or `_IC`, `_SSOR`, `_SPAI0`, `_FSAI` or `_AMG`, for which A^H A is computed.
   * Only in `clinalg_system_solve`.
   */
  CLINALG_METHOD_LSQR = 6,
  /**
   * LSMR: as LSQR, and may be stopped earlier, as |A^H (b - A x)| never rises.
   */
  CLINALG_METHOD_LSMR = 7,
  /**
   * Richardson iteration, x += M^-1 (b - A x), for real matrices: a preconditioner, such as cycles of algebraic multigrid, used as a solver. It converges if
   * the eigenvalues of I - M^-1 A are below 1 in modulus. If it does not, x is the last iterate, or the initial guess if that is better.
   */
  CLINALG_METHOD_RICHARDSON = 8,
} clinalg_method;

/**
 * Which form of a matrix a product uses.
 */
typedef enum {
  /**
   * The matrix itself.
   */
  CLINALG_TRANSPOSE_NO = 0,
  /**
   * Its transpose, without conjugation.
   */
  CLINALG_TRANSPOSE_YES = 1,
  /**
   * Its conjugate transpose; of a real matrix the transpose.
   */
  CLINALG_TRANSPOSE_CONJUGATE = 2,
} clinalg_transpose;

/**
 * A factorisation of a matrix.
 */
typedef enum {
  /**
   * LU with partial pivoting: square matrices.
   */
  CLINALG_FACTORISATION_LU = 0,
  /**
   * Cholesky: Hermitian positive definite matrices, of which the lower triangle is read.
   */
  CLINALG_FACTORISATION_CHOLESKY = 1,
  /**
   * QR, for least squares; `clinalg_factorisation_create` takes a dense matrix with at least as many rows as columns and full column rank.
   */
  CLINALG_FACTORISATION_QR = 2,
  /**
   * The one that suits: QR of a dense matrix that is not square; Cholesky of a sparse Hermitian positive definite matrix, L D L' of one that is
   * Hermitian or complex symmetric; else LU. With `clinalg_dense_solve` also substitution for a triangle and Cholesky.
   */
  CLINALG_FACTORISATION_AUTO = 3,
  /**
   * L D L' with blocks of up to two rows in D: sparse Hermitian or complex symmetric matrices, definite or not.
   */
  CLINALG_FACTORISATION_LDL = 4,
} clinalg_factorisation;

/**
 * Which triangle of a matrix is read.
 */
typedef enum {
  /**
   * On and below the diagonal.
   */
  CLINALG_TRIANGLE_LOWER = 0,
  /**
   * On and above the diagonal.
   */
  CLINALG_TRIANGLE_UPPER = 1,
} clinalg_triangle;

/**
 * A preconditioner. Those from ILU on are made for one solve with their default parameters; `clinalg_preconditioner_create` and
 * `clinalg_amg_create` make one for several solves.
 */
typedef enum {
  /**
   * None.
   */
  CLINALG_PRECONDITIONER_NONE = 0,
  /**
   * The matrix's diagonal.
   */
  CLINALG_PRECONDITIONER_JACOBI = 1,
  /**
   * ILU(0), of a sparse matrix, as the others that follow.
   */
  CLINALG_PRECONDITIONER_ILU = 2,
  /**
   * ILUT.
   */
  CLINALG_PRECONDITIONER_ILUT = 3,
  /**
   * IC(0), for Hermitian positive definite matrices.
   */
  CLINALG_PRECONDITIONER_IC = 4,
  /**
   * Symmetric successive over-relaxation.
   */
  CLINALG_PRECONDITIONER_SSOR = 5,
  /**
   * The diagonal that is closest to the inverse.
   */
  CLINALG_PRECONDITIONER_SPAI0 = 6,
  /**
   * A factorised sparse approximate inverse, for Hermitian positive definite matrices.
   */
  CLINALG_PRECONDITIONER_FSAI = 7,
  /**
   * Algebraic multigrid.
   */
  CLINALG_PRECONDITIONER_AMG = 8,
  /**
   * A complete factorisation, Cholesky, L D L' or LU: with GMRES a direct solver.
   */
  CLINALG_PRECONDITIONER_LU = 9,
} clinalg_preconditioner;

/**
 * The order in which a factorisation eliminates the unknowns.
 */
typedef enum {
  /**
   * By colours for SSOR, that of the matrix for factorisations.
   */
  CLINALG_ORDERING_DEFAULT = 0,
  /**
   * That of the matrix.
   */
  CLINALG_ORDERING_NATURAL = 1,
  /**
   * By colours: as many levels as colours, and more iterations.
   */
  CLINALG_ORDERING_MULTICOLOUR = 2,
  /**
   * Reverse Cuthill-McKee: a small bandwidth.
   */
  CLINALG_ORDERING_CUTHILL_MCKEE = 3,
} clinalg_ordering;

/**
 * When ILU permutes rows so that the product of the diagonal entries is largest.
 */
typedef enum {
  /**
   * Where a diagonal entry is missing, zero or below 1e-6 times the largest of its row.
   */
  CLINALG_MATCHING_WHERE_NEEDED = 0,
  /**
   * Never.
   */
  CLINALG_MATCHING_NEVER = 1,
  /**
   * Always.
   */
  CLINALG_MATCHING_ALWAYS = 2,
} clinalg_matching;

/**
 * The smoother of algebraic multigrid.
 */
typedef enum {
  /**
   * Chebyshev iteration, `smoother_steps` being its degree.
   */
  CLINALG_AMG_SMOOTHER_CHEBYSHEV = 0,
  /**
   * l1-Jacobi sweeps.
   */
  CLINALG_AMG_SMOOTHER_L1_JACOBI = 1,
  /**
   * Sweeps with SPAI-0.
   */
  CLINALG_AMG_SMOOTHER_SPAI0 = 2,
  /**
   * Gauss-Seidel sweeps by colours: rows of one colour, which are not coupled, at once.
   */
  CLINALG_AMG_SMOOTHER_GAUSS_SEIDEL = 3,
} clinalg_amg_smoother;

/**
 * How algebraic multigrid visits coarser levels.
 */
typedef enum {
  /**
   * V-cycle: one visit to the next coarser level per visit.
   */
  CLINALG_AMG_CYCLE_V = 0,
  /**
   * W-cycle: two visits to the next coarser level per visit.
   */
  CLINALG_AMG_CYCLE_W = 1,
  /**
   * Two steps of flexible conjugate gradients on each level between the finest and the coarsest. For symmetric
   * positive definite matrices. The cycle is a nonlinear preconditioner, for `CLINALG_METHOD_FLEXIBLE_CG`: `CLINALG_METHOD_CG` may need more
   * iterations or stagnate.
   */
  CLINALG_AMG_CYCLE_K = 2,
} clinalg_amg_cycle;

/**
 * How algebraic multigrid makes coarser levels.
 */
typedef enum {
  /**
   * Classical where more than 2 % of the off-diagonal entries are at least 0.25 times the largest in their row and less than 0.08 times
   * the largest in the row of their column. Otherwise, where more than 5 % of the off-diagonal entries have the sign of the diagonal and are not small, a
   * trial decides: 12 iterations of conjugate gradients with aggregation and, if these converge slowly, 12 with classical coarsening; the set-up then takes
   * up to three times as long. In all other cases, and always for several unknowns per node or given near-null vectors, aggregation.
   */
  CLINALG_AMG_COARSENING_AUTO = 0,
  /**
   * Smoothed aggregation.
   */
  CLINALG_AMG_COARSENING_AGGREGATION = 1,
  /**
   * PMIS with extended+i interpolation, for one unknown per node.
   */
  CLINALG_AMG_COARSENING_CLASSICAL = 2,
} clinalg_amg_coarsening;

/**
 * The smoother of multigrid.
 */
typedef enum {
  /**
   * Red-black Gauss-Seidel.
   */
  CLINALG_SMOOTHER_RED_BLACK = 0,
  /**
   * Weighted Jacobi.
   */
  CLINALG_SMOOTHER_JACOBI = 1,
} clinalg_smoother;

/**
 * Which end of the spectrum to compute.
 */
typedef enum {
  /**
   * The smallest eigenvalues, in ascending order.
   */
  CLINALG_SPECTRUM_END_SMALLEST = 0,
  /**
   * The largest eigenvalues, in descending order.
   */
  CLINALG_SPECTRUM_END_LARGEST = 1,
} clinalg_spectrum_end;

/**
 * The order in which multigrid visits its levels.
 */
typedef enum {
  /**
   * V-cycle: one coarse-grid correction per level.
   */
  CLINALG_CYCLE_V = 0,
  /**
   * W-cycle: two coarse-grid corrections per level.
   */
  CLINALG_CYCLE_W = 1,
  /**
   * Full multigrid first, then V-cycles.
   */
  CLINALG_CYCLE_FULL = 2,
} clinalg_cycle;

/**
 * The boundary condition on a side of a box. `clinalg_poisson_set_side` sets its values g.
 */
typedef enum {
  /**
   * u = g.
   */
  CLINALG_CONDITION_DIRICHLET = 0,
  /**
   * k D du/dn = g, with the outward normal n.
   */
  CLINALG_CONDITION_NEUMANN = 1,
  /**
   * alpha u + k D du/dn = g.
   */
  CLINALG_CONDITION_ROBIN = 2,
  /**
   * u is periodic in this direction; the opposite side must be periodic too.
   */
  CLINALG_CONDITION_PERIODIC = 3,
} clinalg_condition;

/**
 * Where the values of a grid lie.
 */
typedef enum {
  /**
   * At the points, those on the sides included: n points bound n - 1 intervals, in a periodic direction n.
   */
  CLINALG_CENTRING_VERTEX = 0,
  /**
   * At the centres of n cells.
   */
  CLINALG_CENTRING_CELL = 1,
} clinalg_centring;

/**
 * Where a coefficient is given.
 */
typedef enum {
  /**
   * At the points; between two points their harmonic mean is used.
   */
  CLINALG_COEFFICIENT_AT_POINTS = 0,
  /**
   * In the cells between the points.
   */
  CLINALG_COEFFICIENT_AT_CELLS = 1,
} clinalg_coefficient_at;

/**
 * How a wave steps through time.
 */
typedef enum {
  /**
   * Leapfrog, stable up to the time step that `clinalg_wave_limit` returns.
   */
  CLINALG_SCHEME_EXPLICIT = 0,
  /**
   * Newmark with beta = 1/4, by multigrid, on squares, stable for every time step.
   */
  CLINALG_SCHEME_IMPLICIT = 1,
} clinalg_scheme;

/**
 * The implementation of a method on grids.
 */
typedef enum {
  /**
   * Kernels specialised for the stencil.
   */
  CLINALG_BACKEND_KERNELS = 0,
  /**
   * Sparse matrices and vectors only.
   */
  CLINALG_BACKEND_MATRIX = 1,
  /**
   * Plain sequential code on the host.
   */
  CLINALG_BACKEND_REFERENCE = 2,
} clinalg_backend;

/**
 * What a wave does on a side of its grid.
 */
typedef enum {
  /**
   * u keeps its initial values.
   */
  CLINALG_WAVE_SIDE_FIXED = 0,
  /**
   * du/dn = 0: waves are reflected without a change of sign.
   */
  CLINALG_WAVE_SIDE_FREE = 1,
  /**
   * u_t + c du/dn = 0 (Engquist and Majda 1977): a plane wave incident at the angle theta to the normal is reflected
   * with the factor (1 - cos theta) / (1 + cos theta).
   */
  CLINALG_WAVE_SIDE_ABSORBING = 2,
  /**
   * u is periodic in this direction; the opposite side must be periodic too.
   */
  CLINALG_WAVE_SIDE_PERIODIC = 3,
} clinalg_wave_side;

/**
 * How the blocks of a preconditioner for [A B'; B -C] are combined; S approximates B A^-1 B' + C.
 */
typedef enum {
  /**
   * M = [A 0; 0 S], symmetric positive definite where A and S are: for `CLINALG_METHOD_MINRES`.
   */
  CLINALG_SADDLE_SHAPE_DIAGONAL = 0,
  /**
   * M = [A B'; 0 -S]: for GMRES, BiCGStab and IDR(s), in about half the iterations.
   */
  CLINALG_SADDLE_SHAPE_TRIANGULAR = 1,
} clinalg_saddle_shape;

/**
 * The approximation of the Schur complement B A^-1 B' + C.
 */
typedef enum {
  /**
   * `PRODUCT` where A is close to its diagonal, else `DIAGONAL`.
   */
  CLINALG_SCHUR_AUTO = 0,
  /**
   * B diag(A)^-1 B' + C: where A is a mass matrix, or has one as its larger part.
   */
  CLINALG_SCHUR_PRODUCT = 1,
  /**
   * The diagonal of that matrix: where A is a differential operator of second order and B of first order (Stokes).
   */
  CLINALG_SCHUR_DIAGONAL = 2,
  /**
   * The diagonal of the mass matrix that was given; in reports only.
   */
  CLINALG_SCHUR_MASS = 3,
} clinalg_schur;

/**
 * How the error of a step is measured.
 */
typedef enum {
  /**
   * Root of the mean square over the components.
   */
  CLINALG_ODE_NORM_RMS = 0,
  /**
   * Largest component.
   */
  CLINALG_ODE_NORM_MAX = 1,
} clinalg_ode_norm;

/**
 * The direction in which an event's formula passes through zero.
 */
typedef enum {
  /**
   * Either way.
   */
  CLINALG_ODE_DIRECTION_ANY = 0,
  /**
   * From below 0 to above.
   */
  CLINALG_ODE_DIRECTION_RISING = 1,
  /**
   * From above 0 to below.
   */
  CLINALG_ODE_DIRECTION_FALLING = 2,
} clinalg_ode_direction;

/**
 * The waveforms that a window of a waveform relaxation begins with.
 */
typedef enum {
  /**
   * The solution at the beginning of the window, constant.
   */
  CLINALG_GUESS_CONSTANT = 0,
  /**
   * The waveforms of the previous window, step by step.
   */
  CLINALG_GUESS_PREVIOUS = 1,
  /**
   * Linear extrapolation from the last step of the previous window.
   */
  CLINALG_GUESS_LINEAR = 2,
} clinalg_guess;

/**
 * The texts of [`clinalg_device_text`].
 */
typedef enum {
  /**
   * The device's name.
   */
  CLINALG_TEXT_NAME = 0,
  /**
   * The device's vendor.
   */
  CLINALG_TEXT_VENDOR = 1,
  /**
   * The platform (driver).
   */
  CLINALG_TEXT_PLATFORM = 2,
  /**
   * The driver's version.
   */
  CLINALG_TEXT_DRIVER = 3,
  /**
   * The OpenCL version.
   */
  CLINALG_TEXT_VERSION = 4,
} clinalg_text;

/**
 * The numbers of [`clinalg_device_number`].
 */
typedef enum {
  /**
   * 1 with double precision, else 0.
   */
  CLINALG_NUMBER_FP64 = 0,
  /**
   * Compute units.
   */
  CLINALG_NUMBER_COMPUTE_UNITS = 1,
  /**
   * Bytes of global memory.
   */
  CLINALG_NUMBER_GLOBAL_MEM = 2,
  /**
   * Bytes of the largest single allocation.
   */
  CLINALG_NUMBER_MAX_ALLOC = 3,
  /**
   * Bytes of local memory of a work-group.
   */
  CLINALG_NUMBER_LOCAL_MEM = 4,
} clinalg_number;

/**
 * How the products of a sparse matrix run.
 */
typedef enum {
  /**
   * Chosen from the matrix, as at its upload.
   */
  CLINALG_FORMAT_BEST = 0,
  /**
   * The compressed rows as they are.
   */
  CLINALG_FORMAT_CSR = 1,
  /**
   * Blocks of rows with about the same number of entries (nnz-balanced CSR).
   */
  CLINALG_FORMAT_BALANCED = 2,
  /**
   * Entries at few distances from the diagonal: columns are not read.
   */
  CLINALG_FORMAT_DIA = 3,
  /**
   * A stencil with constant coefficients: neither columns nor values are read.
   */
  CLINALG_FORMAT_STENCIL = 4,
  /**
   * Dense blocks of 2 x 2 to 6 x 6, on a GPU: one column index per block.
   */
  CLINALG_FORMAT_BSR = 5,
  /**
   * Chunks of rows sorted by their length (SELL-C-sigma), on a GPU.
   */
  CLINALG_FORMAT_SELL = 6,
} clinalg_format;

/**
 * A boundary integral operator of the heat equation.
 */
typedef enum {
  /**
   * Single layer, triangles x triangles.
   */
  CLINALG_HEAT_KIND_V = 0,
  /**
   * Double layer, triangles x nodes.
   */
  CLINALG_HEAT_KIND_K = 1,
  /**
   * Adjoint double layer, nodes x triangles.
   */
  CLINALG_HEAT_KIND_KS = 2,
  /**
   * Hypersingular, nodes x nodes.
   */
  CLINALG_HEAT_KIND_D = 3,
} clinalg_heat_kind;

/**
 * Whether the blocks of an operator are stored.
 */
typedef enum {
  /**
   * Stored where they take at most two thirds of the free memory of the device, half where it is the host's.
   */
  CLINALG_STORAGE_AUTO = 0,
  /**
   * Stored: the fastest products.
   */
  CLINALG_STORAGE_ASSEMBLED = 1,
  /**
   * Computed in every product.
   */
  CLINALG_STORAGE_ON_THE_FLY = 2,
} clinalg_storage;

/**
 * Which side of a surface the material is on.
 */
typedef enum {
  /**
   * Inside; also a half-space whose patch is closed by enclosing elements.
   */
  CLINALG_DOMAIN_INTERIOR = 0,
  /**
   * Outside the surface, unbounded.
   */
  CLINALG_DOMAIN_EXTERIOR = 1,
} clinalg_domain;

/**
 * Which of displacement and traction is known.
 */
typedef enum {
  /**
   * The displacement.
   */
  CLINALG_KNOWN_DISPLACEMENT = 0,
  /**
   * The traction.
   */
  CLINALG_KNOWN_TRACTION = 1,
} clinalg_known;

/**
 * How a system of elastodynamics is solved.
 */
typedef enum {
  /**
   * LU factors of the stored matrix.
   */
  CLINALG_ELASTODYNAMICS_METHOD_LU = 0,
  /**
   * GMRES without stored matrices, to 1e-8, in single precision 1e-5.
   */
  CLINALG_ELASTODYNAMICS_METHOD_ON_THE_FLY = 1,
} clinalg_elastodynamics_method;

/**
 * The last step of `clinalg_ode_solve_with`; valid only during the callback that receives it.
 */
typedef struct clinalg_ode_step clinalg_ode_step;

/**
 * A function that a solve calls after every iteration or cycle, 0 being the start, with its relative residual and the pointer of the
 * options; 0 continues, another number ends the solve with `CLINALG_STOP_CANCELLED`. It may read the objects that the solve reads; to use x,
 * which the solve writes, or the solver is an error at once, except that `clinalg_object_get_info` works.
 */
typedef int32_t (*clinalg_progress)(size_t iteration, double relative_residual, void *data);

/**
 * Options of `clinalg_system_solve_automatic`. Fill them with `clinalg_system_options_default(&options, sizeof options)`, then change what is to
 * differ. Later versions append members, which take their defaults in programs compiled before.
 */
typedef struct {
  /**
   * `sizeof(clinalg_system_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * Relative residual |b - A x| / |b| to reach; 0 for 1e-10 in double and 1e-5 in single precision.
   */
  double tolerance;
  /**
   * Maximum number of iterations for each column of b and each method. Where a method reaches the default, the next one continues; any other limit ends
   * the solve.
   */
  size_t max_iterations;
  /**
   * Called after every iteration; null for none.
   */
  clinalg_progress progress;
  /**
   * Passed to `progress`.
   */
  void *progress_data;
  /**
   * A method, a preconditioner and limits by name, in the place of the choice from the matrix: "cg,amg",
   * "gmres,ilut,restart=50", "minres,tol=1e-8,max-iterations=200"; null for none. The parts are those of
   * `clinalg_solver_options_parse`; `tolerance` and `max_iterations` come before its limits where they differ from
   * their defaults.
   */
  const char *solver;
} clinalg_system_options;

/**
 * A device object; 0 is never one.
 */
typedef uint64_t clinalg_handle;

/**
 * The outcome of a solve. A solve that does not converge is not a failed call: check `stop`.
 */
typedef struct {
  /**
   * Why it ended.
   */
  clinalg_stop stop;
  /**
   * Iterations or cycles done.
   */
  size_t iterations;
  /**
   * |b - A x| / |b|, computed from the returned x.
   */
  double relative_residual;
  /**
   * Entries of the residual history, `iterations + 1`.
   */
  size_t history;
  /**
   * The number of the iterate returned in x: `iterations` or, if the solve did not converge, that of an earlier one with a smaller residual; 0 is
   * the initial guess.
   */
  size_t iterate;
} clinalg_report;

/**
 * How a sparse system was solved. Texts end in zero and are cut to the size of the member.
 */
typedef struct {
  /**
   * Columns that were solved for: all those of b, fewer where `progress` ended the solve.
   */
  size_t columns;
  /**
   * Columns that met the tolerance.
   */
  size_t converged;
  /**
   * The method that the last column ended with.
   */
  char method[64];
  /**
   * The preconditioner; empty for none.
   */
  char preconditioner[64];
  /**
   * Why they were chosen; for a singular matrix, what is known about its null vectors and about a column of b without a solution.
   */
  char reason[512];
} clinalg_system_report;

/**
 * A function that writes the product A x into the vector y, with the pointer given to `clinalg_operator_create`; 0 continues, another
 * number makes the call that needed the product fail. x and y are valid until it returns. It may call functions of this
 * library: on them, and on objects that the running call does not write. To use the operator itself, or to write what the running call
 * reads, is an error at once. It must return: no exception may leave it.
 */
typedef int32_t (*clinalg_apply)(clinalg_handle x, clinalg_handle y, void *data);

/**
 * A function that is called once when an operator is released, with the pointer given to `clinalg_operator_create`.
 */
typedef void (*clinalg_free)(void *data);

/**
 * A complex number, with the layout of C99's `double complex` and C++'s `std::complex<double>`.
 */
typedef struct {
  /**
   * Real part.
   */
  double re;
  /**
   * Imaginary part.
   */
  double im;
} clinalg_complex;

/**
 * Device memory held by the objects of the process.
 */
typedef struct {
  /**
   * Bytes in live objects.
   */
  uint64_t live_bytes;
  /**
   * Peak number of bytes.
   */
  uint64_t peak_bytes;
  /**
   * Number of live device buffers.
   */
  uint64_t live_buffers;
} clinalg_memory_report;

/**
 * Options of an eigenvalue problem. Fill them with `clinalg_eigen_options_default(&options, sizeof options)`, then change what is to
 * differ. Later versions append members, which take their defaults in programs compiled before.
 */
typedef struct {
  /**
   * `sizeof(clinalg_eigen_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * Which end of the spectrum, a `clinalg_spectrum_end`.
   */
  uint32_t which;
  /**
   * The preconditioner, a `clinalg_preconditioner`; symmetric positive definite, for the smallest eigenvalues only.
   */
  uint32_t preconditioner;
  /**
   * Number of eigenpairs, at least 1.
   */
  size_t count;
  /**
   * Relative residual |A x - lambda B x| / (|lambda| |B x|) to reach; 0 for 1e-8 in double and 1e-4 in single precision.
   */
  double tolerance;
  /**
   * Maximum number of iterations.
   */
  size_t max_iterations;
  /**
   * A matrix or operator that approximates the inverse of A, used instead of `preconditioner`; 0 for none.
   */
  clinalg_handle inverse;
  /**
   * A symmetric or Hermitian positive definite matrix or operator B; 0 for the identity.
   */
  clinalg_handle mass;
  /**
   * Called at the start and after every iteration with the number of iterations done and the largest relative residual; null for none.
   */
  clinalg_progress progress;
  /**
   * Passed to `progress`.
   */
  void *progress_data;
} clinalg_eigen_options;

/**
 * How eigenpairs were found. Pairs that did not converge are not a failed call: check `stop`.
 */
typedef struct {
  /**
   * Why it ended.
   */
  clinalg_stop stop;
  /**
   * Iterations done.
   */
  size_t iterations;
  /**
   * The largest relative residual of the pairs.
   */
  double relative_residual;
} clinalg_eigen_report;

/**
 * Material, quadrature and precision. Fill them with `clinalg_elastodynamics_options_default(&options, sizeof options)`, then change what is to
 * differ. Later versions append members, which take their defaults in programs compiled before.
 */
typedef struct {
  /**
   * `sizeof(clinalg_elastodynamics_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * Shear modulus.
   */
  double shear;
  /**
   * Poisson's ratio, above -1 and below 0.5.
   */
  double poisson;
  /**
   * Density.
   */
  double density;
  /**
   * Hysteretic damping ratio D: the shear modulus times 1 + 2 i D.
   */
  double damping;
  /**
   * The side of the surface on which the material lies, a `clinalg_domain`.
   */
  uint32_t domain;
  /**
   * The precision of the computation, a `clinalg_precision` of real numbers.
   */
  uint32_t precision;
  /**
   * Gauss points per direction, an even number from 2 to 16; 0 for adaptive rules.
   */
  size_t rule;
} clinalg_elastodynamics_options;

/**
 * How a system with a sparse matrix was solved by factors.
 */
typedef struct {
  /**
   * The largest of |b - A x| / (|A| |x| + |b|) over the rows and columns: the solution is exact for entries that differ by this share.
   */
  double backward_error;
  /**
   * The most steps of iterative refinement of a column.
   */
  size_t refinements;
  /**
   * From `clinalg_sparse_solve`: an estimate of the reciprocal condition number in the 1-norm where the pivots suggest that A is nearly
   * singular, else NaN; below machine epsilon the solution may have no correct digit. `clinalg_factorisation_condition` gives it of factors.
   */
  double reciprocal_condition;
  /**
   * Stored numbers of the factors.
   */
  size_t entries;
  /**
   * Multiplications and additions of the factorisation.
   */
  double operations;
  /**
   * Pivots that were too small and were replaced.
   */
  size_t replaced_pivots;
  /**
   * Not 0 for Cholesky factors, 0 for others.
   */
  int32_t is_cholesky;
  /**
   * Not 0 where rows were permuted for a large diagonal, or with L D L' factors pairs of rows kept together.
   */
  int32_t is_matched;
  /**
   * Not 0 for L D L' factors.
   */
  int32_t is_ldl;
  /**
   * Not 0 where the factors show the inertia: Cholesky, and L D L' of Hermitian matrices without replaced pivots but zeros. LU factors do not:
   * create those of `CLINALG_FACTORISATION_LDL`.
   */
  int32_t has_inertia;
  /**
   * Positive eigenvalues of the matrix; 0 without inertia.
   */
  size_t positive_eigenvalues;
  /**
   * Negative eigenvalues of the matrix; 0 without inertia.
   */
  size_t negative_eigenvalues;
  /**
   * Eigenvalues of the matrix that are zero up to rounding; 0 without inertia.
   */
  size_t zero_eigenvalues;
} clinalg_sparse_solve_report;

/**
 * Options of operators of the heat equation. Fill them with `clinalg_heat_options_default(&options, sizeof options)`, then change what is to
 * differ. Later versions append members, which take their defaults in programs compiled before.
 */
typedef struct {
  /**
   * `sizeof(clinalg_heat_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * Diffusivity.
   */
  double alpha;
  /**
   * End of the time interval, which starts at 0.
   */
  double end_time;
  /**
   * Number of time steps.
   */
  size_t steps;
  /**
   * Order of the quadrature rule on disjoint triangles: 1, 2, 4 or 5.
   */
  size_t order;
  /**
   * Points in each direction of the rules for coincident triangles and those that share a vertex or an edge, 1 to 10.
   */
  size_t singular_order;
  /**
   * Whether blocks are stored, a `clinalg_storage`.
   */
  uint32_t storage;
  /**
   * The precision of the computation, a `clinalg_precision`.
   */
  uint32_t precision;
} clinalg_heat_options;

/**
 * A function on a surface and in time: writes its value at a point (three coordinates) with the outward normal there, at a time. 0 continues,
 * another number makes the call fail. It is called by several threads, one at a time; it must return: no exception may leave it.
 */
typedef int32_t (*clinalg_boundary_function)(const double *point,
                                             const double *normal,
                                             double time,
                                             double *value,
                                             void *data);

/**
 * Options of a Krylov solver. Fill them with `clinalg_solver_options_default(&options, sizeof options)`, then change what is to
 * differ. Later versions append members, which take their defaults in programs compiled before.
 */
typedef struct {
  /**
   * `sizeof(clinalg_solver_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * The method, a `clinalg_method`.
   */
  uint32_t method;
  /**
   * The preconditioner, a `clinalg_preconditioner`.
   */
  uint32_t preconditioner;
  /**
   * Relative residual |b - A x| / |b| to reach.
   */
  double tolerance;
  /**
   * Maximum number of iterations.
   */
  size_t max_iterations;
  /**
   * Iterations between restarts of GMRES.
   */
  size_t restart;
  /**
   * A matrix or operator whose product approximates the inverse of A, in the place of `preconditioner`, such as
   * `clinalg_preconditioner_create` and `clinalg_amg_create` make; 0 for none. For LSQR and LSMR it approximates the inverse of A^H A and is
   * Hermitian positive definite.
   */
  clinalg_handle inverse;
  /**
   * Called after every iteration; null for none.
   */
  clinalg_progress progress;
  /**
   * Passed to `progress`.
   */
  void *progress_data;
  /**
   * The dimension s of the shadow space of IDR(s), at least 1: a larger one takes fewer iterations and more memory.
   */
  size_t idr_dimension;
} clinalg_solver_options;

/**
 * Kind, type of values, shape and size of an object.
 */
typedef struct {
  /**
   * The kind of object.
   */
  clinalg_kind kind;
  /**
   * The type of its values.
   */
  clinalg_precision precision;
  /**
   * Number of rows; of a vector its length.
   */
  size_t rows;
  /**
   * Number of columns; 1 for a vector.
   */
  size_t cols;
  /**
   * Entries that a download returns: rows x cols of a full object, the stored ones of a sparse
   * matrix; 0 for a band matrix, whose download leaves zeros out.
   */
  size_t entries;
  /**
   * Subdiagonals of a band matrix, else 0.
   */
  size_t kl;
  /**
   * Superdiagonals of a band matrix, else 0.
   */
  size_t ku;
} clinalg_object_info;

/**
 * Tolerances and steps of an integration. Fill them with `clinalg_ode_options_default(&options, sizeof options)`, then change what is to
 * differ. Later versions append members, which take their defaults in programs compiled before.
 */
typedef struct {
  /**
   * `sizeof(clinalg_ode_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * Relative tolerance, at least 0.
   */
  double relative;
  /**
   * Absolute tolerance, at least 0; one of the two tolerances must be above 0.
   */
  double absolute;
  /**
   * Norm of the error, a `clinalg_ode_norm`.
   */
  uint32_t norm;
  /**
   * The precision of the computation, a `clinalg_precision`.
   */
  uint32_t precision;
  /**
   * Fixed steps of at most this size, all equal between stops; 0 for adaptive steps.
   */
  double fixed_step;
  /**
   * First step; 0 determines it automatically.
   */
  double first_step;
  /**
   * Largest step.
   */
  double largest_step;
  /**
   * Maximum number of steps, including rejected ones.
   */
  size_t step_limit;
} clinalg_ode_options;

/**
 * Steps and evaluations of an integration.
 */
typedef struct {
  /**
   * Time reached.
   */
  double t;
  /**
   * Steps taken.
   */
  size_t accepted;
  /**
   * Steps rejected.
   */
  size_t rejected;
  /**
   * Evaluations of the right-hand side by the method.
   */
  size_t rhs_evaluations;
  /**
   * Smallest step taken.
   */
  double smallest_step;
  /**
   * Largest step taken.
   */
  double largest_step;
} clinalg_ode_report;

/**
 * A function that `clinalg_ode_solve_with` calls after every step, with the pointer passed to it; 0 continues, another number ends the
 * integration. It must return: a C++ exception that leaves it ends the process. `clinalg::Ode::run` of clinalg.hpp passes exceptions on.
 */
typedef int32_t (*clinalg_ode_watch)(clinalg_ode_step *step, void *data);

/**
 * Options of a Poisson solver. Fill them with `clinalg_poisson_options_default(&options, sizeof options)`, then set the
 * numbers of points and change what is to differ. Later versions append members, which take their defaults in programs compiled before.
 *
 * Arrays have one entry per direction; in two dimensions the third is not read. A regular grid is the unit square or cube with 2^k + 1
 * equally spaced points per side and u = g on all sides, for D = 1, order 2 and, in three dimensions, k = 1: it has the fastest
 * kernels, and more choices.
 */
typedef struct {
  /**
   * `sizeof(clinalg_poisson_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * Dimensions: 2 or 3.
   */
  size_t dim;
  /**
   * Number of points in each direction.
   */
  size_t points[3];
  /**
   * Length of the box in each direction.
   */
  double lengths[3];
  /**
   * Ascending coordinates in each direction: those of the n points, or, on a cell-centred grid or in a periodic direction, those of the
   * n + 1 ends of the intervals. Null for equal spacing, starting at 0. They are copied.
   */
  const double *coordinates[3];
  /**
   * The conditions of the low and the high side of each direction, each a `clinalg_condition`.
   */
  uint32_t sides[3][2];
  /**
   * The alpha of each Robin side, finite and at least 0; not read on other sides.
   */
  double alpha[3][2];
  /**
   * Where the values lie, a `clinalg_centring`.
   */
  uint32_t centring;
  /**
   * The precision of the solver, a `clinalg_precision`: single or double.
   */
  uint32_t precision;
  /**
   * The diagonal dx, dy, dz of D, positive.
   */
  double diffusion[3];
  /**
   * The off-diagonal entries dxy, dxz and dyz of D; the last two are not read in two dimensions. D must be positive definite. Non-zero
   * entries need a vertex-centred grid; a coefficient must then be given in the cells.
   */
  double mixed_derivatives[3];
  /**
   * The shift c, at least 0.
   */
  double shift;
  /**
   * The order of the discretisation: 2 (finite volumes) or 4 (compact stencils). Order 4 also reads f on all sides. It needs a vertex-centred
   * grid with equal spacing in each direction, Dirichlet or periodic sides, a diagonal D and no coefficient.
   */
  size_t order;
  /**
   * The positive coefficient k, a value for each point or cell, x fastest; null for 1. It is copied.
   */
  const double *coefficient;
  /**
   * Number of values of the coefficient.
   */
  size_t coefficient_count;
  /**
   * Where the coefficient is given, a `clinalg_coefficient_at`; on a cell-centred grid both mean the cells.
   */
  uint32_t coefficient_at;
  /**
   * The order in which the levels are visited, a `clinalg_cycle`.
   */
  uint32_t cycle;
  /**
   * The smoother, a `clinalg_smoother`; Jacobi on regular grids only.
   */
  uint32_t smoother;
  /**
   * The implementation, a `clinalg_backend`; others than kernels on regular grids only.
   */
  uint32_t backend;
  /**
   * Smoothing sweeps before the coarse-grid correction.
   */
  size_t pre;
  /**
   * Smoothing sweeps after it. With a coefficient, mixed derivatives or order 4, and in preconditioners, half of the sweeps, rounded up,
   * come before the correction and as many after it.
   */
  size_t post;
  /**
   * Weight of the Jacobi smoother, between 0 and 2.
   */
  double omega;
  /**
   * Relative residual to reach.
   */
  double tolerance;
  /**
   * Maximum number of cycles.
   */
  size_t max_cycles;
  /**
   * Where u is determined only up to a constant: the largest `imbalance` of the data (see `clinalg_poisson_report`) that is removed.
   */
  double max_imbalance;
  /**
   * Non-zero if the cycles compute their corrections in single precision, while the solution and its residual stay in double precision and
   * the same residuals are reached: for devices with slow double precision, on regular grids without a coefficient.
   */
  int32_t mixed_precision;
} clinalg_poisson_options;

/**
 * The outcome of a Poisson solve. Residuals are |b - A u| / |b| over the unknowns, for the equations integrated over the cells.
 */
typedef struct {
  /**
   * Why the solve ended.
   */
  clinalg_stop stop;
  /**
   * Number of cycles. With a coefficient, mixed derivatives or order 4: number of iterations of conjugate gradients, with one cycle each.
   */
  size_t cycles;
  /**
   * Number of grids.
   */
  size_t levels;
  /**
   * True relative residual of the solution.
   */
  double relative_residual;
  /**
   * Geometric mean of the factors by which the cycles reduced the residual; NaN where there was no cycle.
   */
  double convergence_factor;
  /**
   * Estimate of the largest relative residual that rounding leaves.
   */
  double rounding_floor;
  /**
   * Where u is determined only up to a constant: the sum of all sources and fluxes, which was removed, divided by the sum of their
   * magnitudes. NaN otherwise.
   */
  double imbalance;
  /**
   * Length of the residual history, `cycles + 1`.
   */
  size_t history;
} clinalg_poisson_report;

/**
 * Options of a preconditioner. Fill them with `clinalg_preconditioner_options_default(&options, sizeof options)`, then change what is
 * to differ. Later versions append members, which take their defaults in programs compiled before.
 */
typedef struct {
  /**
   * `sizeof(clinalg_preconditioner_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * The preconditioner: `CLINALG_PRECONDITIONER_ILU`, `_ILUT`, `_IC`, `_SSOR`, `_SPAI0`, `_FSAI`, `_JACOBI` or `_LU`.
   */
  uint32_t kind;
  /**
   * Of ILU, ILUT, IC and SSOR, the order of elimination, a `clinalg_ordering`.
   */
  uint32_t ordering;
  /**
   * Of ILU and ILUT, when rows are permuted, a `clinalg_matching`.
   */
  uint32_t matching;
  /**
   * Of ILUT: entries below this fraction of the mean magnitude of their row are dropped.
   */
  double drop;
  /**
   * Of ILUT: the factors may have about this many times as many entries as the matrix; at least 1. With n rows and nnz entries, each row of L and of U
   * keeps its `fill` nnz / (2 n) (rounded up) largest off-diagonal entries.
   */
  double fill;
  /**
   * Of IC: the factors are those of A + shift diag(A). Negative, as by default: 0, or the first of 1e-3, 2e-3, 4e-3, ... that gives
   * factors.
   */
  double shift;
  /**
   * Of SSOR: relaxation factor, above 0 and below 2.
   */
  double omega;
  /**
   * Of ILU and IC: number of sweeps of the fixed-point iteration that approximates the factors, all rows at once. With 0, the default, the factors
   * are computed level by level. A few sweeps suit matrices with many levels; at most 1000.
   */
  size_t sweeps;
} clinalg_preconditioner_options;

/**
 * Properties of a preconditioner.
 */
typedef struct {
  /**
   * What it is, a `clinalg_preconditioner`.
   */
  uint32_t kind;
  /**
   * Not 0 where ILU has permuted rows.
   */
  int32_t is_matched;
  /**
   * Rows and columns.
   */
  size_t rows;
  /**
   * Stored entries: of the factors, of G for FSAI, of the diagonal for SPAI-0, of the matrices of all levels for algebraic multigrid; 0
   * for SSOR.
   */
  size_t entries;
  /**
   * Levels of the lower triangular system, each of which takes one step; 0 without such a system. Of a complete factorisation the
   * depths of the tree of its fronts.
   */
  size_t lower_levels;
  /**
   * Levels of the upper triangular system.
   */
  size_t upper_levels;
  /**
   * The factors of IC are those of A + shift diag(A).
   */
  double shift;
} clinalg_preconditioner_report;

/**
 * Options of algebraic multigrid. Fill them with `clinalg_amg_options_default(&options, sizeof options)`, then change what is to
 * differ. Later versions append members, which take their defaults in programs compiled before.
 */
typedef struct {
  /**
   * `sizeof(clinalg_amg_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * Threshold of strong connections, at least 0 and below 1. Aggregation: |a_ij| relative to the geometric mean of the largest
   * off-diagonal magnitudes of rows i and j (default 0.08). Classical: relative to the largest in row i (default 0.25). A negative
   * value takes the default.
   */
  double theta;
  /**
   * The smoother, a `clinalg_amg_smoother`.
   */
  uint32_t smoother;
  /**
   * Not 0 keeps the hierarchy in single precision, for solves in double precision.
   */
  int32_t single;
  /**
   * Degree or sweeps of the smoother.
   */
  size_t smoother_steps;
  /**
   * A `clinalg_amg_cycle`.
   */
  uint32_t cycle;
  /**
   * A `clinalg_amg_coarsening`.
   */
  uint32_t coarsening;
  /**
   * A level of at most this many rows is solved by a dense inverse.
   */
  size_t coarse_size;
  /**
   * Maximum number of levels.
   */
  size_t max_levels;
  /**
   * Unknowns per node, numbered consecutively.
   */
  size_t block;
  /**
   * Not 0 keeps what `clinalg_amg_refill` needs.
   */
  int32_t reusable;
  /**
   * Not 0 coarsens the finest level aggressively, with classical coarsening only: less memory and time for a cycle, more iterations.
   */
  int32_t aggressive;
} clinalg_amg_options;

/**
 * Levels, sizes and complexities of algebraic multigrid.
 */
typedef struct {
  /**
   * Number of levels.
   */
  size_t levels;
  /**
   * Entries of the matrices of all levels over those of the finest.
   */
  double operator_complexity;
  /**
   * Rows of all levels over those of the finest.
   */
  double grid_complexity;
  /**
   * Bytes of matrices and vectors on the device.
   */
  uint64_t bytes;
  /**
   * Number of near-null vectors that the matrix maps to zero; 0 unless it is singular.
   */
  size_t null_vectors;
  /**
   * Seconds of the set-up, or of the last refill.
   */
  double seconds;
  /**
   * Not 0 where the coarsest level is solved by a dense inverse, 0 where the smoother takes its place.
   */
  int32_t direct;
  /**
   * How coarser levels are made, a `clinalg_amg_coarsening`: aggregation or classical.
   */
  uint32_t coarsening;
} clinalg_amg_report;

/**
 * A level of algebraic multigrid.
 */
typedef struct {
  /**
   * Rows of its matrix.
   */
  size_t rows;
  /**
   * Stored entries of its matrix.
   */
  size_t entries;
  /**
   * Stored entries of the prolongator to it from the next coarser level; 0 on the coarsest.
   */
  size_t prolongator_entries;
} clinalg_amg_level;

/**
 * Options of a preconditioner for saddle points. Fill them with `clinalg_saddle_options_default(&options, sizeof options)`, then change what is to
 * differ. Later versions append members, which take their defaults in programs compiled before.
 */
typedef struct {
  /**
   * `sizeof(clinalg_saddle_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * How the blocks are combined, a `clinalg_saddle_shape`.
   */
  uint32_t shape;
  /**
   * The approximation of the Schur complement, a `clinalg_schur`.
   */
  uint32_t schur;
  /**
   * The preconditioner of A: `CLINALG_PRECONDITIONER_AMG`, `_IC`, `_ILU` or `_JACOBI`; `_NONE` chooses one that suits it.
   */
  uint32_t first;
  /**
   * The preconditioner of `CLINALG_SCHUR_PRODUCT`, as `first`.
   */
  uint32_t second;
  /**
   * Rows of A, where these come first; 0 finds the second block by its diagonal, unless `second_rows` names it.
   */
  size_t first_count;
  /**
   * The rows of the second block, ascending, from 0 on; null for none.
   */
  const size_t *second_rows;
  /**
   * Number of `second_rows`.
   */
  size_t second_count;
  /**
   * The positive diagonal of the mass matrix of the second block (for Stokes divided by the viscosity) in place of the Schur complement; null
   * for none.
   */
  const double *mass;
  /**
   * Number of values of `mass`.
   */
  size_t mass_count;
} clinalg_saddle_options;

/**
 * The components of a preconditioner for saddle points.
 */
typedef struct {
  /**
   * A `clinalg_saddle_shape`.
   */
  uint32_t shape;
  /**
   * A `clinalg_schur`.
   */
  uint32_t schur;
  /**
   * The preconditioner of A, a `clinalg_preconditioner`.
   */
  uint32_t first;
  /**
   * The preconditioner of `CLINALG_SCHUR_PRODUCT`, a `clinalg_preconditioner`; `CLINALG_PRECONDITIONER_NONE` otherwise.
   */
  uint32_t second;
  /**
   * Rows of A.
   */
  size_t first_rows;
  /**
   * Rows of C.
   */
  size_t second_rows;
  /**
   * Not 0 where the matrix maps constants of the second block to zero, as for the pressure of an enclosed flow: solutions exist where the
   * values of b in that block add up to 0, and are known up to such a constant.
   */
  int32_t null_constant;
} clinalg_saddle_report;

/**
 * Options of a wave. Fill them with `clinalg_wave_options_default(&options, sizeof options)`, then set the numbers of
 * points and the time step, and change what is to differ. Later versions append members, which take their defaults in
 * programs compiled before.
 *
 * Arrays have one entry per direction; in two dimensions the third is not read. A square has two directions with
 * equally many points, equal lengths and fixed sides. Other grids take the explicit scheme and the kernels only.
 */
typedef struct {
  /**
   * `sizeof(clinalg_wave_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * Dimensions: 2 or 3.
   */
  size_t dim;
  /**
   * Number of points in each direction, those on the sides included: at least 3; 2^k + 1 for the implicit scheme.
   */
  size_t points[3];
  /**
   * Length of the grid in each direction: n - 1 equal intervals, in a periodic direction n.
   */
  double lengths[3];
  /**
   * The low and the high side of each direction, each a `clinalg_wave_side`.
   */
  uint32_t sides[3][2];
  /**
   * Width of damping layers along the inside of the absorbing sides, at least two spacings; 0 for none. They absorb
   * waves that meet the side at any angle and are at most half as long as the layer is wide; longer ones are
   * reflected in part.
   */
  double sponge;
  /**
   * Speed of the waves, where `speed` is null.
   */
  double c;
  /**
   * Speed at each point, x fastest, above 0, for the explicit scheme; null for `c` everywhere. It is copied.
   */
  const double *speed;
  /**
   * Number of values of `speed`.
   */
  size_t speed_count;
  /**
   * Time step, of the explicit scheme at most what `clinalg_wave_limit` returns.
   */
  double dt;
  /**
   * The time stepping scheme, a `clinalg_scheme`.
   */
  uint32_t scheme;
  /**
   * The implementation of the steps, a `clinalg_backend`.
   */
  uint32_t backend;
  /**
   * Maximum number of explicit steps in one pass over memory on squares, 1 to 8; the results have the same bits.
   */
  size_t steps_per_pass;
  /**
   * Of the implicit scheme: relative residual of the accelerations to reach in each step.
   */
  double tolerance;
  /**
   * Of the implicit scheme: maximum number of multigrid cycles per step.
   */
  size_t max_cycles;
  /**
   * The precision of the computation, a `clinalg_precision`.
   */
  uint32_t precision;
  /**
   * Zero. Without it the end of the structure would be padding.
   */
  uint32_t reserved;
} clinalg_wave_options;

/**
 * The outcome of a start or of some steps.
 */
typedef struct {
  /**
   * Why the last solve of the implicit scheme ended; no step is made after a failure. Converged for the explicit
   * scheme.
   */
  clinalg_stop stop;
  /**
   * Steps made by this call.
   */
  size_t steps;
  /**
   * Time since the start.
   */
  double time;
  /**
   * Multigrid cycles of all these steps together.
   */
  size_t cycles;
  /**
   * Largest relative residual of these steps.
   */
  double relative_residual;
} clinalg_wave_report;

/**
 * Options of a waveform relaxation. Fill them with `clinalg_waveform_options_default(&options, sizeof options)`, then change what is to
 * differ. Later versions append members, which take their defaults in programs compiled before.
 */
typedef struct {
  /**
   * `sizeof(clinalg_waveform_options)`, as the program was compiled.
   */
  size_t struct_size;
  /**
   * Size of a step.
   */
  double h;
  /**
   * Number of steps, at least 1.
   */
  size_t steps;
  /**
   * Number of windows, a divisor of the number of steps.
   */
  size_t windows;
  /**
   * Iterations of each window; 0 iterates until `eps` is reached.
   */
  size_t iterations;
  /**
   * Difference of two iterates at which a window ends: the largest 2-norm over its steps and stages. 0 gives the method's solution.
   */
  double eps;
  /**
   * Points of a block along each axis, for the variants "block" and "block-boundary".
   */
  size_t block[3];
  /**
   * The initial guess, a `clinalg_guess`.
   */
  uint32_t guess;
  /**
   * The precision of the computation, a `clinalg_precision`.
   */
  uint32_t precision;
  /**
   * Target number of iterations per window, to which the window length is adapted; 0 for windows of equal length.
   */
  size_t adaptive;
  /**
   * The name of the explicit Runge-Kutta method of the steps; null for "euler".
   */
  const char *method;
  /**
   * Called after every iteration with the number of iterations of all windows so far and the difference of the last two iterates; null
   * for none. If it returns a number other than 0, the relaxation ends; `y` is then the solution at the end of the last complete window,
   * or `y0` if there is none.
   */
  clinalg_progress progress;
  /**
   * Passed to `progress`.
   */
  void *progress_data;
  /**
   * Gets the time of the solution, which is before the end if `progress` ended the relaxation; may be null.
   */
  double *reached;
} clinalg_waveform_options;

/**
 * The outcome of a waveform relaxation.
 */
typedef struct {
  /**
   * Complete windows.
   */
  size_t windows;
  /**
   * Iterations of all windows together.
   */
  size_t iterations;
  /**
   * Difference of the last two iterates.
   */
  double difference;
  /**
   * Bytes of the waveforms, copies and indices.
   */
  uint64_t memory_bytes;
  /**
   * Words moved per component, step and iteration by the model.
   */
  double words_per_component;
} clinalg_waveform_report;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The defaults: 1e-10 in double and 1e-5 in single precision in at most 10 000 iterations for each column and method. `struct_size` is
 * `sizeof(clinalg_system_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_system_options_default(clinalg_system_options *options,
                                              size_t struct_size);

/**
 * Solves A x = b for a sparse matrix, real or complex, by the method and the preconditioner that suit it: conjugate gradients with algebraic
 * multigrid for symmetric matrices with a positive diagonal, MINRES with blocks for symmetric saddle points, else BiCGStab with incomplete factors or
 * the like, then GMRES if one of them fails, and after it MINRES for symmetric matrices; the next column begins with the method that solved the
 * last one. A system with a matrix that is not square is solved in the least-squares sense by LSMR; of several solutions x is
 * the one of smallest norm. b is a vector or a dense matrix, whose columns are solved for one after the other. `*x` becomes a new object of the
 * kind of b. `reports`, if not null, gets the reports of the first `capacity` columns of b, of which there are `report->columns`. A solve that does not converge
 * is not a failed call: compare `report->converged` with the columns of b. Columns after one that `progress` ended are 0. An entry of A or b that is not
 * finite, a row of zeros where b is not 0, and more columns of zeros than rows of zeros give `CLINALG_STATUS_VALUE`, with a message that names the row and column.
 *
 * # Safety
 * `options` names as many bytes as its first member says, its `solver` is null or a text that ends in zero; `x` is valid for a write; `reports` and `report` are null or valid for a write, the
 * former of `capacity` values.
 */
clinalg_status clinalg_system_solve_automatic(const clinalg_system_options *options,
                                              clinalg_handle a,
                                              clinalg_handle b,
                                              clinalg_handle *x,
                                              clinalg_report *reports,
                                              size_t capacity,
                                              clinalg_system_report *report);

/**
 * An operator of `rows` x `cols`, of the type `precision`, whose product `apply` computes on the current device: products and solvers take its
 * handle in the place of a matrix, and `clinalg_solver_options.inverse` takes one that approximates an inverse. `apply` is called with
 * `data` by the threads that use the operator, one at a time. `free_data`, if not null, is called with `data` once the operator is released, and also
 * where this call fails. There is no Jacobi preconditioner of it.
 *
 * # Safety
 * `apply` and `free_data` may be called with `data` from any thread until the operator is released; `handle` is null or valid for a write.
 */
clinalg_status clinalg_operator_create(uint32_t precision,
                                       size_t rows,
                                       size_t cols,
                                       clinalg_apply apply,
                                       void *data,
                                       clinalg_free free_data,
                                       clinalg_handle *handle);

/**
 * out = alpha op(A) x + beta out, op(A) given by `transpose` (a `clinalg_transpose`); out = 0 makes a new vector, or a dense column for a
 * dense x, and sets beta to 0.
 * All objects have the same type of values; for real ones the imaginary parts of alpha and beta must be 0.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_matrix_mv_complex(uint32_t transpose,
                                         clinalg_complex alpha,
                                         clinalg_handle a,
                                         clinalg_handle x,
                                         clinalg_complex beta,
                                         clinalg_handle *out);

/**
 * out = alpha A X + beta out for dense X and out; out = 0 makes a new matrix and treats beta as 0.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_matrix_mm_complex(clinalg_complex alpha,
                                         clinalg_handle a,
                                         clinalg_handle x,
                                         clinalg_complex beta,
                                         clinalg_handle *out);

/**
 * out = alpha x + beta y with complex numbers.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_array_axpby_complex(clinalg_complex alpha,
                                           clinalg_handle x,
                                           clinalg_complex beta,
                                           clinalg_handle y,
                                           clinalg_handle *out);

/**
 * out = c a with a complex number.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_array_scale_complex(clinalg_handle a,
                                           clinalg_complex c,
                                           clinalg_handle *out);

/**
 * Sets every stored value of a complex object.
 */
clinalg_status clinalg_array_fill_complex(clinalg_handle handle, clinalg_complex value);

/**
 * Sum of the stored values of an object of any type.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_array_sum_complex(clinalg_handle a, clinalg_complex *result);

/**
 * Dot product sum conj(a) b of the stored values: the first object is conjugated, as in BLAS's `dotc`, C++'s and NumPy's `vdot` and
 * MATLAB's `dot`.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_array_dot_complex(clinalg_handle a,
                                         clinalg_handle b,
                                         clinalg_complex *result);

/**
 * Dot product sum a b of the stored values without conjugation, as in BLAS's `dotu`.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_array_dotu_complex(clinalg_handle a,
                                          clinalg_handle b,
                                          clinalg_complex *result);

/**
 * out = conj(a), element by element; of a real object a copy.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_array_conj(clinalg_handle a, clinalg_handle *out);

/**
 * The conjugate transpose of a vector, dense or sparse matrix; of a real one the transpose.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_matrix_conj_transpose(clinalg_handle a, clinalg_handle *handle);

/**
 * The real parts of a vector or dense matrix as a real object of the same shape.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_array_real_part(clinalg_handle a, clinalg_handle *handle);

/**
 * The imaginary parts of a vector or dense matrix as a real object of the same shape.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_array_imaginary_part(clinalg_handle a, clinalg_handle *handle);

/**
 * The moduli of a vector or dense matrix as a real object of the same shape.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_array_abs(clinalg_handle a, clinalg_handle *handle);

/**
 * re + i im of two real vectors or dense matrices of one shape and precision as a complex object.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_array_join_parts(clinalg_handle re,
                                        clinalg_handle im,
                                        clinalg_handle *handle);

/**
 * Solves A X = b for a dense A, real or complex, and a vector or dense b of the same type, by a `clinalg_factorisation`; QR minimises
 * |A X - b| for an A of any shape and rank, and gives, if there are several minimisers, the minimum-norm one. X is a new object of the kind of b; A and b stay as they are.
 *
 * # Safety
 * `x` is null or valid for a write.
 */
clinalg_status clinalg_dense_solve(uint32_t factorisation,
                                   clinalg_handle a,
                                   clinalg_handle b,
                                   clinalg_handle *x);

/**
 * A dense matrix of zeros, of the type `precision` (a `clinalg_precision`).
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_array_zeros(uint32_t precision,
                                   size_t rows,
                                   size_t cols,
                                   clinalg_handle *handle);

/**
 * A copy of a vector or matrix with values of the type `precision` (a `clinalg_precision`), rounded to nearest. A complex object has
 * no real copy: see `clinalg_array_real_part`.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_array_convert(clinalg_handle a,
                                     uint32_t precision,
                                     clinalg_handle *handle);

/**
 * The transpose of a vector, dense or sparse matrix.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_matrix_transpose(clinalg_handle a, clinalg_handle *handle);

/**
 * The diagonal of a square matrix as a vector.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_matrix_diagonal(clinalg_handle a, clinalg_handle *handle);

/**
 * Number of OpenCL devices.
 *
 * # Safety
 * `count` is null or valid for a write.
 */
clinalg_status clinalg_device_count(size_t *count);

/**
 * A text about device `index` (`what` is a `clinalg_text`), cut to `capacity` bytes with the ending zero. `needed`, if not
 * null, gets the bytes of the whole text with its zero.
 *
 * # Safety
 * `buffer` is null or has room for `capacity` bytes; `needed` is null or valid for a write.
 */
clinalg_status clinalg_device_text(size_t index,
                                   uint32_t what,
                                   char *buffer,
                                   size_t capacity,
                                   size_t *needed);

/**
 * A number about device `index`; `what` is a `clinalg_number`.
 *
 * # Safety
 * `value` is null or valid for a write.
 */
clinalg_status clinalg_device_number(size_t index, uint32_t what, uint64_t *value);

/**
 * Selects the device of this index or name for new objects. Without this call the first object
 * selects the default device (`CLINALG_DEVICE`, else the first GPU, else the first).
 *
 * # Safety
 * `selector` is null or a text that ends in zero.
 */
clinalg_status clinalg_device_select(const char *selector);

/**
 * Waits until the device has executed all enqueued work.
 */
clinalg_status clinalg_device_finish(void);

/**
 * Device memory held by the objects of the current device.
 *
 * # Safety
 * `report` is null or valid for a write.
 */
clinalg_status clinalg_device_memory(clinalg_memory_report *report);

/**
 * Releases every object and the device. All handles become stale; the library can be used again.
 */
clinalg_status clinalg_shutdown(void);

/**
 * The defaults: the 6 smallest eigenvalues without preconditioner in at most 1000 iterations. `struct_size` is
 * `sizeof(clinalg_eigen_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_eigen_options_default(clinalg_eigen_options *options,
                                             size_t struct_size);

/**
 * Finds `options->count` eigenpairs of A x = lambda x, or of A x = lambda B x with `options->mass`, by LOBPCG. A is a real symmetric or complex
 * Hermitian matrix or operator, B a positive definite one of the same type. One that is not symmetric or Hermitian is an error: the entries of
 * matrices are compared, of operators x^H (A y) and (A x)^H y for two vectors, to 1e-10 in double and 3e-5 in single precision. `*vectors` becomes a new dense matrix with a column per eigenvector, x^H B x = 1; `values` gets the
 * eigenvalues and `residuals`, if not null, the relative residual of each pair, `options->count` numbers each.
 *
 * # Safety
 * `options` points to at least `options->struct_size` bytes; `vectors` is valid for a write, `values` for `options->count` of them; `residuals`
 * and `report` are null or valid for writes, the former of `options->count` values.
 */
clinalg_status clinalg_matrix_eigenpairs(const clinalg_eigen_options *options,
                                         clinalg_handle a,
                                         clinalg_handle *vectors,
                                         double *values,
                                         double *residuals,
                                         clinalg_eigen_report *report);

/**
 * The defaults: shear modulus 1, Poisson's ratio 0.3, density 1, no damping, the material inside, 8 x 8 Gauss points, double precision.
 * `struct_size` is `sizeof(clinalg_elastodynamics_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_elastodynamics_options_default(clinalg_elastodynamics_options *options,
                                                      size_t struct_size);

/**
 * Creates a problem of elastodynamics on the current device: (lambda + mu) grad div u + mu Laplace u + rho w^2 u = 0, time factor
 * exp(i w t), by collocated boundary elements, u and tractions t constant on each.
 *
 * The surface has `node_count` nodes of three coordinates each and `element_count` quadrilaterals of four nodes each, from 0 on, anticlockwise seen
 * from outside; a triangle names its last node twice. The first `boundary` elements carry unknowns, the others enclose an open patch; the
 * whole is closed. `clinalg_object_release` releases the problem. Options of a larger size than this library knows are an error.
 *
 * # Safety
 * `options` names as many bytes as its first member says, `nodes` is valid for reading 3 `node_count` and `elements` 4 `element_count` values, `out`
 * for a write.
 */
clinalg_status clinalg_elastodynamics_create(const clinalg_elastodynamics_options *options,
                                             const double *nodes,
                                             size_t node_count,
                                             const uint32_t *elements,
                                             size_t element_count,
                                             size_t boundary,
                                             clinalg_handle *out);

/**
 * Centres of the boundary elements and the unit normals there, out of the material: three numbers for each element.
 *
 * # Safety
 * `centres` and `normals` have room for three numbers for each boundary element.
 */
clinalg_status clinalg_elastodynamics_surface(clinalg_handle problem,
                                              double *centres,
                                              double *normals);

/**
 * H and G at the angular frequency `frequency` as new complex dense matrices: H u = G t, with 3 numbers for each boundary element in u and t.
 *
 * # Safety
 * `h` and `g` are valid for a write.
 */
clinalg_status clinalg_elastodynamics_assemble(clinalg_handle problem,
                                               double frequency,
                                               clinalg_handle *h,
                                               clinalg_handle *g);

/**
 * Displacements and tractions on m boundary elements at the angular frequency `frequency` for `count` sets of given values. `known` has a
 * `clinalg_known` for each of 3 m directions; a set of `given` has 3 m displacements or tractions accordingly, real and imaginary parts one after
 * the other, and so have the results. `method` is a `clinalg_elastodynamics_method`.
 *
 * # Safety
 * `known` has 3 m values, `given` 6 m `count`; `displacements` and `tractions` have room for as many.
 */
clinalg_status clinalg_elastodynamics_solve(clinalg_handle problem,
                                            double frequency,
                                            uint32_t method,
                                            const uint32_t *known,
                                            const double *given,
                                            size_t count,
                                            double *displacements,
                                            double *tractions);

/**
 * As `clinalg_elastodynamics_solve`, with a progress callback. With GMRES it is called after every iteration, with the number of iterations and
 * the relative residual; with LU it is called after the assembly and after the factorisation, with 0 iterations and residual 1. If it returns a number other
 * than 0, the call fails with `CLINALG_STATUS_CANCELLED` and a message that says how far it got.
 *
 * # Safety
 * As for `clinalg_elastodynamics_solve`; `progress` is null or a function that takes `progress_data`.
 */
clinalg_status clinalg_elastodynamics_solve_with(clinalg_handle problem,
                                                 double frequency,
                                                 uint32_t method,
                                                 const uint32_t *known,
                                                 const double *given,
                                                 size_t count,
                                                 clinalg_progress progress,
                                                 void *progress_data,
                                                 double *displacements,
                                                 double *tractions);

/**
 * Fields at `point_count` points in the material, of three coordinates each, from the displacements and tractions on the boundary elements at the angular
 * frequency `frequency`. `fields` gets three complex displacements for each point, `stresses` nine complex stresses by rows; `stresses` may be
 * null.
 *
 * # Safety
 * `displacements` and `tractions` have 6 numbers for each boundary element, `points` 3 `point_count`; `fields` has room for 6 `point_count`,
 * `stresses` for 18 `point_count` or is null.
 */
clinalg_status clinalg_elastodynamics_evaluate(clinalg_handle problem,
                                               double frequency,
                                               const double *displacements,
                                               const double *tractions,
                                               const double *points,
                                               size_t point_count,
                                               double *fields,
                                               double *stresses);

/**
 * The factors of a dense or square sparse matrix by a `clinalg_factorisation`, to solve with many right-hand sides; later changes of `a` do not
 * reach them. A singular matrix has factors; `clinalg_factorisation_solve` reports it. `clinalg_object_release` releases them.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_factorisation_create(uint32_t factorisation,
                                            clinalg_handle a,
                                            clinalg_handle *handle);

/**
 * New values for the factors of a sparse matrix, whose order of elimination is kept: faster than new factors. `a` has its entries at the same
 * positions, else it is `CLINALG_STATUS_VALUE`. After an error during the elimination the factors are of no matrix.
 */
clinalg_status clinalg_factorisation_refactor(clinalg_handle factorisation,
                                              clinalg_handle a);

/**
 * What the factors of a sparse matrix are, and how well the last system was solved by them: before the first one `backward_error` is NaN.
 *
 * # Safety
 * `report` is null or valid for a write.
 */
clinalg_status clinalg_factorisation_get_report(clinalg_handle factorisation,
                                                clinalg_sparse_solve_report *report);

/**
 * Solves op(A) X = b for a vector or the columns of a dense matrix b; QR minimises |A X - b|, and with a sparse matrix X is refined. `transpose`, a `clinalg_transpose`, must be
 * `CLINALG_TRANSPOSE_NO` for QR and not `_YES` for Cholesky of complex matrices. `*x` may be b; 0 there makes a new object of the kind of b.
 *
 * # Safety
 * `x` is null or valid for reading and writing.
 */
clinalg_status clinalg_factorisation_solve(clinalg_handle factorisation,
                                           uint32_t transpose,
                                           clinalg_handle b,
                                           clinalg_handle *x);

/**
 * The factors of a dense matrix as new dense matrices. LU: L and U, and in `rows`, if not null, the order of the rows, row k of L U being row `rows[k]` of A;
 * `capacity` must be their number. Cholesky: L in `first`, 0 in `second`. QR: Q with min(rows, columns) columns and R. For Cholesky and QR
 * `rows` is not written.
 *
 * # Safety
 * `first` and `second` are null or valid for writes; `rows` is null or has room for `capacity` values.
 */
clinalg_status clinalg_factorisation_factors(clinalg_handle factorisation,
                                             clinalg_handle *first,
                                             clinalg_handle *second,
                                             size_t *rows,
                                             size_t capacity);

/**
 * The determinant of the matrix, from LU, Cholesky or L D L'; infinite or zero where it leaves the range of the numbers. For a sparse matrix that is
 * singular to working precision `CLINALG_STATUS_VALUE`.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_factorisation_determinant(clinalg_handle factorisation,
                                                 clinalg_complex *result);

/**
 * The inverse of a dense matrix as a new one, from LU or Cholesky. To solve with it is slower and less accurate than
 * `clinalg_factorisation_solve`.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_factorisation_inverse(clinalg_handle factorisation,
                                             clinalg_handle *handle);

/**
 * An estimate of the reciprocal condition number in the 1-norm, from LU or the factors of a sparse matrix; 0 for a singular matrix.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_factorisation_condition(clinalg_handle factorisation,
                                               double *result);

/**
 * Solves op(A) X = b by substitution, where A is a triangle (a `clinalg_triangle`) of a square dense matrix, whose other numbers are not read; where
 * `unit` is not 0, its diagonal is all ones and is not read either. `*x` may be b; 0 there makes a new object of the kind of b.
 *
 * # Safety
 * `x` is null or valid for reading and writing.
 */
clinalg_status clinalg_dense_solve_triangular(uint32_t triangle,
                                              uint32_t transpose,
                                              int32_t unit,
                                              clinalg_handle a,
                                              clinalg_handle b,
                                              clinalg_handle *x);

/**
 * Solves A X = b for a square sparse A, real or complex, and a vector or dense b of the same type, by a complete factorisation: Cholesky where
 * A is Hermitian positive definite, L D L' where it is Hermitian or complex symmetric, else LU, with iterative refinement. There is no tolerance. X is a new object of the kind of b; A and b stay
 * as they are. Where `is_limited` is not 0, a matrix whose factorisation takes longer than seconds is `CLINALG_STATUS_VALUE`, as is one that
 * is singular to working precision unless b lies in its range. `report` may be null. For many right-hand sides one after the other keep the
 * factors: `clinalg_factorisation_create`.
 *
 * # Safety
 * `x` is null or valid for a write; `report` is null or valid for a write.
 */
clinalg_status clinalg_sparse_solve(clinalg_handle a,
                                    clinalg_handle b,
                                    int32_t is_limited,
                                    clinalg_handle *x,
                                    clinalg_sparse_solve_report *report);

/**
 * The inverse of a square dense matrix as a new one, by LU. `reciprocal_condition`, if not null, gets an estimate of the reciprocal condition
 * number in the 1-norm.
 *
 * # Safety
 * `handle` is null or valid for a write, `reciprocal_condition` too.
 */
clinalg_status clinalg_dense_inverse(clinalg_handle a,
                                     clinalg_handle *handle,
                                     double *reciprocal_condition);

/**
 * The determinant of a square dense matrix by LU; infinite or zero where it leaves the range of the numbers.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_dense_determinant(clinalg_handle a,
                                         clinalg_complex *result);

/**
 * out = alpha op(A) op(B) + beta out for a dense, sparse or band A and dense B and out; out = 0 makes a new matrix and takes beta as 0.
 * `transpose_a` and `transpose_b` are each a `clinalg_transpose`. With a dense A nothing is copied. The transpose of a sparse A, and that of B
 * beside a sparse or band A, is made in each call: for many products make it once by `clinalg_matrix_transpose`. A band A has no transposed form.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_matrix_multiply(uint32_t transpose_a,
                                       uint32_t transpose_b,
                                       clinalg_complex alpha,
                                       clinalg_handle a,
                                       clinalg_handle b,
                                       clinalg_complex beta,
                                       clinalg_handle *out);

/**
 * The defaults: alpha = 1, one time step to 1, the rules of order 4, blocks stored if they fit, double precision. `struct_size` is
 * `sizeof(clinalg_heat_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_heat_options_default(clinalg_heat_options *options,
                                            size_t struct_size);

/**
 * Creates a boundary integral operator of du/dt - alpha Laplace u = 0 on the current device, by space-time Galerkin boundary
 * elements: u linear on triangles and continuous, the flux alpha du/dn constant on them, both constant on each time step.
 *
 * The surface has `node_count` nodes of three coordinates each and `triangle_count` triangles of three nodes each, from 0 on,
 * anticlockwise seen from outside; it is closed. `kind` is a `clinalg_heat_kind`. Vectors store one
 * time step after the other. `clinalg_matrix_mv` and `clinalg_system_solve` accept the handle as a matrix, without the Jacobi preconditioner;
 * `clinalg_object_release` releases it. Options of a larger size than this library knows are an error.
 *
 * # Safety
 * `options` names as many bytes as its first member says; `nodes` and `triangles` are valid for reading three times as many values as they count,
 * `out` for a write.
 */
clinalg_status clinalg_heat_operator_create(const clinalg_heat_options *options,
                                            uint32_t kind,
                                            const double *nodes,
                                            size_t node_count,
                                            const uint32_t *triangles,
                                            size_t triangle_count,
                                            clinalg_handle *out);

/**
 * Creates the inverse of `matrix`, an operator V or D, by block forward elimination: its diagonal block is inverted here, and each
 * product with the new handle, `clinalg_matrix_mv(1, inverse, b, 0, &x)`, solves A x = b up to rounding in one pass through time. The
 * handle can also be a preconditioner. It keeps the operator alive: `matrix` may be released before it.
 *
 * # Safety
 * `out` is valid for a write.
 */
clinalg_status clinalg_heat_forward_create(clinalg_handle matrix,
                                           clinalg_handle *out);

/**
 * Creates an approximate inverse of `matrix`, an operator V or D, by operator (Calderon-type) preconditioning on the same surface
 * and time steps: a preconditioner for `clinalg_solver_options.inverse`. `storage`, a `clinalg_storage`, applies to the
 * preconditioning operator. `matrix` may be released before the new handle.
 *
 * # Safety
 * `out` is valid for a write.
 */
clinalg_status clinalg_heat_operator_preconditioner_create(clinalg_handle matrix,
                                                           uint32_t storage,
                                                           clinalg_handle *out);

/**
 * Reads a closed surface of triangles from a file; the extension tells the format: `.obj`, `.off`, `.stl` or `.msh` (Gmsh 2 or 4, ASCII). Polygons are cut
 * into triangles. `nodes` gets the three coordinates of each of the first `node_capacity` nodes, `triangles` the three nodes of each of the first
 * `triangle_capacity` triangles, from 0 on; `node_count` and `triangle_count` get the numbers of all. With capacities of 0 the arrays may be
 * null: call once for the numbers, then again.
 *
 * # Safety
 * `file` is null or a text that ends in zero; `nodes` and `triangles` have room for three values for each node and triangle of their capacities;
 * the counts are null or valid for a write.
 */
clinalg_status clinalg_heat_mesh_read(const char *file,
                                      double *nodes,
                                      size_t node_capacity,
                                      size_t *node_count,
                                      uint32_t *triangles,
                                      size_t triangle_capacity,
                                      size_t *triangle_count);

/**
 * The L2 projection of a function onto the vectors that an operator of the heat equation multiplies: for V and Ks constants on triangles, for K and D
 * hats at nodes, all constant in each time step; one time step after the other. `*out` gets a new vector in the operator's precision.
 *
 * # Safety
 * `function` may be called with `data` by several threads, one at a time, until this call returns; `out` is null or valid for a write.
 */
clinalg_status clinalg_heat_project(clinalg_handle matrix,
                                    clinalg_boundary_function function,
                                    void *data,
                                    clinalg_handle *out);

/**
 * The right-hand side of a boundary value problem from the boundary values that are given, by the operator `other`: for V w = (M / 2 + K) u
 * (Dirichlet) K and the values u at nodes, for D u = (M' / 2 - Ks) w (Neumann) Ks and the values w on triangles. M is the mass matrix. `*out` gets a new
 * vector; solve with it by `clinalg_system_solve` or by the product with `clinalg_heat_forward_create`.
 *
 * # Safety
 * `out` is null or valid for a write.
 */
clinalg_status clinalg_heat_right_side(clinalg_handle other,
                                       clinalg_handle given,
                                       clinalg_handle *out);

/**
 * u at points inside the domain, in the middle of each time step, from w on triangles and u at nodes, vectors for the surface and the time steps of the
 * operator `matrix`: the representation formula. `points` has three coordinates for each of `point_count` points, which keep a distance
 * of about the size of a triangle from the surface. `values` gets `count` numbers, `point_count` for each time step, one time step after the other.
 *
 * # Safety
 * `points` names three values for each point; `values` has room for `count`.
 */
clinalg_status clinalg_heat_interior(clinalg_handle matrix,
                                     clinalg_handle w,
                                     clinalg_handle u,
                                     const double *points,
                                     size_t point_count,
                                     double *values,
                                     size_t count);

/**
 * Makes OpenCL objects of the caller those that new objects live on, in the place of `clinalg_device_select`: a `cl_context`, one of its
 * devices (a `cl_device_id`), and an in-order `cl_command_queue` of both, in which this library enqueues its commands; null there makes
 * a queue of the library's own. Context and queue are retained until the last object is released and another device is selected, or
 * `clinalg_shutdown` is called.
 *
 * Commands that the caller enqueues in the same queue run in the order of the calls. Order those in other queues by events, or by
 * `clinalg_device_finish` and `clFinish`.
 *
 * # Safety
 * The pointers are null or live objects of the OpenCL library that this process has loaded.
 */
clinalg_status clinalg_opencl_select(void *context,
                                     void *device,
                                     void *queue);

/**
 * The OpenCL objects that new objects live on: a `cl_context`, a `cl_device_id` and a `cl_command_queue`. Context and queue are retained for the
 * caller, who releases them with `clReleaseContext` and `clReleaseCommandQueue`. Each pointer may be null.
 *
 * All commands go to this queue in the order of the calls, except those of teams that transfer values, which go to a second queue and are ordered
 * by events; finish them first. Calls that give numbers or arrays wait for the commands. To use a result in another queue, enqueue a marker in
 * this one, flush it (`clFlush`), and let the other queue wait for the marker's event.
 *
 * # Safety
 * The pointers are null or valid for a write.
 */
clinalg_status clinalg_opencl_export(void **context,
                                     void **device,
                                     void **queue);

/**
 * A vector of `len` values of the type `precision` in the memory of `mem`, a `cl_mem` of the current context (`clinalg_opencl_select`) that kernels
 * and host may read and write. Nothing is copied. `mem` is retained until the vector is released. For a part of a buffer, pass a
 * sub-buffer (`clCreateSubBuffer`). Memory that a live object uses cannot be imported a second time.
 *
 * # Safety
 * `mem` is null or a live `cl_mem`; while the vector lives, other commands use its memory in the order that `clinalg_opencl_export` says;
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_vector_import(uint32_t precision,
                                     void *mem,
                                     size_t len,
                                     clinalg_handle *handle);

/**
 * A dense `rows` x `cols` matrix by columns in the memory of `mem`, as `clinalg_vector_import`.
 *
 * # Safety
 * As `clinalg_vector_import`.
 */
clinalg_status clinalg_dense_import(uint32_t precision,
                                    void *mem,
                                    size_t rows,
                                    size_t cols,
                                    clinalg_handle *handle);

/**
 * The `cl_mem` that holds the values of a vector or dense matrix (column by column), from its beginning, and the `cl_command_queue` in which
 * this library uses it. Both are retained for the caller, who releases them with `clReleaseMemObject` and `clReleaseCommandQueue`, also after
 * the object is released. `queue` may be null. `clinalg_opencl_export` says how to order commands.
 *
 * # Safety
 * `mem` and `queue` are null or valid for a write.
 */
clinalg_status clinalg_object_export(clinalg_handle object,
                                     void **mem,
                                     void **queue);

/**
 * A solver of A x = b for one matrix and many right-hand sides: the method with its memory, and the preconditioner that the options name.
 * `a` is a dense, sparse or band matrix or an operator, square, real or complex. The solver keeps `a` and `options->inverse` alive after their
 * handles are released. `options->progress` must be null: `clinalg_solver_solve` takes it. `clinalg_object_release` releases the solver.
 *
 * # Safety
 * `options` names as many bytes as its first member says; `solver` is null or valid for a write.
 */
clinalg_status clinalg_solver_create(const clinalg_solver_options *options,
                                     clinalg_handle a,
                                     clinalg_handle *solver);

/**
 * Solves A x = b. `*x` holds the initial guess on entry and the result on return, as in `clinalg_system_solve`; 0 there makes a new vector and starts from zero. With an x that
 * exists, solves after the first, which prepares the products of the matrix, allocate nothing on the device. The current values of A are used; the preconditioner is that of the last
 * `clinalg_solver_refill`. `progress`, if not null, is called with `progress_data` after every iteration. `report` and `history` as in
 * `clinalg_system_solve`. One call at a time uses a solver; others wait for it.
 *
 * # Safety
 * `x` is valid for reading and writing; `progress` is null or may be called with `progress_data`; `report` and `history` are null or valid for a
 * write, the latter of `capacity` values.
 */
clinalg_status clinalg_solver_solve(clinalg_handle solver,
                                    clinalg_handle b,
                                    clinalg_handle *x,
                                    clinalg_progress progress,
                                    void *progress_data,
                                    clinalg_report *report,
                                    double *history,
                                    size_t capacity);

/**
 * Recomputes the preconditioner of a solver for the current values of its matrix, or for another matrix `a` of the same size and type, which
 * replaces it; 0 stands for the same matrix. Algebraic multigrid accepts only values at the same positions. A preconditioner that was
 * given by `inverse` does not belong to the solver: it is kept, and with `a` 0 the call is an error.
 */
clinalg_status clinalg_solver_refill(clinalg_handle solver,
                                     clinalg_handle a);

/**
 * Changes the stopping criteria of the next solves: the relative residual to reach and the maximum number of iterations.
 */
clinalg_status clinalg_solver_set_limits(clinalg_handle solver,
                                         double tolerance,
                                         size_t max_iterations);

/**
 * `sweeps` sweeps of Jacobi, weighted with `omega`, from u for -Laplace_h u = f. out may be u; out = 0 makes a new grid.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_multigrid_jacobi(clinalg_handle u,
                                        clinalg_handle f,
                                        clinalg_handle *out,
                                        size_t sweeps,
                                        double omega);

/**
 * `sweeps` sweeps of red-black Gauss-Seidel from u for -Laplace_h u = f. out may be u; out = 0 makes a new grid.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_multigrid_red_black(clinalg_handle u,
                                           clinalg_handle f,
                                           clinalg_handle *out,
                                           size_t sweeps);

/**
 * out = f + Laplace_h u, 0 on the boundary; out = 0 makes a new grid.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_multigrid_defect(clinalg_handle u, clinalg_handle f, clinalg_handle *out);

/**
 * Bilinear interpolation of n x n points to 2n - 1 by 2n - 1; out = 0 makes a new grid.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_multigrid_interpolate(clinalg_handle coarse, clinalg_handle *out);

/**
 * Full weighting of 2n - 1 by 2n - 1 points to n x n; out = 0 makes a new grid.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_multigrid_restrict(clinalg_handle fine, clinalg_handle *out);

/**
 * A vector with a copy of `values[0..len]`, of the type `precision` (a `clinalg_precision`).
 *
 * # Safety
 * `values` names `len` values (null for none); `handle` is null or valid for a write.
 */
clinalg_status clinalg_vector_create(uint32_t precision,
                                     const void *values,
                                     size_t len,
                                     clinalg_handle *handle);

/**
 * A vector of `len` values that are all `value`, of the type `precision` (a `clinalg_precision`); no array of the
 * host is needed. `clinalg_array_fill_complex` gives it a value with an imaginary part.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_vector_constant(uint32_t precision,
                                       size_t len,
                                       double value,
                                       clinalg_handle *handle);

/**
 * A dense matrix, `values[j * rows + i]` at row i and column j.
 *
 * # Safety
 * `values` names `rows * cols` values of the type `precision`; `handle` is null or valid for a
 * write.
 */
clinalg_status clinalg_dense_create(uint32_t precision,
                                    size_t rows,
                                    size_t cols,
                                    const void *values,
                                    clinalg_handle *handle);

/**
 * A sparse matrix from compressed rows: `rows + 1` offsets, `offsets[rows]` column indices
 * (0-based) and values. Unsorted entries are sorted, duplicates summed.
 *
 * # Safety
 * The arrays have those lengths; `handle` is null or valid for a write.
 */
clinalg_status clinalg_sparse_from_csr(uint32_t precision,
                                       size_t rows,
                                       size_t cols,
                                       const size_t *offsets,
                                       const size_t *indices,
                                       const void *values,
                                       clinalg_handle *handle);

/**
 * A sparse matrix from compressed columns: `cols + 1` offsets, `offsets[cols]` row indices
 * (0-based) and values.
 *
 * # Safety
 * The arrays have those lengths; `handle` is null or valid for a write.
 */
clinalg_status clinalg_sparse_from_csc(uint32_t precision,
                                       size_t rows,
                                       size_t cols,
                                       const size_t *offsets,
                                       const size_t *indices,
                                       const void *values,
                                       clinalg_handle *handle);

/**
 * A band matrix of `kl` sub- and `ku` superdiagonals from its full column-major form; a nonzero
 * outside the band is an error.
 *
 * # Safety
 * `values` names `rows * cols` values of the type `precision`; `handle` is null or valid for a
 * write.
 */
clinalg_status clinalg_band_create(uint32_t precision,
                                   size_t rows,
                                   size_t cols,
                                   size_t kl,
                                   size_t ku,
                                   const void *values,
                                   clinalg_handle *handle);

/**
 * Copies `count` values from `offset` on of a vector or dense matrix to the host. `precision` must
 * be that of the object.
 *
 * # Safety
 * `values` has room for `count` values of the type `precision`.
 */
clinalg_status clinalg_array_read(clinalg_handle handle,
                                  uint32_t precision,
                                  size_t offset,
                                  size_t count,
                                  void *values);

/**
 * Replaces `count` values from `offset` on of a vector or dense matrix. `precision` must be that
 * of the object.
 *
 * # Safety
 * `values` names `count` values of the type `precision`.
 */
clinalg_status clinalg_array_write(clinalg_handle handle,
                                   uint32_t precision,
                                   size_t offset,
                                   size_t count,
                                   const void *values);

/**
 * Downloads a sparse or band matrix in compressed columns. `entries` is the capacity of `indices`
 * and `values` on entry and the number of entries on return; with too small a capacity nothing is
 * copied and the call fails with the required number in `entries`. `precision` must be that of the
 * object.
 *
 * # Safety
 * `offsets` has room for cols + 1 values, `indices` and `values` for `*entries`.
 */
clinalg_status clinalg_sparse_read(clinalg_handle handle,
                                   uint32_t precision,
                                   size_t *offsets,
                                   size_t *indices,
                                   void *values,
                                   size_t *entries);

/**
 * Downloads `row_count` rows of a sparse or band matrix from row `first_row` on (0-based) in compressed rows: one offset
 * more than rows, the first 0, and as many column indices (0-based) and values as the last offset says, row by row with
 * ascending columns. Of a sparse matrix nothing else is transferred. `entries` is the capacity of `indices` and `values`
 * on entry and the number of entries on return; with too small a capacity nothing is copied and the call fails with the
 * required number in `entries`. The entries of the object are enough for a sparse matrix. `precision` must be that of the
 * object.
 *
 * # Safety
 * `offsets` has room for `row_count + 1` values, `indices` and `values` for `*entries`.
 */
clinalg_status clinalg_sparse_read_rows(clinalg_handle handle,
                                        uint32_t precision,
                                        size_t first_row,
                                        size_t row_count,
                                        size_t *offsets,
                                        size_t *indices,
                                        void *values,
                                        size_t *entries);

/**
 * Reads a MatrixMarket file into a sparse matrix (coordinate files) or a dense one (array files),
 * with values of the type `precision`, a complex one for files of complex values.
 *
 * # Safety
 * `path` is null or a path that ends in zero, of any bytes on Unix; `handle` is null or valid for a write.
 */
clinalg_status clinalg_matrix_market_read(const char *path,
                                          uint32_t precision,
                                          clinalg_handle *handle);

/**
 * Information about the object of a handle.
 *
 * # Safety
 * `info` is null or valid for a write.
 */
clinalg_status clinalg_object_get_info(clinalg_handle handle, clinalg_object_info *info);

/**
 * Adds an owner to an object of any kind: `clinalg_object_release` frees it when each owner has called it once. The
 * handle stays the same.
 */
clinalg_status clinalg_object_retain(clinalg_handle handle);

/**
 * Releases an object of any kind. It is freed unless `clinalg_object_retain` has given it other owners. The handle is
 * stale then, and one more release is an error without side effects.
 */
clinalg_status clinalg_object_release(clinalg_handle handle);

/**
 * Chooses the format of a sparse matrix by its current values; `format` is a `clinalg_format`. One that the matrix or the
 * device does not support is an error and changes nothing.
 */
clinalg_status clinalg_sparse_set_format(clinalg_handle handle,
                                         uint32_t format);

/**
 * How the products of a sparse matrix run and why, or the kind and size of another object, cut to `capacity` bytes with the ending zero. `needed`, if
 * not null, gets the bytes of the whole text with its zero.
 *
 * # Safety
 * `buffer` is null or has room for `capacity` bytes; `needed` is null or valid for a write.
 */
clinalg_status clinalg_object_explain(clinalg_handle handle,
                                      char *buffer,
                                      size_t capacity,
                                      size_t *needed);

/**
 * Creates a test problem: `name` is one of those that `clinalg ode --list` prints, `n` the number of points along each axis.
 * `clinalg_object_release` releases it.
 *
 * # Safety
 * `name` is a text that ends in zero, `ode` is valid for a write.
 */
clinalg_status clinalg_ode_create_problem(const char *name,
                                          size_t n,
                                          clinalg_handle *ode);

/**
 * Creates a system of equations from a description: one statement per line, such as `grid 100`, `parameter a = 2`,
 * `boundary periodic` and `u' = a*(u[-1] - 2*u + u[1])`; the guide lists them all. `data` has the numbers for its
 * `data_count` lines `data name`, one for each point, one line after the other; it may be null if there is none.
 * A formula that cannot be parsed is an error that names the column. Powers group from right to left: 2^3^2 is 512.
 * `clinalg_object_release` releases it.
 *
 * # Safety
 * `description` is a text that ends in zero, `data` names `data_length` values, `ode` is valid for a write.
 */
clinalg_status clinalg_ode_create(const char *description,
                                  const double *data,
                                  size_t data_length,
                                  size_t data_count,
                                  clinalg_handle *ode);

/**
 * Creates a system whose derivatives are given in OpenCL C: `body` is the body of a function that returns the derivative of
 * component `I` at time `T` of `N` components, with `Y(j)` for component j. It reads no component further than `distance`
 * from `I`; `clinalg_ode_solve` fails if it does. `functions`, which may be null, is placed before it. The text is executed as it is:
 * the caller vouches for it as for the program's own code. It must read components by `Y(j)` alone, for 0 <= j < N, write to no
 * memory except its own variables, divide no integer by 0, and return. For untrusted text use `clinalg_ode_create`, whose
 * formulas are safe.
 *
 * # Safety
 * `body` and `functions` are code as said above, in texts that end in zero, the latter or null; `ode` is valid for a write.
 */
clinalg_status clinalg_ode_create_snippet(size_t components,
                                          const char *body,
                                          const char *functions,
                                          size_t distance,
                                          clinalg_handle *ode);

/**
 * Changes a parameter; running calls of `clinalg_ode_solve` keep the old value.
 *
 * # Safety
 * `name` is a text that ends in zero.
 */
clinalg_status clinalg_ode_set_parameter(clinalg_handle ode, const char *name, double value);

/**
 * Adds an event: the times at which `formula`, of the time, coordinates, parameters and fields at grid point `point`, passes
 * zero in the direction, a `clinalg_ode_direction`. If `terminal` is not 0, it ends the integration. Events are
 * numbered from 0; those of lines `event` of a description come first. All changes of sign inside a step are found, on its
 * interpolant; a zero where the integration begins is none. The direction is that along the integration.
 *
 * # Safety
 * `formula` is a text that ends in zero.
 */
clinalg_status clinalg_ode_add_event(clinalg_handle ode,
                                     const char *formula,
                                     size_t point,
                                     uint32_t direction,
                                     int32_t terminal);

/**
 * Absolute tolerances of the components, field by field, in place of that of the options; `components` 0
 * restores that of the options.
 *
 * # Safety
 * `absolute` names `components` values, or is null where that is 0.
 */
clinalg_status clinalg_ode_set_tolerances(clinalg_handle ode,
                                          const double *absolute,
                                          size_t components);

/**
 * The number of fields and of points, whose product is the number of components, and how far apart in memory a formula
 * reads. Each pointer may be null.
 *
 * # Safety
 * The pointers are null or valid for a write.
 */
clinalg_status clinalg_ode_shape(clinalg_handle ode,
                                 size_t *fields,
                                 size_t *points,
                                 size_t *access_distance);

/**
 * The initial values of a test problem, all points of the first field first, and its usual interval of time. `t0` and
 * `t_end` may be null. An error for other systems.
 *
 * # Safety
 * `y0` has room for `components` values; `t0` and `t_end` are null or valid for a write.
 */
clinalg_status clinalg_ode_initial(clinalg_handle ode,
                                   double *y0,
                                   size_t components,
                                   double *t0,
                                   double *t_end);

/**
 * Integrates on the current device from `times[0]`, where the solution is `y0`, and gives the solution at each of the
 * `count` times, at least two, increasing or decreasing: `y` has room for `count` times `components` values, one time after
 * the other, the first being `y0` again. Components are all points of the first field, then those of the next.
 *
 * `method` is a name such as "dopri54" (null for this one) or "rk4", or "rkc" for stabilised steps of order 2, which have
 * as many stages as diffusion and the like ask for; an unknown name is an error that lists all. `variant` is the division into kernels (null for "auto").
 * `report` may be null. Steps end at the times of `stop` lines and where a test problem jumps. If a terminal event ends the integration, its solution
 * follows those at the times before, and NaN fills the rest. A failed call does not change `y`.
 *
 * # Safety
 * `method` and `variant` are null or texts that end in zero; `options` names as many bytes as its first member says; `times` names `count` values,
 * `y0` names `components`; `y` has room for the solution as said; `report` is null or valid for a write.
 */
clinalg_status clinalg_ode_solve(clinalg_handle ode,
                                 const char *method,
                                 const char *variant,
                                 const clinalg_ode_options *options,
                                 const double *times,
                                 size_t count,
                                 const double *y0,
                                 size_t components,
                                 double *y,
                                 clinalg_ode_report *report);

/**
 * Integrates on the current device from `t0`, where the solution is `y0`, to `t_end` and calls `watch` after every step, with
 * `data`; it returns 0 to continue, another number ends the integration. In `watch`, `clinalg_ode_step_info` describes the step,
 * `clinalg_ode_step_at` gives the solution at any time inside it and `clinalg_ode_step_events` the events. `y` gets the solution
 * at the end of the integration, `report` its time. Otherwise as `clinalg_ode_solve`.
 *
 * # Safety
 * As `clinalg_ode_solve`; `y` has room for `components` values; `watch` may be called with `data` from this thread.
 */
clinalg_status clinalg_ode_solve_with(clinalg_handle ode,
                                      const char *method,
                                      const char *variant,
                                      const clinalg_ode_options *options,
                                      double t0,
                                      double t_end,
                                      const double *y0,
                                      size_t components,
                                      clinalg_ode_watch watch,
                                      void *data,
                                      double *y,
                                      clinalg_ode_report *report);

/**
 * Beginning and end of a step, and the report of the integration up to its end. Each pointer but `step` may be null.
 *
 * # Safety
 * `step` is what the function that calls this was given; the other pointers are null or valid for a write.
 */
clinalg_status clinalg_ode_step_info(clinalg_ode_step *step,
                                     double *begin,
                                     double *end,
                                     clinalg_ode_report *report);

/**
 * The solution at a time from the step's beginning to its end, interpolated to at least third order.
 *
 * # Safety
 * `step` is what the function that calls this was given; `y` has room for `components` values.
 */
clinalg_status clinalg_ode_step_at(clinalg_ode_step *step,
                                   double t,
                                   double *y,
                                   size_t components);

/**
 * Numbers and times of the events inside a step, the first `capacity` of them in the order in which they happen; `count` gets their
 * number.
 *
 * # Safety
 * `step` is what the function that calls this was given; `events` and `times` have room for `capacity` values; `count` is valid for a
 * write.
 */
clinalg_status clinalg_ode_step_events(clinalg_ode_step *step,
                                       size_t capacity,
                                       size_t *events,
                                       double *times,
                                       size_t *count);

/**
 * Integrates from `t0`, where the solution is the vector `y0` on the device, to `t_end`, where it is written to the vector `y`,
 * another one of the same precision, which is what is computed in. Only numbers for the control of the steps pass through the
 * host. Components are in the system's own order in memory: that of the fields if the description says
 * `layout field-wise`. Otherwise as `clinalg_ode_solve`; what OpenCL C reads is not checked.
 *
 * # Safety
 * `method` and `variant` are null or texts that end in zero; `options` names as many bytes as its first member says; `report` is null or valid for a
 * write.
 */
clinalg_status clinalg_ode_solve_vector(clinalg_handle ode,
                                        const char *method,
                                        const char *variant,
                                        const clinalg_ode_options *options,
                                        double t0,
                                        double t_end,
                                        clinalg_handle y0,
                                        clinalg_handle y,
                                        clinalg_ode_report *report);

/**
 * Creates a stepper: the kernels and the memory of a method for one system on the current device, for several integrations by
 * `clinalg_ode_stepper_solve`, which then cost no set-up. `method`, `variant` and `options` as in `clinalg_ode_solve`. Later changes of the
 * system do not reach it; the system may be released. `clinalg_object_release` releases it.
 *
 * # Safety
 * `method` and `variant` are null or texts that end in zero; `options` names as many bytes as its first member says, `stepper` for a write.
 */
clinalg_status clinalg_ode_stepper_create(clinalg_handle ode,
                                          const char *method,
                                          const char *variant,
                                          const clinalg_ode_options *options,
                                          clinalg_handle *stepper);

/**
 * As `clinalg_ode_solve_vector` with a stepper, in whose precision the vectors are.
 *
 * # Safety
 * `report` is null or valid for a write.
 */
clinalg_status clinalg_ode_stepper_solve(clinalg_handle stepper,
                                         double t0,
                                         double t_end,
                                         clinalg_handle y0,
                                         clinalg_handle y,
                                         clinalg_ode_report *report);

/**
 * The defaults: tolerances 1e-6 and 1e-9, root mean square, double precision, adaptive steps. `struct_size` is
 * `sizeof(clinalg_ode_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_ode_options_default(clinalg_ode_options *options,
                                           size_t struct_size);

/**
 * out = alpha A x + beta out; out = 0 makes a new vector, or a dense column for a dense x, and treats beta as 0.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_matrix_mv(double alpha,
                                 clinalg_handle a,
                                 clinalg_handle x,
                                 double beta,
                                 clinalg_handle *out);

/**
 * out = alpha A' x + beta out; out = 0 makes a new vector, or a dense column for a dense x, and treats beta as 0.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_matrix_mv_transposed(double alpha,
                                            clinalg_handle a,
                                            clinalg_handle x,
                                            double beta,
                                            clinalg_handle *out);

/**
 * out = alpha A X + beta out for dense X and out, several right-hand sides at once; out = 0 makes a new matrix and takes
 * beta as 0.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_matrix_mm(double alpha,
                                 clinalg_handle a,
                                 clinalg_handle x,
                                 double beta,
                                 clinalg_handle *out);

/**
 * out = alpha x + beta y.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_array_axpby(double alpha,
                                   clinalg_handle x,
                                   double beta,
                                   clinalg_handle y,
                                   clinalg_handle *out);

/**
 * out = a + b.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_array_add(clinalg_handle a, clinalg_handle b, clinalg_handle *out);

/**
 * out = a - b.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_array_subtract(clinalg_handle a, clinalg_handle b, clinalg_handle *out);

/**
 * out = a - c b.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_array_subtract_scaled(clinalg_handle a,
                                             clinalg_handle b,
                                             double c,
                                             clinalg_handle *out);

/**
 * out = c a.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_array_scale(clinalg_handle a, double c, clinalg_handle *out);

/**
 * out = a .* b, element by element.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_array_multiply(clinalg_handle a, clinalg_handle b, clinalg_handle *out);

/**
 * out = a, copied on the device.
 *
 * # Safety
 * `out` is null or valid for reading and writing.
 */
clinalg_status clinalg_array_copy(clinalg_handle a, clinalg_handle *out);

/**
 * Sets every stored value.
 */
clinalg_status clinalg_array_fill(clinalg_handle handle, double value);

/**
 * A new vector with `count` values from `offset` on.
 *
 * # Safety
 * `part` is null or valid for a write.
 */
clinalg_status clinalg_vector_slice(clinalg_handle handle,
                                    size_t offset,
                                    size_t count,
                                    clinalg_handle *part);

/**
 * Replaces the values of `target` from `offset` on by those of `source`, on the device.
 */
clinalg_status clinalg_vector_write_slice(clinalg_handle target,
                                          size_t offset,
                                          clinalg_handle source);

/**
 * Sum of the stored values.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_array_sum(clinalg_handle a, double *result);

/**
 * Dot product of the stored values.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_array_dot(clinalg_handle a, clinalg_handle b, double *result);

/**
 * Sum of the magnitudes of the stored values.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_array_norm1(clinalg_handle a, double *result);

/**
 * Euclidean norm of the stored values.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_array_norm2(clinalg_handle a, double *result);

/**
 * Largest magnitude of the stored values; NaN if one is NaN.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_array_norm_inf(clinalg_handle a, double *result);

/**
 * The defaults: CG without preconditioner to 1e-10 in at most 10 000 iterations, restart 30. `struct_size` is
 * `sizeof(clinalg_solver_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_solver_options_default(clinalg_solver_options *options,
                                              size_t struct_size);

/**
 * Sets the members that a text names, such as "cg,amg,tol=1e-8"; the others stay as they are. Fill the options with
 * `clinalg_solver_options_default` first. The parts stand between commas in any order, in upper or lower case:
 *
 * - a method: `cg`, `fcg`, `minres`, `bicgstab`, `idrs`, `gmres`, `richardson`, `lsqr` or `lsmr`;
 * - a preconditioner: `none`, `jacobi`, `amg`, `spai0`, `ssor`, `ilu`, `ilut`, `ic`, `fsai` or `lu`, a complete factorisation;
 * - `direct` for both, `gmres` and `lu`: a direct solver;
 * - `tol=` with the relative residual to reach, above 0 and below 1;
 * - `max-iterations=`, `restart=` and `idr-dimension=` with whole numbers, the last two at least 1.
 *
 * They are named as the options of the program. An unknown name is `CLINALG_STATUS_VALUE` with a message that lists the
 * known ones, as is one that is known but that `clinalg_system_solve` does not have (`block-cg`, `auto`, `sa`,
 * `classical`, `saddle`); `clinalg_system_options.solver` takes those but `block-cg`. A failed call changes nothing.
 *
 * # Safety
 * `text` is null or a text that ends in zero; `options` names as many bytes as its first member says.
 */
clinalg_status clinalg_solver_options_parse(const char *text,
                                            clinalg_solver_options *options);

/**
 * Solves A x = b for a dense, sparse or band matrix or an operator, real or complex, or for a matrix on a team. `*x` holds the initial guess on entry and the
 * result on return. If the solve does not converge, this is the iterate with the smallest residual found, number `report->iterate`; if `progress` ended CG
 * or MINRES, it is the last iterate. 0 there makes a new vector and starts from zero. `history`, if not null, gets the first `capacity` relative residuals,
 * beginning with that of the initial guess. b and x may be dense matrices of several columns. These are solved for one after the other, or together by block
 * conjugate gradients with `CLINALG_METHOD_CG` where A has 64 entries in a row or more and b four columns or more; the report is that of the column
 * with the largest residual. With `CLINALG_METHOD_LSQR` and `CLINALG_METHOD_LSMR` A may be rectangular: x makes |b - A x| smallest and is of several
 * such the nearest to the start. Their solves converge also where |A^H (b - A x)| is small relative to |A| |b - A x|; `relative_residual`, which is
 * |b - A x| / |b|, stays large where no x solves the system. Options of a larger size than this library knows are an error.
 *
 * # Safety
 * `options` names as many bytes as its first member says; `x` is valid for reading and writing; `report` and `history` are null or
 * valid for a write, the latter of `capacity` values.
 */
clinalg_status clinalg_system_solve(const clinalg_solver_options *options,
                                    clinalg_handle a,
                                    clinalg_handle b,
                                    clinalg_handle *x,
                                    clinalg_report *report,
                                    double *history,
                                    size_t capacity);

/**
 * The defaults: two dimensions of length 1, a vertex-centred grid with equal spacing, u = g on all sides, D = 1, order 2, V(2,1)-cycles to 1e-10
 * in at most 100 cycles, double precision. Set `points`. `struct_size` is `sizeof(clinalg_poisson_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_poisson_options_default(clinalg_poisson_options *options,
                                               size_t struct_size);

/**
 * A multigrid solver of -div(k D grad u) + c u = f, made once for many right-hand sides; it owns the memory of all levels. D is a
 * constant symmetric positive definite tensor, k a positive coefficient. Until `clinalg_poisson_set_side` sets the values g of the sides, u keeps
 * the values that it has on vertex-centred sides with u = g, and g is 0 on others. `clinalg_object_release` releases the solver.
 *
 * # Safety
 * `options` names as many bytes as its first member says, its coordinates as many values as the points and sides say, its
 * coefficient `coefficient_count` values; `handle` is null or valid for a write.
 */
clinalg_status clinalg_poisson_create(const clinalg_poisson_options *options,
                                      clinalg_handle *handle);

/**
 * Sets the values g of a side. `axis` is 0, 1 or 2; `high` is 0 for the side where the coordinate is smallest, non-zero for the side where
 * it is largest. `values` has one value for each point of the side, the lower of the other directions fastest; null clears them. Where
 * sides with u = g meet, the values of the last direction hold.
 *
 * # Safety
 * `values` is null or names `count` values.
 */
clinalg_status clinalg_poisson_set_side(clinalg_handle poisson,
                                        size_t axis,
                                        int32_t high,
                                        const double *values,
                                        size_t count);

/**
 * Solves for host arrays. `f` has one value for each of `count` points, x fastest. `u`, which must not overlap `f`, holds the initial guess on
 * entry and the solution on return. Points on vertex-centred sides with u = g get g, or keep their values where no g was set; f is read there for
 * order 4 only.
 *
 * `report` may be null. `history`, if not null, gets the first `capacity` relative residuals, beginning with that of the initial guess.
 * `progress`, if not null, is called with `progress_data` after every cycle. A solve that does not converge is not a failed call: check
 * `stop`. If the data are not finite, `stop` is `CLINALG_STOP_NOT_FINITE` and u is unchanged. A solver in single precision rounds the values.
 *
 * # Safety
 * `f` and `u` name `count` values; `progress` is null or valid to be called with `progress_data`; `report` is null or valid for a write, `history` null or valid for
 * `capacity` values.
 */
clinalg_status clinalg_poisson_solve(clinalg_handle poisson,
                                     const double *f,
                                     double *u,
                                     size_t count,
                                     clinalg_progress progress,
                                     void *progress_data,
                                     clinalg_poisson_report *report,
                                     double *history,
                                     size_t capacity);

/**
 * As `clinalg_poisson_solve`, for vectors or dense matrices of the solver's precision and device, whose values stay there. `*u` holds
 * the initial guess on entry and the solution on return. If `*u` is 0, a new object like f is made, and the initial guess is zero.
 *
 * # Safety
 * `u` is valid for reading and writing; the other pointers as for `clinalg_poisson_solve`.
 */
clinalg_status clinalg_poisson_solve_vector(clinalg_handle poisson,
                                            clinalg_handle f,
                                            clinalg_handle *u,
                                            clinalg_progress progress,
                                            void *progress_data,
                                            clinalg_poisson_report *report,
                                            double *history,
                                            size_t capacity);

/**
 * The matrix of the equations integrated over the cells: a symmetric operator on vectors of the unknowns. The unknowns are the values at all
 * points except those on vertex-centred sides with u = g; `clinalg_object_get_info` gives their number. The solver may be released before the operator.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_poisson_operator_create(clinalg_handle poisson,
                                               clinalg_handle *handle);

/**
 * A symmetric multigrid cycle: an approximate inverse of the matrix of `clinalg_poisson_operator_create`, for `clinalg_solver_options.inverse`.
 * The solver may be released before the preconditioner.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_poisson_preconditioner_create(clinalg_handle poisson,
                                                     clinalg_handle *handle);

/**
 * The right-hand side for `clinalg_poisson_operator_create`, one value per unknown, from the source f, one value per point, and the values of the
 * sides. Where u is determined only up to a constant, the imbalance is removed. If `*b` is 0, a new vector is made.
 *
 * # Safety
 * `b` is null or valid for reading and writing.
 */
clinalg_status clinalg_poisson_right_side(clinalg_handle poisson,
                                          clinalg_handle f,
                                          clinalg_handle *b);

/**
 * The values at all points, from the unknowns x and the values of the sides with u = g. If `*u` is 0, a new vector is made.
 *
 * # Safety
 * `u` is null or valid for reading and writing.
 */
clinalg_status clinalg_poisson_points(clinalg_handle poisson,
                                      clinalg_handle x,
                                      clinalg_handle *u);

/**
 * The defaults: ILU(0) in the order of the matrix. `struct_size` is `sizeof(clinalg_preconditioner_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_preconditioner_options_default(clinalg_preconditioner_options *options,
                                                      size_t struct_size);

/**
 * A preconditioner of a sparse matrix, real or complex: an operator whose product, by `clinalg_matrix_mv`, applies its inverse, for
 * `clinalg_solver_options.inverse`. It does not refer to the matrix afterwards; for other values make another one. IC and FSAI need a Hermitian matrix;
 * for any other the status is `CLINALG_STATUS_VALUE`.
 *
 * # Safety
 * `options` names as many bytes as its first member says; `handle` is null or valid for a write.
 */
clinalg_status clinalg_preconditioner_create(const clinalg_preconditioner_options *options,
                                             clinalg_handle a,
                                             clinalg_handle *handle);

/**
 * What is known of a preconditioner of `clinalg_preconditioner_create` or `clinalg_amg_create`.
 *
 * # Safety
 * `report` is null or valid for a write.
 */
clinalg_status clinalg_preconditioner_info(clinalg_handle preconditioner,
                                           clinalg_preconditioner_report *report);

/**
 * The factors of ILU(0) as sparse matrices: `lower`, with ones on its diagonal, and `upper` have entries where the square sparse matrix `a` has,
 * and their product is `a` there. Rows keep their order: a pivot that is zero is `CLINALG_STATUS_VALUE`, with its row in the message, where
 * `clinalg_preconditioner_create` would permute rows.
 *
 * # Safety
 * `lower` and `upper` are null or valid for a write.
 */
clinalg_status clinalg_sparse_incomplete_lu(clinalg_handle a,
                                            clinalg_handle *lower,
                                            clinalg_handle *upper);

/**
 * The factor of IC(0) as a sparse matrix: `lower` has entries where the lower triangle of the Hermitian positive definite sparse matrix `a` has,
 * and its product with its conjugate transpose is A + shift diag(A) there. The upper triangle of `a` is not read. A pivot that is not positive is
 * `CLINALG_STATUS_VALUE`, with its row in the message; a larger shift, such as 1e-3, avoids it.
 *
 * # Safety
 * `lower` is null or valid for a write.
 */
clinalg_status clinalg_sparse_incomplete_cholesky(clinalg_handle a,
                                                  double shift,
                                                  clinalg_handle *lower);

/**
 * A preconditioner of one or two sparse triangular matrices, lower or upper, such as the factors above: its product, by `clinalg_matrix_mv`,
 * solves with `first`, then with `second`, which may be 0 for none. It does not refer to them afterwards.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_preconditioner_create_triangular(clinalg_handle first,
                                                        clinalg_handle second,
                                                        clinalg_handle *handle);

/**
 * The defaults: V-cycles with Chebyshev iteration of degree 2. `struct_size` is `sizeof(clinalg_amg_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_amg_options_default(clinalg_amg_options *options,
                                           size_t struct_size);

/**
 * Algebraic multigrid for a sparse matrix, real or complex: an operator whose product, by `clinalg_matrix_mv`, is a cycle, for
 * `clinalg_solver_options.inverse`. `near_null` is a vector or a dense matrix whose columns the matrix nearly maps to zero, such as the
 * rigid body modes for elasticity, of the same type of values; 0 uses constants. A complex matrix is coarsened by aggregation, with the smoothers
 * except Gauss-Seidel; real and imaginary parts count as rows for `options->coarse_size`.
 *
 * # Safety
 * `options` names as many bytes as its first member says; `handle` is null or valid for a write.
 */
clinalg_status clinalg_amg_create(const clinalg_amg_options *options,
                                  clinalg_handle a,
                                  clinalg_handle near_null,
                                  clinalg_handle *handle);

/**
 * Algebraic multigrid for elasticity, as `clinalg_amg_create` with rigid body modes as near-null vectors. `coordinates` has `dim` values
 * (2 or 3) for each of `nodes` nodes, one node after the other; the unknowns of `a` are the displacements of the nodes in the
 * same order. `options->block` is ignored; each node has `dim` unknowns. `CLINALG_STATUS_LENGTH` unless `nodes * dim` is the number of rows of `a`;
 * `CLINALG_STATUS_VALUE` unless `dim` is 2 or 3, and for classical coarsening.
 *
 * # Safety
 * `options` names as many bytes as its first member says; `coordinates` has `nodes * dim` values; `handle` is null or valid for a write.
 */
clinalg_status clinalg_amg_create_with_coordinates(const clinalg_amg_options *options,
                                                   clinalg_handle a,
                                                   const double *coordinates,
                                                   size_t nodes,
                                                   size_t dim,
                                                   clinalg_handle *handle);

/**
 * Refills a hierarchy made with `options.reusable` from other values at the positions of its matrix. The
 * aggregates, or the splitting and the pattern of the interpolation of classical coarsening, stay.
 */
clinalg_status clinalg_amg_refill(clinalg_handle amg,
                                  clinalg_handle a);

/**
 * Levels, sizes and complexities of a hierarchy. `levels`, if not null, gets the first `capacity` levels, the finest first;
 * `report->levels` is their number.
 *
 * # Safety
 * `report` is null or valid for a write; `levels` is null or has room for `capacity` levels.
 */
clinalg_status clinalg_amg_info(clinalg_handle amg,
                                clinalg_amg_report *report,
                                clinalg_amg_level *levels,
                                size_t capacity);

/**
 * About the factor by which a single cycle reduces the error, for the matrix of the hierarchy: below 0.2 is good; near 1 the hierarchy does not
 * suit the matrix.
 *
 * # Safety
 * `result` is null or valid for a write.
 */
clinalg_status clinalg_amg_convergence_factor(clinalg_handle amg,
                                              clinalg_handle a,
                                              double *result);

/**
 * The defaults: a block diagonal preconditioner whose parts are chosen from the matrix. `struct_size` is `sizeof(clinalg_saddle_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_saddle_options_default(clinalg_saddle_options *options,
                                              size_t struct_size);

/**
 * A block preconditioner for the real sparse matrix [A B'; B -C] of a saddle point (Stokes, mixed elements, constraints): an operator whose
 * product, by `clinalg_matrix_mv`, applies its inverse, for `clinalg_solver_options.inverse`. It does not refer to the matrix afterwards.
 *
 * # Safety
 * `options` names as many bytes as its first member says, its arrays as many values as their numbers say; `handle` is null or valid for a write.
 */
clinalg_status clinalg_saddle_create(const clinalg_saddle_options *options,
                                     clinalg_handle a,
                                     clinalg_handle *handle);

/**
 * What a preconditioner of `clinalg_saddle_create` is made of.
 *
 * # Safety
 * `report` is null or valid for a write.
 */
clinalg_status clinalg_saddle_info(clinalg_handle preconditioner, clinalg_saddle_report *report);

/**
 * A B of two sparse matrices as a new one. Entries that cancel stay as zeros: see `clinalg_sparse_drop_zeros`.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_sparse_multiply(clinalg_handle a,
                                       clinalg_handle b,
                                       clinalg_handle *handle);

/**
 * alpha A + beta B of two sparse matrices of one shape as a new one, with the positions of either. For real matrices the imaginary parts
 * of alpha and beta must be 0. Entries that cancel stay as zeros: see `clinalg_sparse_drop_zeros`.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_sparse_add(clinalg_complex alpha,
                                  clinalg_handle a,
                                  clinalg_complex beta,
                                  clinalg_handle b,
                                  clinalg_handle *handle);

/**
 * The `row_count` x `col_count` block of a sparse matrix from row `first_row` and column `first_col` on, as a new one.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_sparse_range(clinalg_handle a,
                                    size_t first_row,
                                    size_t row_count,
                                    size_t first_col,
                                    size_t col_count,
                                    clinalg_handle *handle);

/**
 * The rows and columns of these numbers (0-based) of a sparse matrix, in this order, as a new one; numbers may occur several times. Null
 * instead of `rows` or `cols` takes all.
 *
 * # Safety
 * `rows` and `cols` are null or name `row_count` and `col_count` values; `handle` is null or valid for a write.
 */
clinalg_status clinalg_sparse_select(clinalg_handle a,
                                     const size_t *rows,
                                     size_t row_count,
                                     const size_t *cols,
                                     size_t col_count,
                                     clinalg_handle *handle);

/**
 * The entries of a sparse matrix with low <= column - row <= high as a new one: `(-INFINITY, 0)` is the lower triangle, `(0, INFINITY)` the
 * upper one, `(0, 0)` the diagonal as a matrix.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_sparse_band(clinalg_handle a,
                                   double low,
                                   double high,
                                   clinalg_handle *handle);

/**
 * Removes the stored zeros of a sparse matrix, in place. `entries`, if not null, gets the number of entries that are left.
 * `clinalg_array_fill` with 1 afterwards makes the matrix its own sparsity pattern of ones.
 *
 * # Safety
 * `entries` is null or valid for a write.
 */
clinalg_status clinalg_sparse_drop_zeros(clinalg_handle a,
                                         size_t *entries);

/**
 * The entries of a sparse matrix that are not zero, column by column, as a new vector.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_sparse_nonzeros(clinalg_handle a, clinalg_handle *handle);

/**
 * As `clinalg_sparse_from_csr` with offsets and indices of 32 bits.
 *
 * # Safety
 * As `clinalg_sparse_from_csr`.
 */
clinalg_status clinalg_sparse_from_csr_i32(uint32_t precision,
                                           size_t rows,
                                           size_t cols,
                                           const int32_t *offsets,
                                           const int32_t *indices,
                                           const void *values,
                                           clinalg_handle *handle);

/**
 * As `clinalg_sparse_from_csc` with offsets and indices of 32 bits.
 *
 * # Safety
 * As `clinalg_sparse_from_csc`.
 */
clinalg_status clinalg_sparse_from_csc_i32(uint32_t precision,
                                           size_t rows,
                                           size_t cols,
                                           const int32_t *offsets,
                                           const int32_t *indices,
                                           const void *values,
                                           clinalg_handle *handle);

/**
 * A sparse matrix of `rows` and `cols` from `entries` coordinates in any order: `values[k]` at row `row_indices[k]` and column
 * `col_indices[k]`, 0-based. Entries at the same position are summed, as the assembly of finite elements requires. The
 * matrix remembers the order, in four bytes of host memory per entry given, for `clinalg_sparse_write_coo`.
 *
 * # Safety
 * The arrays name `entries` values; `handle` is null or valid for a write.
 */
clinalg_status clinalg_sparse_from_coo(uint32_t precision,
                                       size_t rows,
                                       size_t cols,
                                       size_t entries,
                                       const size_t *row_indices,
                                       const size_t *col_indices,
                                       const void *values,
                                       clinalg_handle *handle);

/**
 * As `clinalg_sparse_from_coo` with indices of 32 bits.
 *
 * # Safety
 * As `clinalg_sparse_from_coo`.
 */
clinalg_status clinalg_sparse_from_coo_i32(uint32_t precision,
                                           size_t rows,
                                           size_t cols,
                                           size_t entries,
                                           const int32_t *row_indices,
                                           const int32_t *col_indices,
                                           const void *values,
                                           clinalg_handle *handle);

/**
 * Replaces the values of a sparse matrix and keeps their positions: `count` values, as many as the matrix has entries, row by row with
 * ascending columns. That is the order of the arrays of `clinalg_sparse_from_csr` if they were sorted and without duplicates. `precision` must be
 * that of the object. `clinalg_amg_refill` takes the matrix afterwards.
 *
 * # Safety
 * `values` names `count` values of the type `precision`.
 */
clinalg_status clinalg_sparse_write(clinalg_handle a,
                                    uint32_t precision,
                                    const void *values,
                                    size_t count);

/**
 * Replaces the values of a sparse matrix from coordinates and keeps their positions: `count` values, as many and in the
 * same order as `clinalg_sparse_from_coo` was given; those of one position are summed in that order. Copies of the
 * matrix take them as well. Matrices that were made otherwise, or whose zeros `clinalg_sparse_drop_zeros` has removed,
 * are an error: use `clinalg_sparse_write`. `precision` must be that of the object. A failed call does not change the
 * matrix.
 *
 * # Safety
 * `values` names `count` values of the type `precision`.
 */
clinalg_status clinalg_sparse_write_coo(clinalg_handle a,
                                        uint32_t precision,
                                        const void *values,
                                        size_t count);

/**
 * Writes an object to a MatrixMarket file: a coordinate file of a sparse or band matrix, an array file of a vector or dense matrix. A
 * file that exists is replaced.
 *
 * # Safety
 * `path` is null or a path that ends in zero, of any bytes on Unix.
 */
clinalg_status clinalg_matrix_market_write(clinalg_handle handle,
                                           const char *path);

/**
 * The message of the last failure on this thread, in UTF-8; empty before the first.
 *
 * Valid until the next failing call on this thread.
 */
const char *clinalg_last_error_message(void);

/**
 * The identifier `clinalg:<topic>:<what>` of the last failure on this thread; empty before the
 * first. Valid until the next failing call on this thread.
 */
const char *clinalg_last_error_id(void);

/**
 * The library's version, "major.minor.patch"; valid for ever.
 */
const char *clinalg_version(void);

/**
 * A team of the devices of these indices (from 0 on, below the number that `clinalg_device_count` gives), in the order of their ranks. They share
 * the work of what is made on the team. `clinalg_object_release` releases it; what was made on it lives on.
 *
 * # Safety
 * `devices` names `count` values; `team` is null or valid for a write.
 */
clinalg_status clinalg_team_create(const size_t *devices,
                                   size_t count,
                                   clinalg_handle *team);

/**
 * The number of devices of a team, and in `devices`, if not null, the first `capacity` of their indices.
 *
 * # Safety
 * `count` is null or valid for a write; `devices` is null or has room for `capacity` values.
 */
clinalg_status clinalg_team_info(clinalg_handle team,
                                 size_t *count,
                                 size_t *devices,
                                 size_t capacity);

/**
 * A real sparse matrix with its rows distributed over the devices of a team, about as many entries for each. `clinalg_system_solve` takes it
 * in the place of a matrix, without preconditioner, with `CLINALG_PRECONDITIONER_JACOBI` or with the handle of
 * `clinalg_team_amg_create` in `options.inverse`; b and x are vectors on the current device.
 *
 * # Safety
 * `handle` is null or valid for a write.
 */
clinalg_status clinalg_team_matrix_create(clinalg_handle team,
                                          clinalg_handle a,
                                          clinalg_handle *handle);

/**
 * Algebraic multigrid for a matrix on a team, as `clinalg_solver_options.inverse` of its solves. `a` is the sparse matrix on one device that `matrix` was made
 * of; nothing of it is kept. The hierarchy is set up on the device of rank 0, whose memory has to hold it meanwhile; then its finer levels are shared
 * out among the devices. Near-null vectors are constants. K-cycles, Gauss-Seidel sweeps, a hierarchy in single precision and a reusable one are errors.
 * `clinalg_amg_info` tells levels and sizes.
 *
 * # Safety
 * `options` names as many bytes as its first member says; `handle` is null or valid for a write.
 */
clinalg_status clinalg_team_amg_create(const clinalg_amg_options *options,
                                       clinalg_handle matrix,
                                       clinalg_handle a,
                                       clinalg_handle *handle);

/**
 * Solves -Laplace u + c u = f on strips of the unit square, or slabs of the unit cube, one for each device of a team, for vectors or dense
 * matrices of one precision. The options are those of a regular grid, see `clinalg_poisson_options`, without a coefficient; `precision` is not read.
 * `*u` holds the values on the boundary and the initial guess on entry and the solution on return. If `*u` is 0, a new object like f is
 * made, and both are zero. The solution after each cycle has the bits of one device. `progress`, `report` and `history` as in
 * `clinalg_poisson_solve`.
 *
 * # Safety
 * As `clinalg_poisson_create` and `clinalg_poisson_solve_vector`.
 */
clinalg_status clinalg_team_solve_poisson(const clinalg_poisson_options *options,
                                          clinalg_handle team,
                                          clinalg_handle f,
                                          clinalg_handle *u,
                                          clinalg_progress progress,
                                          void *progress_data,
                                          clinalg_poisson_report *report,
                                          double *history,
                                          size_t capacity);

/**
 * `clinalg_wave_create` on strips of a square, one for each device of a team, for the explicit scheme with one speed. All functions on waves take the
 * handle; grids that they read or write are on the current device. Displacement and velocity have the bits of one device.
 *
 * # Safety
 * `options` names as many bytes as its first member says; `wave` is null or valid for a write.
 */
clinalg_status clinalg_team_wave_create(const clinalg_wave_options *options,
                                        clinalg_handle team,
                                        clinalg_handle *wave);

/**
 * The defaults: leapfrog by kernels on the unit square with fixed sides and 1025 points per side, c = 1, c dt / h =
 * 1/2, up to 8 steps per pass, double precision. `struct_size` is `sizeof(clinalg_wave_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_wave_options_default(clinalg_wave_options *options,
                                            size_t struct_size);

/**
 * The largest stable time step of the explicit scheme, 1 / (c sqrt(sum of 1 / h^2)) with the largest speed c and the
 * spacing h of each direction. `options->dt` is not read.
 *
 * # Safety
 * `options` names as many bytes as its first member says, `speed` there as many values as its number says; `result` is
 * null or valid for a write.
 */
clinalg_status clinalg_wave_limit(const clinalg_wave_options *options,
                                  double *result);

/**
 * Creates a wave with u = 0 at rest on the current device: u_tt = c^2 Laplace u on a box of two or three dimensions,
 * with a condition on each side. A square takes kernels of its own. A time step past the stability limit of the
 * explicit scheme is an error that names the limit. `clinalg_object_release` releases it. Options of a larger size
 * than this library knows are an error.
 *
 * # Safety
 * `options` names as many bytes as its first member says, `speed` there as many values as its number says; `wave` is
 * valid for a write.
 */
clinalg_status clinalg_wave_create(const clinalg_wave_options *options,
                                   clinalg_handle *wave);

/**
 * Sets displacement and velocity at time 0, vectors or dense matrices with a value for each point, x fastest; a `v` of
 * 0 stands for rest. The values of u on fixed sides stay, those of v are not read. Except on squares the values pass
 * through the host's memory. `report` may be null.
 *
 * # Safety
 * `report` is null or valid for a write.
 */
clinalg_status clinalg_wave_start(clinalg_handle wave,
                                  clinalg_handle u,
                                  clinalg_handle v,
                                  clinalg_wave_report *report);

/**
 * Makes `steps` steps. The explicit scheme only enqueues them. The implicit one stops where an
 * equation is not solved, which is no failed call: look at `report`, which may be null.
 *
 * # Safety
 * `report` is null or valid for a write.
 */
clinalg_status clinalg_wave_step(clinalg_handle wave, size_t steps, clinalg_wave_report *report);

/**
 * As `clinalg_wave_step`, but waits for the device about ten times a second and then calls `progress` with the number
 * of steps made by this call and, in place of a residual, the time reached. If `progress` returns a number other than
 * 0, the call ends: it returns success, and `stop` of the report is `CLINALG_STOP_CANCELLED`. The results are bitwise
 * those of `clinalg_wave_step`.
 *
 * # Safety
 * `progress` is null or a function that takes `progress_data`; `report` is null or valid for a write.
 */
clinalg_status clinalg_wave_step_with(clinalg_handle wave,
                                      size_t steps,
                                      clinalg_progress progress,
                                      void *progress_data,
                                      clinalg_wave_report *report);

/**
 * The displacement into `*u`; 0 there makes a new matrix: a row for each point along x, and a column for each
 * combination of the others, y fastest.
 *
 * # Safety
 * `u` is valid for reading and writing.
 */
clinalg_status clinalg_wave_displacement(clinalg_handle wave,
                                         clinalg_handle *u);

/**
 * The velocity into `*v`, as `clinalg_wave_displacement`; except on squares through the host's memory.
 * `clinalg_wave_start` with it and the displacement continues the same motion.
 *
 * # Safety
 * `v` is valid for reading and writing.
 */
clinalg_status clinalg_wave_velocity(clinalg_handle wave,
                                     clinalg_handle *v);

/**
 * The discrete energy half a step before the time reached, of a medium whose density is 1 where the speed is largest:
 * without absorbing sides the sum stays the same. Each pointer may be null.
 *
 * # Safety
 * The pointers are null or valid for a write.
 */
clinalg_status clinalg_wave_energy(clinalg_handle wave,
                                   double *kinetic,
                                   double *potential);

/**
 * The defaults: 100 steps of Euler's method of 1e-4 in one window, iterated until its solution is reached, blocks of 32 by 32 points, double
 * precision. `struct_size` is `sizeof(clinalg_waveform_options)`.
 *
 * # Safety
 * `options` is null or has room for `struct_size` bytes.
 */
clinalg_status clinalg_waveform_options_default(clinalg_waveform_options *options,
                                                size_t struct_size);

/**
 * Integrates on the current device by waveform relaxation from `t0`, where the solution is `y0`; `y` gets the solution after
 * the last step. Components are all points of the first field, then those of the next. `variant` is the name of the blocks
 * and of what is stored: "component" (null for this one), "point", "block", "block-boundary", "device", "copy-all" or
 * "copy-access-distance". `iterations`, if not null, gets those of the first `capacity` windows; `report` may be null. A failed call
 * does not change `y`.
 *
 * # Safety
 * `variant` is null or a text that ends in zero; `options` names as many bytes as its first member says; `y0` names `components`
 * values and `y` has room for them; the method in `options` is null or a text that ends in zero, `reached` there null or valid for a write; `report` is null or valid for a write, `iterations` null or valid for `capacity` values.
 */
clinalg_status clinalg_waveform_solve(clinalg_handle ode,
                                      const char *variant,
                                      const clinalg_waveform_options *options,
                                      double t0,
                                      const double *y0,
                                      size_t components,
                                      double *y,
                                      clinalg_waveform_report *report,
                                      size_t *iterations,
                                      size_t capacity);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
