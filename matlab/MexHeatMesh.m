function [nodes, triangles] = MexHeatMesh(gpu, file)
%MexHeatMesh  Read a closed surface of triangles from a file.
%   [nodes, triangles] = MexHeatMesh(gpu, file)
%
%   The extension of the file tells the format: .obj, .off, .stl or .msh (Gmsh 2 or 4, ASCII); polygons are cut into triangles.
%   nodes is n x 3, triangles m x 3 with the numbers of nodes from 1 on, as MexHeatOperator takes them.
%
%   Example:
%     gpu = MexInitOpenCL();
%     name = [tempname(), '.off'];
%     f = fopen(name, 'w');
%     fprintf(f, 'OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n');
%     fclose(f);
%     [nodes, triangles] = MexHeatMesh(gpu, name);
%     delete(name);
%     triangles
%
%   See also MexHeatOperator.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [nodes, triangles] = clinalg_mex('MexHeatMesh', gpu, file);
catch problem
  if nargin < 2, clinalg_mex('MexHeatMesh'); end
  rethrow(problem);
end
end
