function store(file, varargin)
%clinalg.store  Save variables to a file, arrays on the device by their values.
%   clinalg.store(file, 'x', 'A', ...)
%   clinalg.store(file)
%
%   Saves the variables with these names, or all, in MATLAB's format; clinalg.restore puts device arrays
%   back on the device. Octave's own save cannot save objects.
%
%   Example:
%     x = clinalg.vector(single([1 2 3]));
%     file = [tempname(), '.mat'];
%     clinalg.store(file, 'x');
%     s = clinalg.restore(file);
%     delete(file);
%     s.x
%
%   See also clinalg.restore, clinalg.write, save.
if nargin < 1
  error('clinalg:argument:count', 'clinalg.store: the call is clinalg.store(file, ''x'', ...)');
elseif nargin < 2
  varargin = evalin('caller', 'who').';
end
kept = struct();
for k = 1 : numel(varargin)
  value = evalin('caller', varargin{k});
  if isa(value, 'clinalg.array')
    value = struct('clinalg_values', gather(value), 'clinalg_class', underlyingType(value));
  end
  kept.(varargin{k}) = value;
end
save('-v7', char(file), '-struct', 'kept');
end
