function a = read(file, class)
%clinalg.read  Read a MatrixMarket file to the device.
%   a = clinalg.read(file)
%   a = clinalg.read(file, class)
%
%   A coordinate file is read into a sparse matrix, an array file into a full one; both are complex if the file is.
%   A file whose name ends in .gz is unpacked first. class is 'double' (default) or 'single'. a is a clinalg.array.
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
is_single = clinalg.operands.names_single('clinalg.read', class);
if numel(file) > 3 && strcmpi(file(end - 2 : end), '.gz') && exist(file, 'file')
  folder = tempname();
  mkdir(folder);
  removed = onCleanup(@() remove(folder));
  [~, name] = fileparts(file);
  packed = fullfile(folder, [name, '.gz']);
  copyfile(file, packed);
  gunzip(packed, folder);
  file = fullfile(folder, name);
end
a = clinalg.array(clinalg_mex('MexReadMarket', 0, file, is_single));
end

function remove(folder)
files = dir(folder);
for k = find(~[files.isdir])
  delete(fullfile(folder, files(k).name));
end
rmdir(folder);
end
