function c = MexMap(gpu, name, a)
%MexMap  A function of each element of an array.
%   c = MexMap(gpu, name, a)
%
%   c = name(a), element by element, for a full real matrix or vector: a new object. name is 'abs', 'asinh', 'atan', 'ceil',
%   'cos', 'cosh', 'exp', 'expm1', 'fix', 'floor', 'log', 'round', 'sign', 'sin', 'sinh', 'sqrt', 'tan', 'tanh' or 'uminus'. log
%   and sqrt of negative numbers are NaN.
%
%   Example:
%     gpu = MexInitOpenCL();
%     c = MexMap(gpu, 'exp', MexMatrix(gpu, [0 1 2]));
%     MexHandleMatrix(gpu, c)
%
%   See also MexMap2, MexLazy, MexAbs.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexMap', gpu, name, a);
catch problem
  if nargin < 3, clinalg_mex('MexMap'); end
  rethrow(problem);
end
end
