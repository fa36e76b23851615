function a = allocate(rows, cols, class)
%clinalg.allocate  Make a full matrix of zeros on the device.
%   a = clinalg.allocate(rows, cols)
%   a = clinalg.allocate(rows, cols, class)
%
%   class is 'double' (default) or 'single'. a is a clinalg.array.
%
%   Example:
%     a = clinalg.allocate(3, 1);
%     gather(a + 1)
%
%   See also clinalg.matrix, clinalg.array.
if nargin < 2
  clinalg_mex('MexZeros', 0);
elseif nargin < 3
  class = 'double';
end
a = clinalg.array(clinalg_mex('MexZeros', 0, rows, cols, clinalg.operands.names_single('clinalg.allocate', class)));
end
