% clinalg: matrices and vectors on an OpenCL device
%
% Arrays
%   array     - matrix or vector on the device, with MATLAB's operators
%   operations - operators and functions of array that run on the device
%   hosted    - functions of array that compute in MATLAB's memory
%   decomposition - factors of a matrix for many right-hand sides
%   factorisations - lu, chol, qr, inv, det of arrays, and large sparse systems
%   operands  - what the methods of array have in common
%   matrix    - copy a matrix or vector to the device
%   vector    - copy a vector to the device
%   gpuArray  - array on the device by the names of MATLAB's gpuArray
%   allocate  - make a full matrix of zeros on the device
%   read      - read a MatrixMarket file to the device
%   write     - write an array to a MatrixMarket file
%   store     - save variables to a file, arrays by their values
%   restore   - load the variables that store has saved
%
% Systems of equations
%   solve     - solve a sparse system by the method and the preconditioner that suit the matrix
%   pcg       - conjugate gradients on the device
%   bicgstab  - stabilised biconjugate gradients on the device
%   gmres     - generalised minimal residuals on the device
%   minres    - minimal residuals for symmetric matrices on the device
%   lsqr      - least squares on the device by LSQR
%   krylov    - what pcg, bicgstab, gmres and minres have in common
%   precond   - preconditioner of a sparse matrix: incomplete factors, approximate inverses
%   ilu       - incomplete LU factors of a sparse matrix
%   ichol     - incomplete Cholesky factor of a sparse matrix
%   amg       - algebraic multigrid preconditioner of a sparse matrix
%   saddle    - block preconditioner for a saddle point
%   eigs      - a few eigenvalues and eigenvectors of a symmetric matrix
%   poisson   - multigrid solver of the Poisson problem
%   wave      - waves on squares and boxes of two or three dimensions
%   ode       - solve differential equations, called like ode45
%   deval     - the solution of ode between its steps
%   waveform  - solve differential equations by waveform relaxation
%   equations - the text of differential equations, for MexOde and MexWaveform
%   heat_operator - boundary integral operator of the heat equation
%   heat_forward  - direct solver for such an operator
%   heat_operator_preconditioner - preconditioner for such an operator
%   heat_mesh       - read a closed surface of triangles from a file
%   heat_project    - project boundary values onto the vectors of such an operator
%   heat_right_side - right-hand side of a boundary value problem of the heat equation
%   heat_interior   - temperature inside, from the boundary values
%   elastodynamics - waves in an elastic material by boundary elements
%   factor        - factorisation or inverse operator: M \ b, and preconditioners
%
% Devices
%   devices   - list the OpenCL devices
%   device    - the device in use; choose another
%   team      - several devices that share the work of a problem
%   memory    - memory that arrays take on the device
%   wait      - wait until the device has done its work
%   shutdown  - free all memory on the device and let the library be cleared
%
% The functions Mex* do the same with handles.
