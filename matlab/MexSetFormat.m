function MexSetFormat(gpu, A, format)
%MexSetFormat  Choose how the products of a sparse matrix run.
%   MexSetFormat(gpu, A [, format])
%
%   format is 'best' for the best format for the current values (default), 'csr', 'balanced', 'dia',
%   'stencil', 'bsr' or 'sell'. A format that the matrix or the device does not support is an error and
%   changes nothing.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, speye(1000));
%     MexSetFormat(gpu, A, 'csr');
%     MexExplain(gpu, A)
%
%   See also MexExplain.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, format = []; end
try
  clinalg_mex('MexSetFormat', gpu, A, format);
catch problem
  if nargin < 2, clinalg_mex('MexSetFormat'); end
  rethrow(problem);
end
end
