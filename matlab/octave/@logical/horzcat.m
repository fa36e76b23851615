function c = horzcat(varargin)
%horzcat  A row of numbers in a matrix that has an array on the device in another row, such as [A; 1 2 3]: Octave looks for this function then.
c = builtin('horzcat', varargin{:});
end
