classdef array < handle & clinalg.operations & clinalg.hosted
%clinalg.array  Array in the memory of an OpenCL device, used like one of MATLAB's.
%   clinalg.matrix and clinalg.vector create one; the device memory is freed when the last reference is cleared.
%   It has the value semantics of a MATLAB array: after c = x, c(1) = 0 leaves x unchanged.
%
%   Double or single, real or complex; full, sparse or band. Results have the class that MATLAB gives them; an operand in
%   MATLAB's memory is copied to the device. A result of one element is a number, a comparison returns a logical array, both in
%   MATLAB's memory, so that "if x(1) > 0", "while any(x > 1)" and "a / norm(x)" work unchanged. For an array x write "if all(x)", not
%   "if x": Octave treats an object as false.
%
%   x(i), A(i, j), A(:, j), x(end), x(mask), x([])  parts; x(i) = v and x(i) = [] change the variable x
%   [a, b], [a; b]   concatenation; x(end + 1) = v makes a larger copy
%   A * B, A' * x, A.' * x, A \ B, B / A, A ^ k
%   a + b, a - b, a .* b, a ./ b, a .^ b, -a, ==, <, ...; a row and a column or a matrix are expanded as in MATLAB
%   norm, sum, dot, max, find, sort, ...
%   size, numel, length, ndims, isempty, nnz, underlyingType, isUnderlyingType
%   gather           copies in MATLAB's memory: x = gather(a), [x, y] = gather(a, b)
%   double, single   copy on the device in this precision
%   zeros, ones, eye, rand, randn, linspace(..., 'like', a)
%   copy, disp, explain
%
%   Element-wise operations are deferred until their values are read, and then run as one kernel; explain(x) shows the pending ones.
%
%   help clinalg.operations lists what runs on the device, clinalg.hosted what copies to MATLAB's memory and back. clinalg.store and
%   clinalg.restore save and load arrays.
%
%   Example:
%     A = clinalg.matrix(gallery('tridiag', 5));
%     x = clinalg.vector(ones(5, 1));
%     y = gather(A * x)
%
%   See also clinalg.matrix, clinalg.vector, clinalg.operations, clinalg.hosted, clinalg.pcg, clinalg.poisson.

  properties (SetAccess = private)
    h % the handle of the object for the Mex functions; [] until a lazy transpose is made
  end

  properties (SetAccess = protected)
    form % [], or a struct: of, conjugate for a lazy transpose; dims for more than two dimensions
  end

  methods
    function o = array(h)
    %array  From the handle of a Mex function; the array frees it.
      o.h = h;
    end

    function delete(o)
    %delete  Free the device memory. Quiet and harmless a second time.
      try
        clinalg_mex('MexRelease', 0, o.h);
      catch
      end
    end

    % Indexing.

    function varargout = subsref(a, s)
    %subsref  x(i), A(i, j), a.h and a.method(...).
      switch s(1).type
        case '()'
          subs = s(1).subs;
          part = [];
          h = a.h;
          % One call for what the device reads by itself; [] where it does not.
          if isempty(h)
          elseif numel(subs) == 1
            part = clinalg_mex('MexPart', 0, h, subs{1});
          elseif numel(subs) == 2
            part = clinalg_mex('MexBlock', 0, h, subs{:});
          end
          if isa(part, 'uint64')
            part = clinalg.array(part);
          elseif isempty(part)
            part = indexed(a, subs);
          end
          if numel(s) > 1
            [varargout{1 : max(nargout, 1)}] = subsref(part, s(2 : end));
          else
            varargout = {part};
          end
        case '.'
          if ~isempty(a.form), settle(a); end
          if numel(s) == 1 && strcmp(s.subs, 'h')
            % What functions outside of this class read most.
            varargout = {a.h};
            return
          end
          varargout = cell(1, max(nargout, ~strcmp(s(1).subs, 'delete')));
          [varargout{:}] = builtin('subsref', a, s);
        otherwise
          error('clinalg:call:unsupported', '{}: an array on the device is indexed with (): x(i)');
      end
    end

    function a = subsasgn(a, s, value)
    %subsasgn  x(i) = v, A(i, j) = v, x(i) = [].
      if ~isa(a, 'clinalg.array')
        error('clinalg:call:unsupported', ['x(i) = v: v is on the device and x is not; write gather(v), or make x ' ...
          'on the device first']);
      elseif numel(s) > 1 || ~strcmp(s(1).type, '()')
        error('clinalg:call:unsupported', 'an array on the device is assigned to with () only: x(i) = v');
      end
      % One call for what the device writes by itself; 0 where it does not.
      subs = s(1).subs;
      h = {a.h};
      c = 0;
      if isempty(h) || isempty(h{1})
      elseif numel(subs) == 1
        c = clinalg_mex('MexWithPart', 0, h{1}, value, subs{1});
      elseif numel(subs) == 2
        c = clinalg_mex('MexWithBlock', 0, h{1}, value, subs{:});
      end
      if c, a = clinalg.array(c); else, a = assigned(a, subs, value); end
    end

    function n = numArgumentsFromSubscript(~, ~, ~)
    % One value for a.h, whatever numel says.
      n = 1;
    end

    function c = horzcat(varargin)
    %[a, b]  Side by side.
      c = 0;
      if nargin < 7, c = clinalg_mex('MexJoin', 0, 2, nargin, varargin{:}); end
      if c, c = clinalg.array(c); else, c = cat(2, varargin{:}); end
    end

    function c = vertcat(varargin)
    %[a; b]  One below the other.
      c = 0;
      if nargin < 7, c = clinalg_mex('MexJoin', 0, 1, nargin, varargin{:}); end
      if c, c = clinalg.array(c); else, c = cat(1, varargin{:}); end
    end

    function c = cat(dim, varargin)
    %cat  Joined along a dimension.
      dim = clinalg.operands.on_host(dim);
      if ~all(cellfun(@(x) isfloat(x) || islogical(x), varargin))
        % With an integer, character or cell operand the result has that class and stays in MATLAB's memory.
        c = clinalg.hosted.one('cat', [{dim}, varargin]);
        return
      end
      sizes = cellfun(@(x) {size(x)}, varargin);
      plain = (dim == 1 || dim == 2) && all(cellfun(@(s) numel(s) == 2 && all(s > 0), sizes)) && ~any(cellfun(@issparse, varargin));
      if plain
        lengths = vertcat(sizes{:});
        plain = all(lengths(:, 3 - dim) == lengths(1, 3 - dim));
      end
      if ~plain
        c = clinalg.hosted.one('cat', [{dim}, varargin]);
        return
      end
      total = lengths(1, :);
      total(dim) = sum(lengths(:, dim));
      as_single = any(cellfun(@(x) isa(x, 'single') || (isa(x, 'clinalg.array') && isUnderlyingType(x, 'single')), varargin));
      c = clinalg.array(clinalg_mex('MexZeros', 0, total(1), total(2), as_single));
      if ~all(cellfun(@isreal, varargin))
        c = clinalg.operands.promoted(c);
      end
      at = {[], []};
      before = 0;
      for k = 1 : numel(varargin)
        [~, x] = clinalg.operands.pair(c, varargin{k});
        at{dim} = before + 1 : before + lengths(k, dim);
        clinalg_mex('MexPut', 0, c.h, x.h, at{:});
        before = before + lengths(k, dim);
      end
    end

    % Comparisons: a logical array in MATLAB's memory. They are in this class because `handle` has methods of these names as well, and MATLAB does not
    % accept a method that two superclasses define.

    function varargout = eq(varargin)
    %==  Equal, element by element.
      varargout = clinalg.hosted.call('eq', nargout, 'H', varargin);
    end

    function varargout = ne(varargin)
    %~=  Not equal, element by element.
      varargout = clinalg.hosted.call('ne', nargout, 'H', varargin);
    end

    function varargout = lt(varargin)
    %<  Less, element by element.
      varargout = clinalg.hosted.call('lt', nargout, 'H', varargin);
    end

    function varargout = le(varargin)
    %<=  Less or equal, element by element.
      varargout = clinalg.hosted.call('le', nargout, 'H', varargin);
    end

    function varargout = gt(varargin)
    %>  Greater, element by element.
      varargout = clinalg.hosted.call('gt', nargout, 'H', varargin);
    end

    function varargout = ge(varargin)
    %>=  Greater or equal, element by element.
      varargout = clinalg.hosted.call('ge', nargout, 'H', varargin);
    end

    % Parts of complex numbers, copies, conversions.

    function varargout = gather(varargin)
    %gather  Copies in MATLAB's memory; a sparse or band matrix gives a sparse one.
      if nargin == 1
        a = varargin{1};
        if isempty(a.form)
          varargout = {clinalg_mex('MexHandleMatrix', 0, a.h)};
          return
        end
      end
      varargout = cell(1, max(nargout, 1));
      for k = 1 : numel(varargout)
        x = varargin{k};
        if isa(x, 'clinalg.array')
          if isempty(x.form)
            x = clinalg_mex('MexHandleMatrix', 0, x.h);
          else
            x = reshape(clinalg_mex('MexHandleMatrix', 0, hand(x)), size(x));
          end
        end
        varargout{k} = x;
      end
    end

    function c = double(a)
    %double  Copy on the device in double precision.
      c = converted(a, false, iscomplex(a));
    end

    function c = single(a)
    %single  Copy on the device in single precision.
      c = converted(a, true, iscomplex(a));
    end

    function c = cast(a, name)
    %cast  Copy of another class: 'double' or 'single' on the device, others in MATLAB's memory.
      c = feval(name, a);
    end

    function c = copy(a)
    %copy  Copy on the device.
      c = clinalg.array.shaped(clinalg_mex('MexCopy', 0, hand(a)), size(a));
    end

    function c = full(a)
    %full  Full array of the same values.
      c = a;
      if issparse(a)
        c = clinalg.operands.like(full(gather(a)), a);
      end
    end

    function c = sparse(a, varargin)
    %sparse  Sparse matrix of the same values.
      if nargin > 1
        c = clinalg.hosted.one('sparse', [{a}, varargin]);
      elseif strcmp(kind_of(a), 'sparse')
        c = a;
      else
        c = clinalg.operands.like(sparse(double(gather(a))), a);
      end
    end

    % Arrays like another one.

    function c = zeros(varargin)
    %zeros  zeros(..., 'like', a) on the device, sparse if a is.
      c = clinalg.operands.made_like('zeros', varargin);
    end

    function c = ones(varargin)
    %ones  ones(..., 'like', a) on the device, sparse if a is.
      c = clinalg.operands.made_like('ones', varargin);
    end

    function c = eye(varargin)
    %eye  eye(..., 'like', a) on the device, sparse if a is.
      c = clinalg.operands.made_like('eye', varargin);
    end

    function c = NaN(varargin)
    %NaN  NaN(..., 'like', a) on the device.
      c = clinalg.operands.made_like('NaN', varargin);
    end

    function c = nan(varargin)
    %nan  nan(..., 'like', a) on the device.
      c = clinalg.operands.made_like('nan', varargin);
    end

    function c = Inf(varargin)
    %Inf  Inf(..., 'like', a) on the device.
      c = clinalg.operands.made_like('Inf', varargin);
    end

    function c = inf(varargin)
    %inf  inf(..., 'like', a) on the device.
      c = clinalg.operands.made_like('inf', varargin);
    end

    function c = rand(varargin)
    %rand  rand(..., 'like', a): MATLAB's random numbers on the device.
      c = clinalg.operands.made_like('rand', varargin);
    end

    function c = randn(varargin)
    %randn  randn(..., 'like', a): MATLAB's random numbers on the device.
      c = clinalg.operands.made_like('randn', varargin);
    end

    function c = linspace(varargin)
    %linspace  linspace(..., 'like', a), or between limits of which one is on the device.
      c = clinalg.operands.made_like('linspace', varargin);
    end

    function varargout = explain(a)
    %explain  What a waits for, as text: the expression that is evaluated when its values are read; of a sparse matrix how
    % its products run.
      words = clinalg_mex('MexExplain', 0, hand(a));
      if nargout
        varargout = {words};
      else
        fprintf('%s\n', words);
      end
    end

    function varargout = disp(a)
    %disp  Shape, class and storage, and the values of up to 1000 elements; in Octave as text, too: s = disp(a).
      info = clinalg_mex('MexInfo', 0, hand(a));
      words = '';
      if strcmp(info.kind, 'sparse')
        words = sprintf(', %d stored entries', info.entries);
      elseif strcmp(info.kind, 'band')
        words = sprintf(', %d sub- and %d superdiagonals', info.kl, info.ku);
      end
      type = info.kind;
      if info.complex
        type = [type, ' complex'];
      end
      text = sprintf('  %s %s array of class %s on the device%s\n', clinalg.operands.by(size(a)), type, info.class, words);
      few = strcmp(info.kind, 'full') * numel(a) + strcmp(info.kind, 'sparse') * info.entries;
      few = few > 0 && few <= 1000;
      if nargout > 0
        if few, text = [text, disp(gather(a))]; end
        varargout = {text};
      else
        fprintf('%s', text);
        if few, disp(gather(a)); end
      end
    end

    function s = saveobj(a)
    %saveobj  The values, for save of MATLAB; Octave cannot save objects: use clinalg.store.
      s = struct('values', gather(a), 'class', underlyingType(a));
    end

    % Sizes, shapes and properties.

    function e = end(a, k, n)
    %end  The last index.
      if isempty(a.form)
        [s, t] = clinalg_mex('MexSize', 0, a.h);
        s = [s, t];
      else
        s = size(a);
      end
      if n == 1
        e = prod(s);
      elseif k < n
        e = s(k);
      else
        e = prod(s(k : end));
      end
    end

    function n = numel(a, varargin)
    %numel  Number of elements, numel(a, i, j) of the part a(i, j).
      if nargin == 1
        n = prod(size(a)); %#ok<PSIZE>
        return
      end
      s = size(a);
      s(end + 1 : numel(varargin)) = 1;
      s = [s(1 : numel(varargin) - 1), prod(s(numel(varargin) : end))];
      n = 1;
      for k = 1 : numel(varargin)
        index = varargin{k};
        if ischar(index) && strcmp(index, ':')
          n = n * s(k);
        elseif islogical(index)
          n = n * nnz(index);
        else
          n = n * numel(index);
        end
      end
    end

    function varargout = size(a, varargin)
    %size  Length of each dimension.
      if nargin > 1 && ~isa(a, 'clinalg.array')
        varargin = clinalg.hosted.gathered('size', varargin);
        [varargout{1 : max(nargout, 1)}] = size(a, varargin{:});
        return
      elseif isempty(a.form)
        [m, n] = clinalg_mex('MexSize', 0, a.h);
        s = [m, n];
      elseif isempty(a.form.dims)
        [n, m] = clinalg_mex('MexSize', 0, a.form.of.h);
        s = [m, n];
      else
        s = a.form.dims;
      end
      if nargin > 1
        varargin = clinalg.hosted.gathered('size', varargin);
        dims = [varargin{:}];
        s(end + 1 : max(dims)) = 1;
        s = s(dims);
        if nargout > 1
          varargout = num2cell(s);
        else
          varargout = {s};
        end
      elseif nargout < 2
        varargout = {s};
      else
        s(end + 1 : nargout) = 1;
        varargout = [num2cell(s(1 : nargout - 1)), {prod(s(nargout : end))}];
      end
    end

    function n = sizeof(a)
    %sizeof  Bytes of the values in MATLAB's memory.
      if issparse(a)
        n = clinalg.hosted.call('sizeof', 1, 'H', {a});
        n = n{1};
      else
        n = numel(a) * 4 * (1 + strcmp(underlyingType(a), 'double')) * (1 + iscomplex(a));
      end
    end

    function t = size_equal(varargin)
    %size_equal  Whether all arguments have the same size.
      sizes = cellfun(@(a) {size(a)}, varargin);
      t = numel(sizes) < 2 || isequal(sizes{:});
    end

    function n = length(a)
    %length  Length of the longest dimension; 0 where one is 0.
      s = size(a);
      n = max(s) * all(s > 0);
    end

    function n = ndims(a)
    %ndims  Number of dimensions.
      n = numel(size(a));
    end

    function n = rows(a)
    %rows  Number of rows.
      n = size(a, 1);
    end

    function n = columns(a)
    %columns  Number of columns.
      n = size(a, 2);
    end

    function t = isempty(a)
    %isempty  Whether there is no element.
      t = any(size(a) == 0);
    end

    function t = isnull(~)
    %isnull  False.
      t = false;
    end

    function t = isvector(a)
    %isvector  Whether it has one row or one column.
      s = size(a);
      t = numel(s) == 2 && any(s == 1) && all(s > 0);
    end

    function t = iscolumn(a)
    %iscolumn  Whether it has one column.
      t = ndims(a) == 2 && size(a, 2) == 1;
    end

    function t = isrow(a)
    %isrow  Whether it has one row.
      t = ndims(a) == 2 && size(a, 1) == 1;
    end

    function t = isscalar(a)
    %isscalar  Whether it has one element.
      t = all(size(a) == 1);
    end

    function t = ismatrix(a)
    %ismatrix  Whether it has two dimensions.
      t = ndims(a) == 2;
    end

    function t = issquare(a)
    %issquare  Whether it has as many rows as columns.
      s = size(a);
      t = numel(s) == 2 && s(1) == s(2);
    end

    function t = isnumeric(~)
    %isnumeric  True.
      t = true;
    end

    function t = isfloat(~)
    %isfloat  True.
      t = true;
    end

    function t = islogical(~)
    %islogical  False.
      t = false;
    end

    function t = isreal(a)
    %isreal  Whether the values are real.
      t = ~iscomplex(a);
    end

    function t = iscomplex(a)
    %iscomplex  Whether the values are complex.
      t = clinalg.operands.is_complex(source(a).h);
    end

    function t = issparse(a)
    %issparse  Whether it is a sparse or band matrix.
      t = ~strcmp(kind_of(a), 'full');
    end

    function t = isgpuarray(~)
    %isgpuarray  True: an array on the device.
      t = true;
    end

    function t = existsOnGPU(a)
    %existsOnGPU  Whether the device still has the values; not after clinalg.shutdown.
      try
        clinalg_mex('MexInfo', 0, source(a).h);
        t = true;
      catch
        t = false;
      end
    end

    function name = classUnderlying(a)
    %classUnderlying  'double' or 'single'.
      name = underlyingType(a);
    end

    function name = underlyingType(a)
    %underlyingType  'double' or 'single'.
      info = clinalg_mex('MexInfo', 0, source(a).h);
      name = info.class;
    end

    function t = isUnderlyingType(a, name)
    %isUnderlyingType  Whether the values are of a class.
      t = strcmp(underlyingType(a), name);
    end

    function t = isaUnderlying(a, name)
    %isaUnderlying  Whether the values are of a class or of 'float' or 'numeric'.
      t = any(strcmp(name, {underlyingType(a), 'float', 'numeric'}));
    end

    function c = reshape(a, varargin)
    %reshape  The values in another shape.
      if any(cellfun(@isobject, varargin))
        varargin = clinalg.hosted.gathered('reshape', varargin);
        if ~isa(a, 'clinalg.array'), c = clinalg.hosted.one('reshape', [{a}, varargin]); return, end
      end
      if numel(varargin) == 1
        dims = varargin{1};
      else
        unknown = cellfun(@isempty, varargin);
        if sum(unknown) == 1
          varargin{unknown} = numel(a) / prod([varargin{:}]);
        end
        dims = [varargin{:}];
      end
      dims = double(dims);
      if ~strcmp(kind_of(a), 'full') || numel(dims) < 2 || any(dims < 0 | dims ~= fix(dims)) || prod(dims) ~= numel(a) || prod(dims) == 0
        c = clinalg.hosted.one('reshape', {a, dims});
      else
        dims = dims(1 : max([2, find(dims ~= 1, 1, 'last')]));
        c = clinalg.array.shaped(clinalg_mex('MexTakeLinear', 0, hand(a), [], dims(1), prod(dims(2 : end))), dims);
      end
    end

    function c = repmat(a, varargin)
    %repmat  Copies below each other and side by side.
      if any(cellfun(@isobject, varargin))
        varargin = clinalg.hosted.gathered('repmat', varargin);
        if ~isa(a, 'clinalg.array'), c = clinalg.hosted.one('repmat', [{a}, varargin]); return, end
      end
      times = [varargin{:}];
      times = [times, times(ones(1, numel(times) == 1))];
      [m, n] = size(a);
      if numel(times) ~= 2 || ndims(a) > 2 || any(times < 1 | times ~= fix(times)) || isempty(a) || ~strcmp(kind_of(a), 'full')
        c = clinalg.hosted.one('repmat', [{a}, varargin]);
      else
        c = clinalg.operands.made(clinalg_mex('MexTake', 0, hand(a), repmat(1 : m, 1, times(1)), repmat(1 : n, 1, times(2))));
      end
    end

    function c = flip(a, varargin)
    %flip  In reverse order along a dimension.
      if any(cellfun(@isobject, varargin))
        varargin = clinalg.hosted.gathered('flip', varargin);
        if ~isa(a, 'clinalg.array'), c = clinalg.hosted.one('flip', [{a}, varargin]); return, end
      end
      dims = size(a);
      dim = [find(dims ~= 1, 1), 1];
      if nargin > 1
        dim = varargin{1};
      end
      at = {[], []};
      if isempty(a) || numel(dims) > 2 || ~any(dim(1) == [1 2]) || ~strcmp(kind_of(a), 'full')
        c = clinalg.hosted.one('flip', [{a}, varargin]);
      else
        at{dim(1)} = dims(dim(1)) : -1 : 1;
        c = clinalg.operands.made(clinalg_mex('MexTake', 0, hand(a), at{:}));
      end
    end

    function c = fliplr(a)
    %fliplr  Columns in reverse order.
      c = flip(a, 2);
    end

    function c = flipud(a)
    %flipud  Rows in reverse order.
      c = flip(a, 1);
    end
  end

  methods (Hidden)
    function settle(a)
    % Makes a lazy transpose.
      if ~isempty(a.form) && isempty(a.form.dims)
        of = a.form.of;
        names = {'MexTranspose', 'MexConjTranspose'};
        if any(strcmp(kind_of(of), {'full', 'sparse'}))
          a.h = clinalg_mex(names{1 + a.form.conjugate}, 0, of.h);
        else
          x = clinalg_mex('MexHandleMatrix', 0, of.h).';
          if a.form.conjugate
            x = conj(x);
          end
          a.h = clinalg_mex('MexSparseMatrix', 0, x, strcmp(underlyingType(of), 'single'));
        end
        a.form = [];
      end
    end

    function h = hand(a)
    % The handle of the values.
      settle(a);
      h = a.h;
    end

    function o = source(a)
    % Itself, or what a lazy transpose is of.
      o = a;
      if ~isempty(a.form) && isempty(a.form.dims)
        o = a.form.of;
      end
    end

    function kind = kind_of(a)
    % 'full', 'sparse', 'band' or 'operator'.
      info = clinalg_mex('MexInfo', 0, source(a).h);
      kind = info.kind;
    end

    function t = flipped(a, conjugate)
      s = size(a);
      if numel(s) > 2
        error('clinalg:argument:shape', 'transpose: a is %s, expected two dimensions; use permute', clinalg.operands.by(s));
      elseif prod(s) == 1 && strcmp(kind_of(a), 'full')
        t = gather(a);
        if conjugate, t = conj(t); end
      elseif isempty(a.form)
        t = clinalg.array([]);
        t.form = struct('dims', [], 'of', a, 'conjugate', conjugate);
      else
        t = a.form.of;
        if conjugate ~= a.form.conjugate
          t = conj(t);
        end
      end
    end

    function c = scaled(a, k)
      if ~isreal(k) && ~iscomplex(a)
        a = clinalg.operands.promoted(a);
      end
      if ~isempty(a.form) && isempty(a.form.dims)
        % The number goes to the other side of the conjugation.
        if a.form.conjugate
          k = conj(k);
        end
        c = flipped(scaled(a.form.of, k), a.form.conjugate);
      else
        c = clinalg.array.shaped(clinalg_mex('MexVectorTimesConstant', 0, a.h, k), size(a));
      end
    end

    function c = converted(a, as_single, as_complex)
      c = clinalg.array.shaped(clinalg_mex('MexConvert', 0, hand(a), as_single, as_complex), size(a));
    end

    function c = indexed(a, subs)
    % a(subs{:}).
      subs = clinalg.hosted.gathered('()', subs);
      dims = size(a);
      [at, part, shape] = clinalg.operands.positions(subs, dims, true);
      if isempty(at)
        c = indexed_by_host(a, subs);
      elseif strcmp(kind_of(a), 'full') && numel(at) == 1
        c = clinalg.operands.made(clinalg_mex('MexTakeLinear', 0, hand(a), at{1}, shape(1), shape(2)));
      elseif strcmp(kind_of(a), 'full')
        c = clinalg.operands.made(clinalg_mex('MexTake', 0, hand(a), at{:}));
      elseif strcmp(kind_of(a), 'sparse') && numel(at) == 2
        c = clinalg.array(clinalg_mex('MexSparsePart', 0, hand(a), at{:}));
        if isscalar(c)
          c = gather(c);
        end
      else
        c = indexed_by_host(a, subs);
      end
    end

    function a = grown(a, subs, value)
    % The array, or for an assignment beyond its end a larger one padded with zeros; by MATLAB where that is not a full array of
    % two dimensions or the positions are not plain.
      s = size(a);
      count = numel(subs);
      plain = numel(s) == 2 && prod(s) > 0 && any(count == [1 2]) && ~isempty(value) && ~issparse(a) && (count == 2 || any(s == 1));
      if ~plain || ~all(cellfun(@(index) (isnumeric(index) && all(index(:) >= 1 & index(:) == fix(index(:)))) || islogical(index) || isequal(index, ':'), subs))
        return
      end
      last = s;
      for k = 1 : count
        index = subs{k};
        if islogical(index), index = find(index); end
        at = k;
        if count == 1, at = 1 + (s(1) == 1); end
        if ~ischar(index), last(at) = max([last(at); double(index(:))]); end
      end
      if ~isequal(last, s)
        larger = clinalg.array(clinalg_mex('MexZeros', 0, last(1), last(2), strcmp(underlyingType(a), 'single')));
        if iscomplex(a), larger = clinalg.operands.promoted(larger); end
        clinalg_mex('MexPut', 0, larger.h, hand(a), 1 : s(1), 1 : s(2));
        a = larger;
      end
    end

    function c = indexed_by_host(a, subs)
      x = gather(a);
      try
        c = x(subs{:});
      catch problem
        error('clinalg:argument:index', 'x(i): x is %s: %s', clinalg.operands.by(size(a)), problem.message);
      end
      c = clinalg.hosted.uploaded(c, strcmp(underlyingType(a), 'single'));
    end

    function c = assigned(a, subs, value)
    % a after a(subs{:}) = value.
      if isempty({a.h})
        % The object without values that Octave makes for a variable that does not exist.
        a = zeros(0, 'like', value);
      end
      clinalg.operands.check_classes('x(i) = v', a, value);
      subs = clinalg.hosted.gathered('()', subs);
      a = grown(a, subs, value);
      [at, part, shape] = clinalg.operands.positions(subs, size(a), false);
      % Positions that occur twice, other classes and deletion are left to MATLAB.
      if ~isempty(at) && strcmp(kind_of(a), 'full') && clinalg.operands.fits(a, value, prod(part)) && clinalg.operands.are_single(at) ...
          && (isscalar(value) || clinalg.operands.same_shape(part, shape, size(value)))
        c = copy(a);
        if isa(value, 'clinalg.array')
          [~, value] = clinalg.operands.pair(c, value);
        else
          value = clinalg.operands.like(value, c);
          if iscomplex(c)
            value = clinalg.operands.promoted(value);
          end
        end
        if numel(at) == 1
          clinalg_mex('MexPutLinear', 0, c.h, value.h, at{1});
        else
          clinalg_mex('MexPut', 0, c.h, value.h, at{:});
        end
        return
      end
      x = gather(a);
      if isequal(value, []) && isa(value, 'double')
        x(subs{:}) = [];
      else
        x(subs{:}) = clinalg.operands.on_host(value);
      end
      c = clinalg.operands.whole(x, strcmp(underlyingType(a), 'single'));
    end
  end

  methods (Static, Hidden)
    function o = nd(x)
    % A copy on the device of a full array of any number of dimensions.
      if ndims(x) == 2
        o = clinalg.array(clinalg_mex('MexMatrix', 0, x));
        return
      end
      [h, form] = clinalg.array.uploaded(x);
      o = clinalg.array(h);
      o.form = form;
    end

    function [h, form] = uploaded(x)
    % Handle and form of a copy of a full array of any number of dimensions.
      dims = size(x);
      form = [];
      h = clinalg_mex('MexMatrix', 0, reshape(x, dims(1), prod(dims(2 : end))));
      if numel(dims) > 2
        form = struct('dims', dims, 'of', [], 'conjugate', false);
        clinalg_mex('MexMark', 0, h);
      end
    end

    function o = shaped(h, dims)
    % The array of a handle whose values have these dimensions.
      o = clinalg.array(h);
      if numel(dims) > 2
        o.form = struct('dims', dims, 'of', [], 'conjugate', false);
        clinalg_mex('MexMark', 0, h);
      end
    end

    function a = loadobj(s)
    % From what saveobj gives.
      a = clinalg.operands.like(s.values, s.class);
    end
  end
end
