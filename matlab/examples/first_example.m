function [A, C] = first_example()
%first_example  Matrices to the device, a product in both precisions, results back.
%   [A, C] = first_example()
%
%   A is the double, C the single precision result.

% Start a session.
gpu = MexInitOpenCL();

% Which devices are there?
MexPrintGPU(gpu);

% Choose the first one, with double precision.
MexSetGPU(gpu, 0, 1);

% Matrices.
A = [1; 2; 3];
B = sparse([1, 2, 3], [1, 2, 3], [1, 2, 3]);

% Copy them to the device.
AHandle = MexMatrix(gpu, A);
BHandle = MexSparseMatrix(gpu, B);

% The same in single precision.
C = single(A);
CHandle = MexMatrix(gpu, C);
DHandle = MexSparseMatrix(gpu, B, 1);

% Room for the results.
outDouble = MexMatrix(gpu, A);
outSingle = MexMatrix(gpu, C);

% Sparse matrix times vector in both precisions.
MexSparseMatrixVector(gpu, BHandle, AHandle, outDouble);
MexSparseMatrixVector(gpu, DHandle, CHandle, outSingle);

% Copy the results back.
A = MexHandleMatrix(gpu, outDouble);
C = MexHandleMatrix(gpu, outSingle);

% Clean up.
MexReleaseSparseMatrix(gpu, BHandle);
MexReleaseSparseMatrix(gpu, DHandle);
MexReleaseMatrix(gpu, AHandle);
MexReleaseMatrix(gpu, CHandle);
MexReleaseMatrix(gpu, outDouble);
MexReleaseMatrix(gpu, outSingle);

% End the session.
MexReleaseOpenCL(gpu);
end
