function x = vector(values, varargin)
%clinalg.vector  Copy a vector to the device.
%   x = clinalg.vector(values)
%   x = clinalg.vector(values, class)
%
%   values is a row or column, real or complex; the copy has its shape. class is 'double' or 'single'; without it the
%   copy has the class of values (logical becomes double). x is a clinalg.array.
%
%   Example:
%     x = clinalg.vector([3; 4]);
%     norm(x)
%
%   See also clinalg.matrix, clinalg.array.
if nargin < 1 || nargin > 2
  error('clinalg:argument:count', 'clinalg.vector: the call is clinalg.vector(values [, class])');
elseif ~isvector(values)
  error('clinalg:argument:shape', 'clinalg.vector: values is %d x %d, expected a row or a column', ...
    size(values, 1), size(values, 2));
end
if issparse(values)
  values = full(values);
end
x = clinalg.matrix(values, varargin{:});
end
