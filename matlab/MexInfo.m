function info = MexInfo(gpu, h)
%MexInfo  Kind, precision and shape of the object of a handle.
%   info = MexInfo(gpu, h)
%
%   info is a structure with the fields
%     kind        'full', 'sparse', 'band', 'wave', 'operator', 'elastodynamics' or 'poisson'
%     class       'double' or 'single'
%     complex     whether the values are complex
%     rows, cols  the shape
%     entries     number of values of a full matrix, of stored entries of a sparse one, 0 for a band
%     kl, ku      number of sub- and superdiagonals of a band matrix, else 0
%
%   Example:
%     gpu = MexInitOpenCL();
%     info = MexInfo(gpu, MexSparseMatrix(gpu, speye(3)));
%     info.entries
%
%   See also MexSize, MexMemory.

% Made from the table in crates/clinalg-mex; edit it there.
try
  info = clinalg_mex('MexInfo', gpu, h);
catch problem
  if nargin < 2, clinalg_mex('MexInfo'); end
  rethrow(problem);
end
end
