function check(holds, varargin)
% An error unless all of holds is true; the rest is a message with its values.
if ~all(holds(:))
  if isempty(varargin)
    varargin = {'does not hold'};
  end
  error('clinalg:test:check', varargin{:});
end
end
