function varargout = restore(file)
%clinalg.restore  Load the variables that clinalg.store has saved.
%   s = clinalg.restore(file)
%   clinalg.restore(file)
%
%   s has a field for each variable; without an output the variables are created in the caller's workspace. Arrays that were on a
%   device are copied to the current device.
%
%   Example:
%     A = clinalg.matrix(speye(4));
%     file = [tempname(), '.mat'];
%     clinalg.store(file, 'A');
%     clear A
%     clinalg.restore(file);
%     delete(file);
%     A
%
%   See also clinalg.store, clinalg.read, load.
if nargin < 1
  error('clinalg:argument:count', 'clinalg.restore: the call is clinalg.restore(file)');
end
s = load(char(file));
for name = fieldnames(s).'
  value = s.(name{1});
  if isstruct(value) && isfield(value, 'clinalg_values')
    value = clinalg.operands.like(value.clinalg_values, value.clinalg_class);
  end
  s.(name{1}) = value;
  if nargout == 0
    assignin('caller', name{1}, value);
  end
end
if nargout > 0
  varargout = {s};
end
end
