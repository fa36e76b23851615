function c = MexMap2(gpu, name, a, b)
%MexMap2  A function of the elements of two arrays.
%   c = MexMap2(gpu, name, a, b)
%
%   c = name(a, b), element by element, for full matrices or vectors of one precision, both real or both complex: a new object. A
%   row, a column or a single element is repeated. name is 'plus', 'minus', 'times' or 'rdivide', of real arrays also 'max',
%   'min', 'atan2', 'hypot', 'power', 'mod' or 'rem'.
%
%   Example:
%     gpu = MexInitOpenCL();
%     c = MexMap2(gpu, 'rdivide', MexMatrix(gpu, [1; 2]), MexMatrix(gpu, [3 4 7]));
%     MexHandleMatrix(gpu, c)
%
%   See also MexMap, MexLazy2, MexVectorTimesVector, MexAxpby.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexMap2', gpu, name, a, b);
catch problem
  if nargin < 4, clinalg_mex('MexMap2'); end
  rethrow(problem);
end
end
