function varargout = help(name, varargin)
%help  Help text; `help clinalg` shows that of the package, for which Octave has no place.
  if strcmp(name, 'clinalg'), name = 'clinalg.Contents'; end
  [varargout{1 : nargout}] = builtin('help', name, varargin{:});
end
