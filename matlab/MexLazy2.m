function c = MexLazy2(gpu, name, a, b)
%MexLazy2  A function of the elements of two arrays, evaluated when it is read.
%   c = MexLazy2(gpu, name, a, b)
%
%   c = name(a, b), element by element, for full matrices or vectors of one class and numbers: a new object that is evaluated when
%   a call needs its values, together with the operations that it is made of. A row, a column or a single element is repeated.
%   name is as for MexMap2. c is 0 where the device has no such function of these operands: of two classes, of two numbers, of
%   sparse or empty arrays, of sizes that do not agree, of arrays that MexMark named, and where the result of real arrays may be
%   complex ('power'). a and b may also be of class clinalg.array; beside one, a uint64 is a number and c is 0.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [1; 2]);
%     c = MexLazy2(gpu, 'plus', MexLazy2(gpu, 'times', a, 2), MexMatrix(gpu, [3 4 7]));
%     MexExplain(gpu, c)
%     MexHandleMatrix(gpu, c)
%
%   See also MexLazy, MexMap2, MexExplain.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexLazy2', gpu, name, a, b);
catch problem
  if nargin < 4, clinalg_mex('MexLazy2'); end
  rethrow(problem);
end
end
