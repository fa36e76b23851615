function [H, G] = MexElastoAssemble(gpu, nodes, elements, material, frequency, domain, boundary, rule, single)
%MexElastoAssemble  Assemble the matrices H and G of elastodynamics on the device.
%   [H, G] = MexElastoAssemble(gpu, nodes, elements, material, frequency [, domain] [, boundary] [, rule] [, single])
%
%   H u = G t at the angular frequency, complex, 3 m x 3 m for m elements: row 3 (i - 1) + l is for a force in the
%   direction l at the centre of element i, column 3 (j - 1) + k for the component k on element j. Frequency 0 gives
%   the static matrices. The other arguments are those of MexElasto, which keeps what several frequencies share.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
%     elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
%     [H, G] = MexElastoAssemble(gpu, nodes, elements, [1 0.3 1], 0);
%     H = MexHandleMatrix(gpu, H);
%     max(abs(sum(H(:, 1 : 3 : end), 2))) < 1e-12
%
%   See also MexElasto, MexElastoMatrices, MexSolveDense, MexHandleMatrix, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 9, single = []; end
if nargin < 8, rule = []; end
if nargin < 7, boundary = []; end
if nargin < 6, domain = []; end
try
  [H, G] = clinalg_mex('MexElastoAssemble', gpu, nodes, elements, material, frequency, domain, boundary, rule, single);
catch problem
  if nargin < 5, clinalg_mex('MexElastoAssemble'); end
  rethrow(problem);
end
end
