function a = read(file, class)
%clinalg.read  Read a MatrixMarket file to the device.
%   a = clinalg.read(file)
%   a = clinalg.read(file, class)
%
%   A coordinate file is read into a sparse matrix, an array file into a full one; both are complex if the file is.
%   class is 'double' (default) or
%   'single'. a is a clinalg.array.
%
%   Example:
%     file = [tempname() '.mtx'];
%     clinalg.write(clinalg.matrix(speye(3)), file);
%     a = clinalg.read(file)
%     delete(file)
%
%   See also clinalg.write, MexReadMarket.
if nargin < 1
  clinalg_mex('MexReadMarket', 0);
elseif nargin < 2
  class = 'double';
end
if isa(file, 'string')
  file = char(file);
end
a = clinalg.array(clinalg_mex('MexReadMarket', 0, file, clinalg.operands.names_single('clinalg.read', class)));
end
