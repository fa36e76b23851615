function check_error(id, part, call)
% An error unless call() raises the identifier id with part in its message.
try
  call();
catch problem
  if ~strcmp(problem.identifier, id)
    error('clinalg:test:check', '%s: identifier %s, expected %s: %s', func2str(call), problem.identifier, id, ...
      problem.message);
  elseif ~isempty(part) && isempty(strfind(problem.message, part)) %#ok<STREMP>
    error('clinalg:test:check', '%s: no ''%s'' in: %s', func2str(call), part, problem.message);
  end
  return
end
error('clinalg:test:check', '%s: no error, expected %s', func2str(call), id);
end
