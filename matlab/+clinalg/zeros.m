function a = zeros(rows, cols, class)
%clinalg.zeros  Make a full matrix of zeros on the device.
%   a = clinalg.zeros(rows, cols)
%   a = clinalg.zeros(rows, cols, class)
%
%   class is 'double' (default) or 'single'. a is a clinalg.array.
%
%   Example:
%     a = clinalg.zeros(3, 1);
%     gather(a + 1)
%
%   See also clinalg.matrix, clinalg.array.
if nargin < 2
  clinalg_mex('MexZeros', 0);
elseif nargin < 3
  class = 'double';
end
a = clinalg.array(clinalg_mex('MexZeros', 0, rows, cols, clinalg.array.names_single('clinalg.zeros', class)));
end
