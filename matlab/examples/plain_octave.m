% Algorithm 1 in plain code beside cgmca.fit: the same maps, and the times of both. Runs in MATLAB and Octave.
if exist('rng'), rng(1); else, randn('seed', 1); end
n = 3000; d = 300; t = 100;
causes = randn(n, 120);
X = causes * randn(120, d) + 0.5 * randn(n, d);
Y = causes * randn(120, d) + 0.5 * randn(n, d);

tic;
Xc = (X - mean(X)) / sqrt(n - 1);
Yc = (Y - mean(Y)) / sqrt(n - 1);
[V1, S1, U1] = svd(Xc, 'econ');
[V2, S2, U2] = svd(Yc, 'econ');
[UB, ~, VB] = svd(V1' * V2);
F = U1(:, 1:t) * S1(1:t, 1:t);                          % C = F*F': the best rank-t approximation of cov(X)
A1 = F * UB(:, 1:t)' * diag(1 ./ diag(S1)) * U1';
A2 = F * VB(:, 1:t)' * diag(1 ./ diag(S2)) * U2';
plain = toc;

tic;
model = cgmca.fit(X, Y, 'Covariance', sprintf('data1:%d', t));
ours = toc;

difference = norm(A1' * A2 - model.A{1}' * model.A{2}) / norm(A1' * A2);   % signs of common directions may differ
fprintf('plain code %.2f s, cgmca %.2f s; the maps differ by %.1e\n', plain, ours, difference);
assert(difference < 1e-9);
