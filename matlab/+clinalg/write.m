function write(a, file)
%clinalg.write  Write an array to a MatrixMarket file.
%   clinalg.write(a, file)
%
%   a is a clinalg.array; a sparse or band matrix is written as a coordinate file, a full one as an array file. An
%   existing file is replaced.
%
%   Example:
%     file = [tempname() '.mtx'];
%     clinalg.write(clinalg.matrix([1 2; 3 4]), file);
%     type(file)
%     delete(file)
%
%   See also clinalg.read, MexWriteMarket.
if nargin < 2
  clinalg_mex('MexWriteMarket', 0);
elseif ~isa(a, 'clinalg.array')
  error('clinalg:argument:class', 'clinalg.write: a is of class %s, expected a clinalg.array', class(a));
elseif isa(file, 'string')
  file = char(file);
end
clinalg_mex('MexWriteMarket', 0, a.h, file);
end
