function tests = test_session()
tests = {@a_session_opens_once, @devices_are_listed, @a_device_is_chosen, @released_sessions_are_stale, ...
  @two_sessions_do_not_mix, @a_shut_down_library_starts_again, @the_version_is_a_text, @zero_is_the_session};
end

function a_session_opens_once()
gpu = MexInitOpenCL();
check(isa(gpu, 'uint64') && isscalar(gpu));
check(MexInitOpenCL() == gpu);
end

function devices_are_listed()
gpu = MexInitOpenCL();
devices = MexPrintGPU(gpu);
check(isstruct(devices) && size(devices, 2) == 1);
check([devices.index] == 0 : numel(devices) - 1);
check(sum([devices.selected]) == 1);
check(ischar(devices(1).name) && islogical(devices(1).fp64) && devices(1).compute_units > 0);
printed = evalc('MexPrintGPU(gpu)');
check(~isempty(strfind(printed, devices(1).name)), printed); %#ok<STREMP>
info = MexDeviceInfo(gpu);
check(isequal(info, devices([devices.selected])));
end

function a_device_is_chosen()
gpu = MexInitOpenCL();
info = MexDeviceInfo(gpu);
h = MexMatrix(gpu, 1);
MexSetGPU(gpu, info.index, info.fp64);
MexSetGPU(gpu, int32(info.index));
MexSetGPU(gpu, info.name(1:4));
check(MexSum(gpu, h) == 1);
check_error('clinalg:device:notFound', 'MexSetGPU', @() MexSetGPU(gpu, 999));
check_error('clinalg:device:notFound', 'no such device', @() MexSetGPU(gpu, 'no such device'));
check_error('clinalg:argument:value', '`device` is -1', @() MexSetGPU(gpu, -1));
check_error('clinalg:argument:value', '`doubles` is 2', @() MexSetGPU(gpu, 0, 2));
MexReleaseMatrix(gpu, h);
end

function released_sessions_are_stale()
gpu = MexInitOpenCL();
h = MexMatrix(gpu, [1 2 3]);
MexReleaseOpenCL(gpu);
check_error('clinalg:handle:stale', 'argument 1 `gpu`', @() MexReleaseOpenCL(gpu));
check_error('clinalg:handle:stale', 'argument 1 `gpu`', @() MexSum(gpu, h));
check_error('clinalg:handle:stale', 'argument 2 `a`', @() MexSum(MexInitOpenCL(), h));
check_error('clinalg:handle:foreign', 'argument 1 `gpu`', @() MexSum(h, h));
check_error('clinalg:handle:foreign', 'argument 1 `gpu`', @() MexSum(uint64(12345), h));
end

function two_sessions_do_not_mix()
for session = 1 : 2
  gpu = MexInitOpenCL();
  a = MexMatrix(gpu, rand(100, 1));
  s = MexSparseMatrix(gpu, speye(100));
  y = MexSparseMatrixVector(gpu, s, a);
  check(isequal(MexHandleMatrix(gpu, y), MexHandleMatrix(gpu, a)));
  memory = MexMemory(gpu);
  check(memory.objects == 3 && memory.live_bytes > 0);
  MexReleaseOpenCL(gpu);
  if session == 1
    old = a;
  end
end
gpu = MexInitOpenCL();
check_error('clinalg:handle:stale', '`a`', @() MexSum(gpu, old));
memory = MexMemory(gpu);
check(memory.objects == 0 && memory.live_bytes == 0);
end

function a_shut_down_library_starts_again()
gpu = MexInitOpenCL();
h = MexMatrix(gpu, 1);
MexShutdown();
clear functions
gpu = MexInitOpenCL();
check_error('clinalg:handle:stale', '`a`', @() MexSum(gpu, h));
check(MexSum(gpu, MexMatrix(gpu, 5)) == 5);
MexReleaseOpenCL(gpu);
end

function the_version_is_a_text()
check(~isempty(regexp(MexVersion(), '^\d+\.\d+\.\d+$', 'once')));
end

function zero_is_the_session()
gpu = MexInitOpenCL();
h = MexMatrix(0, [1 2]);
check(MexSum(gpu, h) == 3 && MexSum(0, h) == 3);
MexReleaseOpenCL(0);
check_error('clinalg:handle:stale', '`gpu`', @() MexSum(gpu, h));
end
