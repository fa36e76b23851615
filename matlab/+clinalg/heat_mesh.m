function [nodes, triangles] = heat_mesh(file)
%clinalg.heat_mesh  Read a closed surface of triangles from a file.
%   [nodes, triangles] = clinalg.heat_mesh(file)
%
%   The extension tells the format: .obj, .off, .stl or .msh (Gmsh 2 or 4, ASCII); polygons are cut into triangles. nodes is n x 3,
%   triangles m x 3 with the numbers of nodes from 1 on, as clinalg.heat_operator takes them.
%
%   Example:
%     file = [tempname(), '.off'];
%     f = fopen(file, 'w');
%     fprintf(f, '%s\n', 'OFF', '4 4 0', '0 0 0', '1 0 0', '0 1 0', '0 0 1', '3 0 2 1', '3 0 1 3', '3 0 3 2', '3 1 2 3');
%     fclose(f);
%     [nodes, triangles] = clinalg.heat_mesh(file);
%     delete(file);
%     triangles
%
%   See also clinalg.heat_operator, clinalg.heat_project, MexHeatMesh.
if nargin < 1
  error('clinalg:argument:count', 'clinalg.heat_mesh: the call is clinalg.heat_mesh(file)');
end
[nodes, triangles] = clinalg_mex('MexHeatMesh', 0, char(file));
end
