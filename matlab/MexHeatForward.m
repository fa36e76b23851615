function h = MexHeatForward(gpu, A)
%MexHeatForward  Make the inverse of an operator of the heat equation, by block forward elimination.
%   h = MexHeatForward(gpu, A)
%
%   A is an operator V or D of MexHeatOperator. Its diagonal block is inverted here; each product with h,
%   x = MexMultiply(gpu, h, b), then solves A x = b up to rounding in one pass through time. h can also be a
%   preconditioner. It keeps the operator alive: A may be released before it. MexRelease frees it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
%     V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 4);
%     b = MexMatrix(gpu, ones(16, 1));
%     w = MexMultiply(gpu, MexHeatForward(gpu, V), b);
%     MexNorm2(gpu, MexVectorMinusVector(gpu, MexMultiply(gpu, V, w), b))
%
%   See also MexHeatOperator, MexHeatOperatorPreconditioner, MexMultiply, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
try
  h = clinalg_mex('MexHeatForward', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexHeatForward'); end
  rethrow(problem);
end
end
