function varargout = gather(varargin)
%gather  Values in MATLAB's memory, as they are: gather of numbers gives the numbers.
%   x = gather(a)
%   [x, y] = gather(a, b)
%
%   Octave has no gather, and a script calls it for numbers, too, such as gather(norm(x)). clinalg.array has its own.
%
%   Example:
%     gather(norm(clinalg.vector([3 4])))
%
%   See also clinalg.array.
varargout = cell(1, max(nargout, 1));
for k = 1 : numel(varargout)
  varargout{k} = varargin{k};
  if isa(varargin{k}, 'clinalg.array')
    varargout{k} = varargin{k}.gather();
  end
end
end
