% clinalg: linear algebra on any OpenCL device
% Version 0.1.0
%
% Devices and sessions
%   MexInitOpenCL                  - Start a session and get its handle.
%   MexPrintGPU                    - List the OpenCL devices.
%   MexSetGPU                      - Choose the device.
%   MexDeviceInfo                  - Properties of the current device.
%   MexMemory                      - Memory that objects take on the device.
%   MexFinish                      - Wait until the device has done its work.
%   MexReleaseOpenCL               - End a session and free all its objects.
%   MexShutdown                    - Free everything and unlock the library.
%   MexVersion                     - Version of the library.
%
% Objects on the device
%   MexMatrix                      - Copy a full matrix or vector to the device.
%   MexSparseMatrix                - Copy a sparse matrix to the device.
%   MexBandMatrix                  - Copy a band matrix to the device.
%   MexZeros                       - Make a full matrix of zeros on the device.
%   MexHandleMatrix                - Copy an object from the device.
%   MexWriteMatrix                 - Replace the values of a full matrix or vector on the device.
%   MexCopy                        - Copy an object on the device.
%   MexConvert                     - Copy an object in single or double precision.
%   MexFill                        - Set every stored value of an object.
%   MexSlice                       - Copy a part of a full matrix or vector to a new vector.
%   MexWriteSlice                  - Replace a part of a full matrix or vector on the device.
%   MexSize                        - Number of rows and columns of an object.
%   MexExplain                     - How products of a sparse matrix run; what an array waits for.
%   MexSetFormat                   - Choose how the products of a sparse matrix run.
%   MexInfo                        - Kind, precision and shape of the object of a handle.
%   MexTranspose                   - Transpose a full or sparse matrix.
%   MexDiagonal                    - Copy the main diagonal of a matrix to a new vector.
%   MexReadMarket                  - Read a MatrixMarket file to the device.
%   MexWriteMarket                 - Write an object to a MatrixMarket file.
%   MexReleaseMatrix               - Free a full matrix or vector.
%   MexReleaseSparseMatrix         - Free a sparse matrix.
%   MexReleaseBandMatrix           - Free a band matrix.
%   MexRelease                     - Free an object of any kind, if it is still there.
%
% Linear algebra
%   MexMatrixVector                - Product of a full matrix and a vector.
%   MexSparseMatrixVector          - Product of a sparse matrix and a vector.
%   MexBandMatrixVector            - Product of a band matrix and a vector.
%   MexMatrixTransposeVector       - Product of the transpose of a full matrix and a vector.
%   MexSparseMatrixTransposeVector - Product of the transpose of a sparse matrix and a vector.
%   MexMultiply                    - Product of a matrix of any kind and a vector.
%   MexMultiplyTranspose           - Product of the transpose of a full or sparse matrix and a vector.
%   MexMultiplyAdd                 - alpha A x + beta y for a matrix of any kind.
%   MexVectorPlusVector            - Sum of two objects.
%   MexVectorMinusVector           - Difference of two objects.
%   MexVectorMinusVectorConstant   - a - k b.
%   MexVectorTimesConstant         - An object times a number.
%   MexVectorTimesVector           - Product of two objects, element by element.
%   MexAxpby                       - alpha x + beta y.
%   MexSum                         - Sum of all values.
%   MexDot                         - Dot product.
%   MexNorm1                       - Sum of magnitudes.
%   MexNorm2                       - Euclidean norm.
%   MexNormInf                     - Largest magnitude.
%
% Arrays
%   MexTake                        - Rows and columns of a full matrix.
%   MexTakeLinear                  - Elements of a full matrix or vector by their number.
%   MexPut                         - Write rows and columns of a full matrix.
%   MexPutLinear                   - Write elements of a full matrix or vector by their number.
%   MexMap                         - A function of each element of an array.
%   MexMap2                        - A function of the elements of two arrays.
%   MexReduce                      - Sums, products or extrema of the columns or rows of an array.
%   MexMultiplyColumns             - Product of a matrix of any kind with the columns of a full one.
%   MexMatrixMatrix                - Product of two full matrices, their transposes or conjugate transposes.
%   MexLazy                        - A function of each element, evaluated when it is read.
%   MexLazy2                       - A function of the elements of two arrays, evaluated when it is read.
%   MexMark                        - Note that the caller keeps the dimensions of an array.
%   MexElement                     - An element of a full matrix or vector.
%   MexWithElement                 - A copy of a full matrix or vector with another element.
%   MexVectorNumber                - Sum or norm of a vector.
%   MexSmallProduct                - Product of a matrix of any kind and a column or of small matrices, where the operands fit.
%   MexSmallTranspose              - The transpose of a small full matrix.
%   MexSmallSolve                  - Solve a small system with a full matrix.
%   MexJoin                        - Full arrays side by side or one below the other.
%   MexPart                        - Elements of a full array by a subscript.
%   MexBlock                       - Rows and columns of a full array by two subscripts.
%   MexWithPart                    - A copy of a full array with other elements, by a subscript.
%   MexWithBlock                   - A copy of a full array with other rows and columns, by two subscripts.
%
% Sparse algebra
%   MexSparseMultiply              - Product of two sparse matrices.
%   MexSparseAdd                   - alpha A + beta B of sparse matrices.
%   MexSparsePart                  - Rows and columns of a sparse matrix.
%   MexSparseBand                  - Some diagonals of a sparse matrix.
%   MexDropZeros                   - Remove the stored zeros of a sparse matrix.
%   MexNonzeros                    - The entries of a sparse matrix that are not zero.
%
% Complex numbers
%   MexComplex                     - A complex object from its parts.
%   MexRealPart                    - The real parts of an object.
%   MexImagPart                    - The imaginary parts of an object.
%   MexAbs                         - The magnitudes of the values of an object.
%   MexConj                        - The conjugate of an object, element by element.
%   MexConjTranspose               - Conjugate transpose of a full or sparse matrix.
%   MexDotu                        - Dot product without conjugation.
%   MexMultiplyOp                  - Product of a matrix, its transpose or its conjugate transpose and a vector.
%
% Systems of equations and eigenvalues
%   MexSolveDense                  - Solve a system with a full matrix by factorisation.
%   MexSolveDirect                 - Solve a system with a sparse matrix by a complete factorisation.
%   MexLu                          - LU factorisation of a full matrix.
%   MexCholesky                    - Cholesky factorisation of a full matrix.
%   MexQr                          - QR factorisation of a full matrix.
%   MexInverse                     - Inverse of a full matrix.
%   MexDeterminant                 - Determinant of a full matrix.
%   MexFactorisation               - Factors of a matrix for many right-hand sides.
%   MexFactorisationSolve          - Solve a system with factors.
%   MexFactorisationRefill         - New values for the factors of a sparse matrix.
%   MexFactorisationReport         - What the factors of a sparse matrix are.
%   MexFactorisationCondition      - Reciprocal condition number of a matrix, from its factors.
%   MexFactorisationDeterminant    - Determinant of a matrix, from its factors.
%   MexCG                          - Solve a symmetric positive definite system by conjugate gradients.
%   MexBiCGStab                    - Solve a system by stabilised biconjugate gradients.
%   MexMINRES                      - Solve a symmetric system by minimal residuals.
%   MexGMRES                       - Solve a system by generalised minimal residuals.
%   MexLSQR                        - Solve a least-squares problem by LSQR.
%   MexSolveSparse                 - Solve a sparse system by a method and a preconditioner that suit the matrix.
%   MexSolveBegin                  - Begin a Krylov method whose products the caller computes.
%   MexSolveNext                   - Give a product to a Krylov method, and ask for the next.
%   MexSolveEnd                    - End a Krylov method begun by MexSolveBegin.
%   MexPreconditioner              - Make a preconditioner of a sparse matrix.
%   MexPreconditionerInfo          - Kind, entries and levels of a preconditioner.
%   MexAmg                         - Make an algebraic multigrid preconditioner.
%   MexAmgInfo                     - Levels, sizes and complexities of algebraic multigrid.
%   MexAmgRefill                   - Fill an algebraic multigrid hierarchy with new values.
%   MexAmgFactor                   - How much a cycle of algebraic multigrid reduces the error.
%   MexIncompleteLU                - Incomplete LU factors of a sparse matrix.
%   MexIncompleteCholesky          - Incomplete Cholesky factor of a sparse matrix.
%   MexTriangular                  - Make a preconditioner of triangular factors.
%   MexSaddle                      - Make a block preconditioner for a saddle point.
%   MexSaddleInfo                  - Blocks and parts of a preconditioner for a saddle point.
%   MexEigs                        - Find a few eigenvalues and eigenvectors of a symmetric matrix.
%
% Grids and the Poisson problem
%   MexJacobi                      - Jacobi sweeps for the Poisson problem.
%   MexRBGS                        - Red-black Gauss-Seidel sweeps for the Poisson problem.
%   MexPoissonDefect               - Defect of the Poisson problem.
%   MexCoarseToFine                - Interpolate a grid to the next finer one.
%   MexFineToCoarse                - Restrict a grid to the next coarser one.
%   MexPoisson                     - Make a solver of the Poisson problem on a square, a cube or another box.
%   MexPoissonSide                 - Set the values of a side of a box.
%   MexPoissonSolve                - Solve the Poisson problem by multigrid.
%   MexPoissonOperator             - Matrix of the Poisson problem, as an operator.
%   MexPoissonPreconditioner       - Multigrid cycle as a preconditioner.
%   MexPoissonRightSide            - Right-hand side for the operator of the Poisson problem.
%   MexPoissonPoints               - Values at all points, from the unknowns.
%
% The wave equation
%   MexWave                        - Make a wave on a box of two or three dimensions.
%   MexWaveLimit                   - Largest stable time step of the explicit scheme.
%   MexWaveStart                   - Set displacement and velocity of a wave at time 0.
%   MexWaveStep                    - Make time steps.
%   MexWaveDisplacement            - Displacement of a wave.
%   MexWaveVelocity                - Velocity of a wave.
%   MexWaveEnergy                  - Energy of a wave.
%
% Several devices
%   MexTeam                        - Make a team of devices that share the work of a problem.
%   MexTeamInfo                    - The devices of a team.
%   MexTeamMatrix                  - Share the rows of a sparse matrix out among the devices of a team.
%   MexTeamAmg                     - Make an algebraic multigrid preconditioner on a team.
%   MexTeamPoisson                 - Solve the Poisson problem by multigrid on a team.
%   MexTeamWave                    - Make a wave on a team.
%
% Differential equations
%   MexOde                         - Solve an initial value problem of ordinary differential equations.
%   MexOdeBegin                    - Start an integration that is continued step by step.
%   MexOdeNext                     - The next step of a solution.
%   MexOdeEnd                      - End a solution begun by MexOdeBegin.
%   MexWaveform                    - Solve an initial value problem by waveform relaxation.
%
% Boundary elements for the heat equation
%   MexHeatOperator                - Make a boundary integral operator of the heat equation.
%   MexHeatForward                 - Make the inverse of an operator of the heat equation, by block forward elimination.
%   MexHeatOperatorPreconditioner  - Make a preconditioner for an operator of the heat equation.
%   MexHeatMesh                    - Read a closed surface of triangles from a file.
%   MexHeatSamples                 - Points and times where boundary values are projected.
%   MexHeatProject                 - Project boundary values onto the vectors of an operator.
%   MexHeatRightSide               - Right-hand side of a boundary value problem of the heat equation.
%   MexHeatInterior                - Temperature inside, from the boundary values.
%
% Boundary elements for elastodynamics
%   MexElasto                      - Make a problem of elastodynamics: a surface with a material on one side.
%   MexElastoAssemble              - Assemble the matrices H and G of elastodynamics on the device.
%   MexElastoMatrices              - Assemble the matrices H and G of a problem of elastodynamics.
%   MexElastoSurface               - Centres and normals of the boundary elements of a problem of elastodynamics.
%   MexElastoSolve                 - Solve a problem of elastodynamics for given boundary values.
%   MexElastoEvaluate              - Displacements and stresses of elastodynamics at points in the material.
%
% Objects that behave like matrices: see <a href="matlab:help clinalg">clinalg</a>.
