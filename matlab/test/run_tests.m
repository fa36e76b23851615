function failed = run_tests(varargin)
%run_tests  Run the test suite; prints 'N passed, N failed'.
%   failed = run_tests()
%   failed = run_tests('test_algebra', ...)
%
%   The folder above and the one with clinalg_mex must be on the path. With failed taken nothing is raised;
%   else a failure is an error, so that a shell sees it.
here = fileparts(mfilename('fullpath'));
if nargin == 0
  found = dir(fullfile(here, 'test_*.m'));
  varargin = strrep(sort({found.name}), '.m', '');
end
passed = 0;
failures = 0;
for f = 1 : numel(varargin)
  tests = feval(varargin{f});
  for t = 1 : numel(tests)
    name = [varargin{f}, '/', func2str(tests{t})];
    try
      tests{t}();
      passed = passed + 1;
    catch problem
      failures = failures + 1;
      fprintf('FAILED %s\n  [%s] %s\n', name, problem.identifier, problem.message);
      for s = 1 : min(3, numel(problem.stack))
        fprintf('  %s line %d\n', problem.stack(s).name, problem.stack(s).line);
      end
    end
  end
end
fprintf('%d passed, %d failed\n', passed, failures);
if nargout > 0
  failed = failures;
elseif failures > 0
  error('clinalg:test:failed', '%d tests failed', failures);
end
end
