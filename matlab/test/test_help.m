function tests = test_help()
tests = {@functions_have_help, @examples_run, @contents_list_everything};
end

function list = help_files()
folder = fileparts(which('MexSum'));
list = [dir(fullfile(folder, 'Mex*.m')); dir(fullfile(folder, '+clinalg', '*.m'))];
list = {list.name};
list(strcmp(list, 'Contents.m')) = [];
end

function name = full_name(file)
name = strrep(file, '.m', '');
if ~strncmp(name, 'Mex', 3)
  name = ['clinalg.', name];
end
end

function functions_have_help()
for file = help_files()
  name = full_name(file{1});
  words = help_text(name);
  check(~isempty(strfind(words, 'See also')), '%s: See also', name); %#ok<STREMP>
  check(~isempty(strfind(words, name)), '%s: its name', name); %#ok<STREMP>
  check(~isempty(example_of(words)), '%s: an example', name);
end
end

function examples_run()
for file = help_files()
  name = full_name(file{1});
  % What runs here must not be cleared.
  example = strrep(example_of(help_text(name)), 'clear functions', '');
  try
    run_example(example);
  catch problem
    error('clinalg:test:check', '%s: [%s] %s', name, problem.identifier, problem.message);
  end
end
end

function run_example(example)
% The examples print; their variables stay in here.
evalc(example);
MexReleaseOpenCL(0);
end

function words = help_text(name)
words = help(name);
end

function example = example_of(words)
% The lines of the example, up to the next line that is not indented further.
lines = regexp(words, '\n', 'split');
start = find(~cellfun(@isempty, regexp(lines, '^\s*Example:\s*$')), 1);
example = '';
if isempty(start)
  return
end
for k = start + 1 : numel(lines)
  if isempty(strtrim(lines{k}))
    break
  end
  example = [example, strtrim(lines{k}), sprintf('\n')]; %#ok<AGROW>
end
end

function contents_list_everything()
words = fileread(fullfile(fileparts(which('MexSum')), 'Contents.m'));
inner = fileread(fullfile(fileparts(which('MexSum')), '+clinalg', 'Contents.m'));
for file = help_files()
  name = strrep(file{1}, '.m', '');
  if strncmp(name, 'Mex', 3)
    check(~isempty(regexp(words, ['%   ', name, ' +- '], 'once')), name);
  else
    check(~isempty(regexp(inner, ['%   ', name, ' +- '], 'once')), name);
  end
end
end
