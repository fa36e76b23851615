% Timings inside Octave for compare_cpu.py, which sets the variables; prints one JSON object.
%   CLINALG_N        points a side of the grid; CLINALG_LENGTH  length of the vectors; CLINALG_SAMPLES
%   CLINALG_X, _Y    files of f64: the product's argument, and where its result goes
n = str2double (getenv ("CLINALG_N"));
len = str2double (getenv ("CLINALG_LENGTH"));
samples = str2double (getenv ("CLINALG_SAMPLES"));

function report (name, seconds, last)
  printf ("\"%s\": [%s]%s", name, strjoin (arrayfun (@(s) sprintf ("%.9f", s), seconds, "UniformOutput", false), ", "), last);
end

file = fopen (getenv ("CLINALG_X"), "r");
x = fread (file, n * n, "double");
fclose (file);
e = ones (n, 1);
t = spdiags ([-e, 2 * e, -e], -1:1, n, n);
A = kron (speye (n), t) + kron (t, speye (n));
y = A * x;
file = fopen (getenv ("CLINALG_Y"), "w");
fwrite (file, y, "double");
fclose (file);

printf ("{\"version\": \"%s\", \"seconds\": {", version ());
s = zeros (1, samples);
for k = 1:samples, tic; y = A * x; s(k) = toc; end
report ("mv_csr_poisson5", s, ", ");
clear A t y

a = rand (len, 1) - 0.5;
b = rand (len, 1) - 0.5;
for k = 1:samples, tic; c = 2 * a + 3 * b; s(k) = toc; end
report ("axpby", s, ", ");
for k = 1:samples, tic; c = 2 * a; s(k) = toc; end
report ("scale", s, ", ");
for k = 1:samples, tic; c = a .* b; s(k) = toc; end
report ("multiply", s, ", ");
for k = 1:samples, tic; r = sum (a); s(k) = toc; end
report ("sum", s, ", ");
for k = 1:samples, tic; r = a' * b; s(k) = toc; end
report ("dot", s, ", ");
for k = 1:samples, tic; r = norm (a, 1); s(k) = toc; end
report ("norm1", s, ", ");
for k = 1:samples, tic; r = norm (a); s(k) = toc; end
report ("norm2", s, ", ");
for k = 1:samples, tic; r = norm (a, Inf); s(k) = toc; end
report ("norm_inf", s, "");
printf ("}}\n");
