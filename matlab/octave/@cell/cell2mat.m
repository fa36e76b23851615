function m = cell2mat(c)
%cell2mat  That of Octave, also for a cell array with arrays on the device: Octave's own does not take objects.
if ndims(c) > 2 || ~any(reshape(cellfun('isclass', c, 'clinalg.array'), [], 1))
  m = builtin('cell2mat', c);
  return
end
rows_ = cell(size(c, 1), 1);
for k = 1 : numel(rows_)
  rows_{k} = horzcat(c{k, :});
end
m = vertcat(rows_{:});
end
