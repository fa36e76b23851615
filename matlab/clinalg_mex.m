function varargout = clinalg_mex(varargin)
%clinalg_mex  Gateway of the Mex functions to the library clinalg.
%   [outputs] = clinalg_mex(name, inputs)
%
%   The functions Mex* and the objects clinalg.* call it; call those instead. This file is the help text: the
%   host runs clinalg_mex.mex (Octave) or clinalg_mex.mexa64 (MATLAB) beside it.
%
%   See also MexInitOpenCL, MexShutdown.
error('clinalg:host:noLibrary', ['clinalg_mex: the compiled library is not beside %s.m or not made for this ' ...
  'machine; in the sources of clinalg, cargo xtask matlab builds it'], mfilename('fullpath'));
end
