classdef operands
%clinalg.operands  What the methods of clinalg.array have in common.
%   Operands in MATLAB's memory are copied to the device in the precision of the others; positions and options are checked.
%
%   Example:
%     [a, b] = clinalg.operands.pair(clinalg.vector([1; 2]), [3; 4]);
%     isa(b, 'clinalg.array')
%
%   See also clinalg.array, clinalg.matrix.

  methods (Static)
    function [a, b] = pair(a, b)
    % Both on the device, in single precision if one is, and complex if one is.
      if ~isa(a, 'clinalg.array')
        a = clinalg.operands.operand(a, b);
      elseif ~isa(b, 'clinalg.array')
        b = clinalg.operands.operand(b, a);
      end
      % The two highest bits of a handle: double precision, complex values.
      differ = bitshift(bitxor(hand(a), hand(b)), -62);
      if differ > 1
        a = clinalg.operands.lowered(a);
        b = clinalg.operands.lowered(b);
      end
      if mod(differ, 2) == 1
        a = clinalg.operands.promoted(a);
        b = clinalg.operands.promoted(b);
      end
    end

    function t = both_sparse(a, b)
    % Whether both are sparse matrices, on the device or in MATLAB's memory, and none is a band matrix.
      t = issparse(a) && issparse(b) && ~(isa(a, 'clinalg.array') && strcmp(kind_of(a), 'band')) ...
        && ~(isa(b, 'clinalg.array') && strcmp(kind_of(b), 'band'));
    end

    function [at, part, shape] = positions(subs, dims, reading)
    % The positions that one or two subscripts of a matrix name ([] for all), the lengths of the part and, for one subscript, the shape of what is
    % read; at is empty where MATLAB is left to say what they mean or what is wrong with them.
      at = {};
      part = [];
      shape = [0 0];
      if numel(dims) > 2 || numel(subs) > 2 || isempty(subs)
        return
      end
      lengths = dims;
      if numel(subs) == 1
        lengths = prod(dims);
      end
      found = cell(1, numel(subs));
      part = lengths;
      for k = 1 : numel(subs)
        index = subs{k};
        if ischar(index)
          if ~strcmp(index, ':'), return, end
          found{k} = [];
          if lengths(k) == 0, return, end
          continue
        elseif islogical(index)
          if numel(index) ~= lengths(k) || (numel(subs) == 1 && ~isequal(size(index), dims)), return, end
          index = find(index);
        end
        if ~isnumeric(index) || isempty(index) || ~isreal(index) || ndims(index) > 2, return, end
        index = double(index);
        list = index(:);
        if any(list < 1 | list > lengths(k) | list ~= fix(list)), return, end
        found{k} = index;
        part(k) = numel(list);
      end
      if numel(subs) == 1
        shape = size(found{1});
        if ischar(subs{1})
          shape = [lengths, 1];
        elseif islogical(subs{1}) && ~any(dims == 1)
          shape = [part, 1];
        elseif any(shape == 1) && any(dims == 1) && prod(dims) ~= 1
          % A vector by a vector keeps the direction of the first.
          shape = [part, 1];
          if dims(1) == 1
            shape = [1, part];
          end
        end
      end
      at = found;
    end

    function t = fits(a, value, count)
    % Whether a(...) = value leaves the class of a as it is, and value has one element or this many.
      t = (isscalar(value) || numel(value) == count) && ~issparse(value) && (isreal(value) || iscomplex(a)) ...
        && ndims(value) == 2;
      if t && strcmp(underlyingType(a), 'double')
        t = (isa(value, 'clinalg.array') && strcmp(underlyingType(value), 'double')) || isa(value, 'double') || islogical(value);
      end
    end

    function t = are_single(at)
    % Whether no position occurs twice.
      t = true;
      for k = 1 : numel(at)
        list = at{k}(:);
        t = t && (numel(list) < 2 || all(diff(list) > 0) || numel(unique(list)) == numel(list));
      end
    end

    function t = same_shape(part, shape, got)
    % Whether the values have the shape of the part but for lengths of 1.
      if numel(part) == 1
        t = prod(got) == part && (any(got == 1) || isequal(got, shape));
      else
        t = isequal(part(part ~= 1), got(got ~= 1));
      end
    end

    function t = is_complex(h)
    % Whether a handle names complex values: its second highest bit.
      t = bitand(h, bitshift(uint64(1), 62)) ~= 0;
    end

    function c = promoted(a)
    % The array itself if it is complex, else a complex copy.
      c = a;
      if ~iscomplex(a)
        c = converted(a, strcmp(underlyingType(a), 'single'), true);
      end
    end

    function c = lowered(a)
    % The array itself if it is in single precision, else a copy that is.
      c = a;
      if bitand(hand(a), bitshift(uint64(1), 63)) ~= 0
        c = single(a);
      end
    end

    function o = operand(x, other)
    % A copy on the device of an operand in MATLAB's memory, in the precision of the other or in single precision.
      type = underlyingType(other);
      if isa(x, 'single')
        type = 'single';
      end
      o = clinalg.operands.like(x, type);
    end

    function o = like(x, other)
    % A copy on the device in the precision of another array or in the one that a name says.
      type = other;
      if ~ischar(other)
        type = underlyingType(other);
      end
      if numel(size(x)) > 2
        o = clinalg.array.nd(cast(x, type));
      else
        o = clinalg.matrix(x, type);
      end
    end

    function o = made(h)
    % The array of a handle; one element as a number.
      o = clinalg.array(h);
      if isscalar(o)
        o = clinalg.operands.narrowed(gather(o));
      end
    end

    function s = narrowed(s)
    % A number, real where its imaginary part is zero, as MATLAB's operations give it.
      if imag(s) == 0
        s = real(s);
      end
    end

    function o = column_of(h)
    % The array of a handle of a vector, as a matrix of one column.
      [n, ~] = clinalg_mex('MexSize', 0, h);
      v = clinalg.array(h);
      o = clinalg.array(clinalg_mex('MexTakeLinear', 0, v.h, [], n, 1));
    end

    function o = whole(x, as_single)
    % A copy on the device of an array, also of one element.
      if issparse(x)
        o = clinalg.array(clinalg_mex('MexSparseMatrix', 0, x, as_single));
      else
        o = clinalg.array.nd(full(x));
      end
    end

    function x = on_host(x)
      if isa(x, 'clinalg.array')
        x = gather(x);
      end
    end

    function [a, b, done] = numbers(a, b)
    % Arrays of one element as numbers, others as they are; done where none is left on the device.
      few = [isscalar(a), isscalar(b)];
      if few(1) && isa(a, 'clinalg.array')
        a = gather(a);
        if ~few(2), a = full(a); end
      end
      if few(2) && isa(b, 'clinalg.array')
        b = gather(b);
        if ~few(1), b = full(b); end
      end
      done = ~isa(a, 'clinalg.array') && ~isa(b, 'clinalg.array');
    end

    function c = folded(f, a, b, others)
    % f(f(a, b), others{1}) and so on.
      c = f(a, b);
      for k = 1 : numel(others)
        c = f(c, others{k});
      end
    end

    function [a, b] = full_number(a, b)
    % One sparse number of two operands as a full one: a product or quotient with it is sparse only if the other operand is.
      if isscalar(a) && ~isscalar(b)
        a = full(clinalg.operands.on_host(a));
      elseif isscalar(b) && ~isscalar(a)
        b = full(clinalg.operands.on_host(b));
      end
    end

    function t = keeps_class(a, k)
    % Whether the number k leaves the class of the array a as it is.
      t = isa(k, 'double') || strcmp(underlyingType(a), 'single');
    end

    function words = by(dims)
    % '3 x 4'.
      words = strjoin(cellfun(@(d) {sprintf('%d', d)}, num2cell(dims)), ' x ');
    end

    function check_classes(name, varargin)
    % An error unless the operands are arrays on the device, or numbers or logical arrays of MATLAB.
      for k = 1 : numel(varargin)
        x = varargin{k};
        if ~(isfloat(x) || islogical(x))
          hint = '';
          if isinteger(x)
            hint = ': convert it with double(x) or single(x)';
          elseif ischar(x)
            hint = ': convert it with double(x)';
          end
          error('clinalg:argument:class', ['%s: operand %d is of class %s, expected an array on the device, or one of ' ...
            'class double, single or logical%s'], name, k, class(x), hint);
        end
      end
    end

    function c = along(name, a, given)
    % A reduction of the first dimension that is longer than 1 or of the one that is given.
      [c, known] = clinalg.operands.reduced(name, a, given);
      if ~known
        c = clinalg.hosted.one(name, [{a}, given]);
      end
    end

    function [c, known] = reduced(name, a, given)
    % As along on the device, known is false where that has no such reduction.
      c = [];
      if numel(given) == 1, given{1} = clinalg.operands.on_host(given{1}); end
      if isa(a, 'clinalg.array') && (isempty(given) || (numel(given) == 1 && isnumeric(given{1}) && isscalar(given{1}) && any(given{1} == [1 2])))
        settle(a);
        c = clinalg_mex('MexReduce', 0, name, a, given{:});
      end
      known = ~isempty(c);
      if isa(c, 'uint64'), c = clinalg.array(c); end
    end

    function results = extremum(name, count, given)
    % max and min: on the device of real arrays without positions.
      if count < 2 && numel(given) == 2
        [c, known] = fused(name, given{:});
        if ~known
          if isscalar(given{1}), given = given([2 1]); end
          c = clinalg.operands.mapped(name, given{:});
        end
        results = {c};
      elseif count < 2 && isa(given{1}, 'clinalg.array') && isreal(given{1}) && (numel(given) == 1 || isempty(given{2}))
        [c, known] = clinalg.operands.reduced(name, given{1}, given(3 : end));
        if ~known
          c = clinalg.hosted.one(name, given);
        end
        results = {c};
      else
        results = clinalg.hosted.call(name, count, 'D1', given);
      end
    end

    function [a, b, c] = scaled_by_diagonal(a, b)
    % The product where an operand is one of Octave's square diagonal matrices, such as eye(3): rows or columns times numbers, no product of 0 and
    % Inf. c is [] where there is none; a diagonal matrix beside a sparse one becomes sparse.
      c = [];
      if ~exist('OCTAVE_VERSION', 'builtin') || isscalar(a) || isscalar(b), return, end
      left = ~isobject(a) && any(strfind(typeinfo(a), 'diagonal'));
      right = ~isobject(b) && any(strfind(typeinfo(b), 'diagonal'));
      if size(a, 2) ~= size(b, 1) || ndims(a) > 2 || ndims(b) > 2
        % Sizes do not agree: mtimes reports it.
      elseif left && issparse(b)
        a = sparse(double(a));
      elseif right && issparse(a)
        b = sparse(double(b));
      elseif left && size(a, 1) == size(a, 2) && size(b, 2) > 0
        c = times(full(diag(a)), b);
      elseif right && size(b, 1) == size(b, 2) && size(a, 1) > 0
        c = times(a, full(diag(b)).');
      end
    end

    function [o, op] = untransposed(a)
    % What a lazy transpose is of, and how it is transposed.
      o = a;
      op = 'notransp';
      if isa(a, 'clinalg.array') && ~isempty(a.form)
        o = a.form.of;
        ops = {'transp', 'ctransp'};
        op = ops{1 + a.form.conjugate};
      end
    end

    function c = mapped(name, a, b)
    % A function of two arrays or of an array and a number, element by element; by MATLAB where the device has none.
      clinalg.operands.check_classes(name, a, b);
      [a, b, done] = clinalg.operands.numbers(a, b);
      if done, c = clinalg.hosted.one(name, {a, b}); return, end
      [r, s] = deal(size(a), size(b));
      same = isequal(r, s);
      plain = (same || (numel(r) == 2 && numel(s) == 2 && all(r == s | r == 1 | s == 1))) && prod(r) > 0 && prod(s) > 0;
      real_only = any(strcmp(name, {'max', 'min', 'atan2', 'hypot', 'mod', 'rem'}));
      if ~plain || issparse(a) || issparse(b) || (real_only && ~(isreal(a) && isreal(b)))
        c = clinalg.hosted.one(name, {a, b});
        return
      end
      [a, b] = clinalg.operands.pair(a, b);
      h = clinalg_mex('MexMap2', 0, name, a.h, b.h);
      if same
        c = clinalg.array.shaped(h, r);
      else
        c = clinalg.array(h);
      end
    end

    function c = applied(a, b)
    % A matrix or its transpose times a column.
      if isa(a, 'clinalg.array') && ~isempty(a.form)
        ops = {'transp', 'ctransp'};
        op = ops{1 + a.form.conjugate};
        row = size(a, 1) == 1;
        [x, b] = clinalg.operands.pair(a.form.of, b);
        if row
          names = {'MexDotu', 'MexDot'};
          names = names{1 + strcmp(op, 'ctransp')};
          if ~strcmp(kind_of(x), 'full') || ~strcmp(kind_of(b), 'full')
            c = clinalg.hosted.one('mtimes', {a, b});
          else
            c = clinalg.operands.narrowed(clinalg_mex(names, 0, x.h, b.h));
          end
          return
        elseif strcmp(kind_of(x), 'band')
          settle(a);
          [x, b] = clinalg.operands.pair(a, b);
          op = 'notransp';
        end
      else
        [x, b] = clinalg.operands.pair(a, b);
        op = 'notransp';
      end
      if ~strcmp(kind_of(b), 'full')
        c = clinalg.hosted.one('mtimes', {a, b});
      elseif strcmp(op, 'notransp')
        c = clinalg.operands.made(clinalg_mex('MexMultiply', 0, x.h, b.h));
      else
        c = clinalg.operands.made(clinalg_mex('MexMultiplyOp', 0, op, x.h, b.h));
      end
    end

    function c = combined(name, a, b, sign)
    % a + sign b.
      clinalg.operands.check_classes(name, a, b);
      [a, b, done] = clinalg.operands.numbers(a, b);
      if done, c = clinalg.hosted.one(name, {a, b}); return, end
      dims = size(a);
      if isequal(dims, size(b)) && prod(dims) > 1 && clinalg.operands.both_sparse(a, b)
        [a, b] = clinalg.operands.pair(a, b);
        c = clinalg.array(clinalg_mex('MexSparseAdd', 0, 1, a.h, sign, b.h));
      elseif ~isequal(dims, size(b)) || issparse(a) || issparse(b)
        c = clinalg.operands.mapped(name, a, b);
      else
        [a, b] = clinalg.operands.pair(a, b);
        c = clinalg.array.shaped(clinalg_mex('MexAxpby', 0, 1, a.h, sign, b.h), dims);
      end
    end

    function c = made_like(name, given)
    % An array made by a function of MATLAB, on the device and in the class of the last argument after 'like'.
      n = numel(given);
      if n > 1 && strcmp(given{n - 1}, 'like')
        other = given{n};
        if isa(other, 'clinalg.array')
          info = clinalg_mex('MexInfo', 0, hand(other));
        else
          info = struct('kind', 'full', 'class', class(other), 'complex', ~isreal(other));
        end
        given = clinalg.hosted.gathered(name, given(1 : n - 2));
        c = feval(name, given{:});
        if any(strcmp(info.kind, {'sparse', 'band'})) && any(strcmp(name, {'zeros', 'ones', 'eye', 'NaN', 'nan', 'Inf', 'inf'}))
          if ndims(c) > 2
            error('clinalg:argument:shape', '%s: the array is %s and like a sparse matrix, expected two dimensions', name, clinalg.operands.by(size(c)));
          end
          c = clinalg.operands.whole(sparse(double(c)), strcmp(info.class, 'single'));
        else
          c = clinalg.array.nd(full(feval(info.class, c)));
        end
        if info.complex
          c = clinalg.operands.promoted(c);
        end
      elseif strcmp(name, 'linspace')
        c = clinalg.hosted.one(name, given);
      elseif any(cellfun(@(x) isobject(x) && ~isvector(x), given))
        error('clinalg:argument:value', '%s: a size is an array on the device with several columns; expected scalars or one vector; to create an array of the class and device of a, write %s(m, n, ''like'', a)', name, name);
      else
        % Sizes on the device.
        c = clinalg.hosted.call(name, 1, 'H', given);
        c = c{1};
      end
    end

    function t = names_single(caller, name)
    % Whether a class name says single precision.
      switch char(name)
        case 'single'
          t = true;
        case 'double'
          t = false;
        otherwise
          error('clinalg:argument:value', '%s: the class is ''%s'', expected ''double'' or ''single''', ...
            caller, char(name));
      end
    end

    function o = arguments(caller, given, positional, others)
    % The arguments after the required ones as a structure with the fields `positional` and `others` in lower case, [] for those left
    % out. They are given by position, then as a structure or as pairs of a name and a value; upper and lower case are the same. A '*'
    % after the name of a position says that its value may be text.
      may_be_text = cellfun(@(name) any(name == '*'), positional);
      positional = strrep(positional, '*', '');
      known = [positional, others];
      fields = lower(known);
      o = cell2struct(cell(numel(known), 1), fields, 1);
      is_text = @(x) (ischar(x) && size(x, 1) <= 1 && ~isempty(x)) || isa(x, 'string');
      seen = {};
      k = 1;
      while k <= numel(given)
        value = given{k};
        as_struct = isstruct(value) && isscalar(value) && k == numel(given);
        if as_struct || (is_text(value) && (k > numel(positional) || ~may_be_text(k) || any(strcmpi(char(value), known))))
          break
        elseif k > numel(positional)
          if k == numel(given) && isempty(value), break, end
          expected = sprintf('a structure of options or pairs of names (%s) and values', strjoin(known, ', '));
          if isempty(positional)
            error('clinalg:argument:class', '%s: an argument is of class %s, expected %s', caller, class(value), expected);
          end
          error('clinalg:argument:count', '%s: an argument of class %s is too many; expected %d by position at most, then %s', caller, ...
            class(value), numel(positional), expected);
        end
        o.(fields{k}) = clinalg.operands.text(value);
        if ~isempty(value), seen{end + 1} = fields{k}; end
        k = k + 1;
      end
      pairs = given(k : end);
      from_struct = numel(pairs) == 1 && isstruct(pairs{1});
      if from_struct
        pairs = [fieldnames(pairs{1}), struct2cell(pairs{1})].';
        pairs = pairs(:).';
      elseif numel(pairs) == 1 && isempty(pairs{1})
        pairs = {};
      end
      if mod(numel(pairs), 2) == 1
        error('clinalg:argument:count', '%s: `%s` has no value; options are a structure or pairs of a name (%s) and a value', caller, ...
          char(pairs{end}), strjoin(known, ', '));
      end
      for k = 1 : 2 : numel(pairs)
        if ~is_text(pairs{k})
          error('clinalg:argument:class', '%s: an option has a name of class %s, expected text, one of %s', caller, class(pairs{k}), ...
            strjoin(known, ', '));
        end
        name = char(pairs{k});
        value = clinalg.operands.text(pairs{k + 1});
        at = find(strcmpi(name, known));
        % odeset gives all fields that it knows, empty.
        if isempty(at) && from_struct && isempty(value), continue, end
        if isempty(at)
          error('clinalg:argument:value', '%s: option `%s` is not known, expected one of %s', caller, name, strjoin(known, ', '));
        elseif any(strcmp(fields{at}, seen))
          error('clinalg:argument:value', '%s: `%s` is given twice', caller, known{at});
        end
        o.(fields{at}) = value;
        if ~isempty(value), seen{end + 1} = fields{at}; end
      end
    end

    function blame(problem, caller, names)
    % The error of a Mex function, as one of `caller`, with the names of its arguments for those of the Mex function: pairs in a cell.
      text = regexprep(problem.message, '^(clinalg_mex: )?Mex\w+: ', [caller, ': ']);
      for k = 1 : 2 : numel(names)
        text = regexprep(text, ['argument (\d+ )?`', names{k}, '`'], ['`', names{k + 1}, '`']);
      end
      error(struct('message', regexprep(text, 'argument \d+ `', '`'), 'identifier', problem.identifier, 'stack', problem.stack));
    end

    function o = only(caller, given, table, instead)
    % The options of a function of MATLAB, of which those with a value in the second column of the table have that one only.
      o = clinalg.operands.arguments(caller, given, {}, table(:, 1).');
      for k = 1 : size(table, 1)
        value = o.(table{k, 1});
        if ~isempty(table{k, 2}) && ~isempty(value) && ~isequal(value, table{k, 2})
          error('clinalg:argument:value', '%s: options.%s is %s, expected %s; use %s', caller, table{k, 1}, clinalg.operands.words(value), ...
            clinalg.operands.words(table{k, 2}), instead);
        end
      end
    end

    function text = words(value)
    % A value in a message.
      if ischar(value), text = ['"', value, '"']; else, text = mat2str(value); end
    end

    function value = text(value)
    % A string as a row of characters, anything else as it is.
      if isa(value, 'string'), value = char(value); end
    end

    function [c, known] = formula(f, given)
    % An anonymous function of numbers, of whole arrays; known is false unless it is a formula of functions element by element.
      c = [];
      known = false;
      words = regexp(func2str(f), '^@\s*\(([^)]*)\)(.*)$', 'tokens', 'once');
      sizes = cellfun(@(x) {size(x)}, given(cellfun(@numel, given) ~= 1));
      if isempty(words) || any(ismember(words{2}, '\''"&|[]{};:@')) || (numel(sizes) > 1 && ~isequal(sizes{:})) || any(cellfun(@ischar, given))
        return
      end
      parameters = strtrim(strsplit(words{1}, ','));
      elementwise = {'abs', 'acos', 'angle', 'asin', 'atan', 'atan2', 'ceil', 'complex', 'conj', 'cos', 'cosh', 'exp', 'expm1', 'fix', ...
        'floor', 'hypot', 'imag', 'log', 'mod', 'pi', 'real', 'rem', 'round', 'sign', 'sin', 'sinh', 'sqrt', 'tan', 'tanh'};
      names = regexp(words{2}, '(?<![A-Za-z0-9_.])[A-Za-z]\w*', 'match');
      if numel(parameters) ~= numel(given) || isempty(sizes) || ~all(ismember(names, [parameters, elementwise])) ...
          || any(ismember(parameters, elementwise))
        return
      end
      % x(1) reads an element of the whole array.
      if ~isempty(regexp(words{2}, ['(?<![A-Za-z0-9_.])(', strjoin(parameters, '|'), ')\s*\('], 'once'))
        return
      end
      whole = str2func(['@(', words{1}, ')', regexprep(words{2}, '(?<!\.)([*/^\\])', '.$1')]);
      c = whole(given{:});
      known = isequal(size(c), sizes{1});
    end

    function given = gmres_arguments(given)
    % The arguments of gmres after A in the order of MATLAB, checked, for clinalg.gmres.
      if isempty(given)
        error('clinalg:argument:count', 'gmres: too few arguments; the call is gmres(A, b, restart, tol, maxit, M1, M2, x0)');
      elseif numel(given) > 7
        error('clinalg:argument:count', ['gmres: %d arguments after x0, expected none where an array is on the device; for a function f with a ' ...
          'parameter p write clinalg.gmres(@(x) f(x, p), b)'], numel(given) - 7);
      end
      names = {'b', 'restart', 'tol', 'maxit', 'M1', 'M2', 'x0'};
      for k = 2 : numel(given)
        value = clinalg.operands.text(given{k});
        is_number = any(k == [2 3 4]);
        if ischar(value) || isstruct(value) || (is_number && ~(isempty(value) || (isnumeric(value) && isscalar(value))))
          expected = 'a matrix, a function handle or []';
          if is_number, expected = 'a number or []'; elseif k == 7, expected = 'a column or []'; end
          error('clinalg:argument:class', ['gmres: argument %d `%s` is %s of class %s, expected %s; clinalg.gmres takes names such as ' ...
            '''Tolerance'''], k + 1, names{k}, clinalg.operands.by(size(value)), class(value), expected);
        elseif is_number && ~isempty(value)
          value = clinalg.operands.on_host(value);
          if ~(value > 0) || (k ~= 3 && value ~= fix(value))
            kinds = {'integer', 'number', 'integer'};
            error('clinalg:argument:value', 'gmres: argument %d `%s` is %g, expected a positive %s; help clinalg.gmres says more', k + 1, names{k}, ...
              value, kinds{k - 1});
          end
          % A restart after more iterations than there are unknowns is none.
          if k == 2, value = min(value, numel(given{1})); end
          given{k} = value;
        end
      end
    end

    function A = sparse_handle(A)
    % A matrix on the device, sparse if it comes from MATLAB's memory, whose handle is ready.
      if ~isa(A, 'clinalg.array')
        A = clinalg.matrix(sparse(A));
      end
      settle(A);
    end

    function [parts, as_single] = right_sides(name, shape, b, type, is_real)
    % The columns of b as arrays of this type for a system with a matrix of that name and shape, real and imaginary parts apart where the
    % matrix is real; as_single says whether the solution of a double matrix is single.
      clinalg.operands.check_classes('\', b);
      if ndims(b) > 2 || size(b, 1) ~= shape(1)
        error('clinalg:argument:shape', '\\: %s is %d x %d, b is %s; the numbers of rows must agree', name, shape, clinalg.operands.by(size(b)));
      end
      as_single = strcmp(type, 'double') && (isa(b, 'single') || isa(b, 'clinalg.array') && strcmp(underlyingType(b), 'single'));
      if issparse(b), b = full(b); end
      if ~isa(b, 'clinalg.array')
        b = clinalg.operands.like(b, type);
      elseif ~strcmp(underlyingType(b), type)
        b = cast(b, type);
      end
      if ~is_real, b = clinalg.operands.promoted(b); end
      if iscomplex(b) && is_real
        parts = {real(b), imag(b)};
      else
        parts = {b};
      end
    end

    function x = column(x)
    % The values in MATLAB's memory as a column; [] as it is, which leaves an argument of a Mex function out.
      x = clinalg.operands.on_host(x);
      if ~isempty(x), x = x(:); end
    end

    function g = boundary_values(A, g)
    % A column on the device in the precision of an operator.
      if ~isa(g, 'clinalg.array'), g = clinalg.matrix(full(g), underlyingType(A)); end
      settle(g);
    end

    function x = start(b, like, x0)
    % A new array like b with the values of x0, or zeros, to be written by a solver.
      if isempty(x0)
        x = copy(b);
        clinalg_mex('MexFill', 0, x.h, 0);
      elseif isa(x0, 'clinalg.array')
        x = copy(x0);
      else
        x = clinalg.operands.like(x0, like);
      end
      if clinalg.operands.is_complex(like.h)
        x = clinalg.operands.promoted(x);
      end
    end
  end
end
