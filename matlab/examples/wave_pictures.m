function [files, drift] = wave_pictures(folder, N, frames)
%wave_pictures  A membrane struck off its middle, saved as pictures for an animation.
%   [files, drift] = wave_pictures(folder, N, frames)
%
%   Follows u_tt = Laplace u on the unit square with fixed edges on N x N points (default 257) from a bump at rest,
%   several steps of the device's own kernels in one pass over memory. Writes frames (default 40) pictures wave_001.png,
%   ... to folder (default: a new one) and returns their names, and by how much the energy has drifted. To make a film:
%   ffmpeg -i wave_%03d.png wave.mp4
%
%   See also wave_animation, which does the same by sparse products.
if nargin < 1, folder = tempname(); end
if nargin < 2, N = 257; end
if nargin < 3, frames = 40; end
if ~exist(folder, 'dir')
  mkdir(folder);
end

[x, y] = meshgrid(linspace(0, 1, N));
u = exp(-200 * ((x - 0.3) .^ 2 + (y - 0.4) .^ 2));
u([1 end], :) = 0;
u(:, [1 end]) = 0;
w = clinalg.wave(u, 0.7 / (N - 1));
E = energy(w);

files = cell(1, frames);
steps = round(1.5 * (N - 1) / 0.7 / frames);
for frame = 1 : frames
  step(w, steps);
  files{frame} = fullfile(folder, sprintf('wave_%03d.png', frame));
  save_picture(displacement(w), files{frame});
end
drift = energy(w) / E - 1;
fprintf('%d pictures in %s, up to t = %.3f; the energy drifted by %.1e of it\n', frames, folder, w.t, drift);
end

function save_picture(u, file)
% Blue below, white at and red above 0.
v = min(max(2 * u, -1), 1);
red = 1 + min(v, 0);
blue = 1 - max(v, 0);
green = min(red, blue);
imwrite(uint8(255 * cat(3, red, green, blue)), file);
end
