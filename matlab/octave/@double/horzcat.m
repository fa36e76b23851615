function c = horzcat(varargin)
%horzcat  Called by Octave for the row 1 2 3 of [A; 1 2 3] where A is on the device.
c = builtin('horzcat', varargin{:});
end
