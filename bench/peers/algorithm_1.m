% Algorithm 1 as a user of MATLAB or Octave writes it. FOLDER holds pairs.mat; maps and correlations go to octave.mat.
folder = getenv('FOLDER');
load(fullfile(folder, 'pairs.mat'));  % a, b: n x d
function kib = status(field)
  text = fileread('/proc/self/status');
  kib = str2double(regexp(text, [field ':\s*(\d+)'], 'tokens', 'once'){1});
end
file = fopen('/proc/self/clear_refs', 'w'); fputs(file, '5'); fclose(file);
before = status('VmRSS');
tic;
n = rows(a);
S1 = (a - mean(a))' / sqrt(n - 1); S2 = (b - mean(b))' / sqrt(n - 1);
[U1, D1, V1] = svd(S1, 'econ'); [U2, D2, V2] = svd(S2, 'econ'); s1 = diag(D1); s2 = diag(D2);
r1 = sum(s1 > max(size(S1)) * eps * s1(1)); r2 = sum(s2 > max(size(S2)) * eps * s2(1));
[UB, SB, VB] = svd(V1(:, 1:r1)' * V2(:, 1:r2), 'econ');
F = U1(:, 1:550) * diag(s1(1:550));
A1 = F * (UB(:, 1:550)' * (U1(:, 1:r1) ./ s1(1:r1)')');
A2 = F * (VB(:, 1:550)' * (U2(:, 1:r2) ./ s2(1:r2)')');
seconds = toc;
rise = 1024 * (status('VmHWM') - before);
correlations = diag(SB);
save('-v7', fullfile(folder, 'octave.mat'), 'A1', 'A2', 'correlations');
printf('%.6f %.0f\n', seconds, rise);
