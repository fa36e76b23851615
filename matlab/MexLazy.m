function c = MexLazy(gpu, name, a)
%MexLazy  A function of each element, evaluated when it is read.
%   c = MexLazy(gpu, name, a)
%
%   c = name(a), element by element, for a full matrix or vector: a new object that is evaluated when a call needs its values,
%   together with the operations that it is made of. name is as for MexMap, of complex arrays 'exp', 'log', 'sqrt', 'sin', 'cos',
%   'uminus' or 'conj'. c is 0 where the device has no such function, or the result of a real array may be complex ('sqrt' of what
%   may be negative). a may also be a clinalg.array.
%
%   Example:
%     gpu = MexInitOpenCL();
%     c = MexLazy(gpu, 'exp', MexMatrix(gpu, [0 1 2]));
%     MexExplain(gpu, c)
%     MexHandleMatrix(gpu, c)
%
%   See also MexLazy2, MexMap, MexExplain.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexLazy', gpu, name, a);
catch problem
  if nargin < 3, clinalg_mex('MexLazy'); end
  rethrow(problem);
end
end
