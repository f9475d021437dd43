% What the package promises, beside what plain Octave code says. Run by tests/fronts/check_octave.
randn('seed', 1);
causes = randn(60, 3);
X = causes * randn(3, 7) + .3 * randn(60, 7) + 2;
Y = causes * randn(3, 5) + .3 * randn(60, 5);
near = @(a, b, tolerance) assert(norm(a - b, 'fro') <= tolerance * (1 + norm(b, 'fro')), 'they differ by %g', norm(a - b, 'fro'));

% The covariance asked for, rows and columns, single and double, tables of options.
model = cgmca.fit(X, Y, 'Covariance', diag([4 1]));
near(cov(cgmca.apply(model, 1, X)), diag([4 1]), 1e-12);
near(cgmca.apply(model, 2, Y), Y * model.A{2}' + model.b{2}', 1e-12);
by_columns = cgmca.fit(X', Y', 'Covariance', diag([4 1]), 'Columns', true);
assert(isequal(by_columns.bytes, model.bytes));
assert(isequal(cgmca.apply(model, 1, X', 'Columns', true), cgmca.apply(model, 1, X)'));
Z = cgmca.apply(model, 1, single(X));
assert(isa(Z, 'single'));
near(double(Z), cgmca.apply(model, 1, X), 1e-5);
weighted = cgmca.fit(X, Y, 'Weights', [2; ones(59, 1)], 'Covariance', 'identity:2');
twice = cgmca.fit([X(1, :); X], [Y(1, :); Y], 'Covariance', 'identity:2');
near(weighted.objective, twice.objective, 1e-12);
regular = cgmca.fit(X, Y, 'covariance', {'sd:1', 'sd:1'}, 'matrices', {[2 1]}, 'RIDGE', {.1, 0}, 'MaxRank', [4 0]);
assert(regular.ranks(1) == 4 && regular.k == 2);

% There and back, with errors; the limits hold about nine of ten.
model = cgmca.fit(X, Y, 'Covariance', 'identity:3');
[estimate, se, lower, upper] = cgmca.translate(model, Y, 'Interval', .9);
within = mean(mean(lower < X & X < upper));
assert(within > .84 && within < .97, '%g', within);
near(cgmca.apply(model, 1, cgmca.invert(model, 1, cgmca.apply(model, 1, X))), cgmca.apply(model, 1, X), 1e-12);
assert(isequal(size(cgmca.translate(model, X, 'From', 1, 'To', 2, 'Method', 'lsqr', 'Iterations', 3)), size(Y)));
found = cgmca.verify(model, X, Y);
assert(found.certified && max(found.constraint_residuals) < 1e-10);
proof = cgmca.certificate(model);
assert(abs(proof.excess) < 1e-12 && proof.certified);

% Every function takes columns, and singles give singles.
assert(isequal(cgmca.translate(model, Y', 'Columns', true), cgmca.translate(model, Y)'));
[estimate1, se1, lower1] = cgmca.translate(model, single(Y), 'Interval', .9);
assert(isa(estimate1, 'single') && isa(se1, 'single') && isa(lower1, 'single'));
near(double(estimate1), estimate, 1e-5);
Z1 = cgmca.apply(model, 1, X);
assert(isequal(cgmca.invert(model, 1, Z1', 'Columns', true), cgmca.invert(model, 1, Z1)'));
assert(isequal(cgmca.fuse(model, {X', Y'}, 'Columns', true), cgmca.fuse(model, {X, Y})'));
for method = {'exact', 'mahalanobis', 'lmmse', 'lsqr'}
  assert(isequal(size(cgmca.invert(model, 1, Z1, 'Method', method{1})), size(X)));
  assert(isequal(size(cgmca.translate(model, Y, 'Method', method{1})), size(X)));
end
by_columns = cgmca.verify(model, X', Y', 'Columns', true);
near(by_columns.objective, found.objective, 1e-12);

% Scaled features, shrinking towards the sample itself, samples that lack a domain, held-out errors, extra samples.
big = X .* [1 10 100 1 1 1 1];
near(cgmca.apply(cgmca.fit(big, Y, 'Scale', true, 'Covariance', 'identity:2'), 1, big), ...
     cgmca.apply(cgmca.fit(X, Y, 'Scale', true, 'Covariance', 'identity:2'), 1, X), 1e-8);
moved = X + 3 + .05 * randn(60, 7);
near(cgmca.translate(cgmca.fit(X, moved, 'Towards', 'identity', 'Ridge', 1e6), moved), moved - mean(moved) + mean(X), 1e-2);
gaps = Y;
gaps(1:5, 2) = NaN;
partly = cgmca.fit(X, gaps, 'Missing', 'keep', 'Ridge', .1, 'Covariance', 'identity:2');
attained = cgmca.verify(partly, X, gaps, 'Missing', 'keep');
assert(partly.samples == 60 && attained.certified);
calibrated = cgmca.fit(X, Y, 'Calibrate', 5);
assert(cgmca_mex('number', calibrated.bytes, 'calibration_folds') == 5);
more = cgmca.fit(X(1:40, :), Y(1:40, :), 'Extra', {X(41:60, :), []});
fewer = cgmca.fit(X(1:40, :), Y(1:40, :));
assert(more.objective ~= fewer.objective);

% Three domains, fused and translated from two; a missing one.
V = X(:, 1:3) + Y(:, 1:3);
three = cgmca.fit({X, Y, V}, 'Covariance', 'identity:2', 'Graph', 'star:1', 'Names', {'a', 'b', 'c'});
assert(isequal(three.names, {'a', 'b', 'c'}));
assert(isequal(size(cgmca.fuse(three, {Y, V}, 'Domains', [2 3])), [60 2]));
gone = V;
gone(4, :) = NaN;
both = cgmca.translate(three, {Y, gone}, 'From', [2 3]);
alone = cgmca.translate(three, Y, 'From', 2);
near(both(4, :), alone(4, :), 1e-12);

% canoncorr, beside the textbook.
[A, B, r, U, W, stats] = cgmca.canoncorr(X, Y);
[Qx, Rx] = qr(X - mean(X), 0);
[Qy, Ry] = qr(Y - mean(Y), 0);
rho = svd(Qx' * Qy)';
near(r, rho, 1e-12);
near(cov(U), eye(5), 1e-12);
near((X - mean(X)) * A, U, 1e-12);
near((Y - mean(Y)) * B, W, 1e-12);
near(diag(U' * W)' / 59, rho, 1e-12);
k = 0:4;
lambda = fliplr(cumprod(fliplr(1 - rho .^ 2)));
near(stats.Wilks, lambda, 1e-12);
near(stats.df1, (7 - k) .* (5 - k), 1e-15);
P = 7 - k; Q = 5 - k;
s = sqrt((P .^ 2 .* Q .^ 2 - 4) ./ (P .^ 2 + Q .^ 2 - 5));
s(P .* Q == 2) = 1;
df2 = (60 - .5 * (7 + 5 + 3)) * s - .5 * P .* Q + 1;
near(stats.df2, df2, 1e-12);
near(stats.F, (lambda .^ (-1 ./ s) - 1) .* df2 ./ stats.df1, 1e-9);
near(stats.pF, betainc(df2 ./ (df2 + stats.df1 .* stats.F), df2 / 2, stats.df1 / 2), 1e-9);
chisq = -(60 - k - .5 * (7 + 5 + 3) + cumsum([0, rho(1:end - 1) .^ -2])) .* log(lambda);
near(stats.chisq, chisq, 1e-12);
near(stats.pChisq, gammainc(chisq / 2, stats.df1 / 2, 'upper'), 1e-9);
lastwarn('');
[~, ~, r2, U2] = cgmca.canoncorr([X, X(:, 1)], Y);
[~, id] = lastwarn();
assert(strcmp(id, 'cgmca:canoncorr:NotFullRank'));
near(r2, r, 1e-10);
near(abs(U2), abs(U), 1e-8);

% Choosing.
[best, result] = cgmca.tune(X, Y, 'Families', 'correlation', 'Ranks', [1 3], 'Ridges', [0 -1]);
assert(numel(result.trials) == 4 && strcmp(result.trials(result.chosen).covariance, 'correlation:3') && best.k == 3);

[~, result] = cgmca.tune(X, moved, 'Ranks', [1 3], 'Ridges', [.01 1], 'Downstream', ones(1, 7));
assert(strcmp(result.criterion, 'downstream') && result.expected > 0 && numel(result.recommendation) >= 2);
assert(any(strcmp({result.trials.towards}, 'identity')));
[~, result] = cgmca.tune(X, Y, 'Ranks', [1 2], 'Ridges', 0, 'Labels', X(:, 1) > 2, 'Folds', 3, 'Repeats', 1);
assert(strcmp(result.criterion, 'classification'));

% Every function has a help text with an example.
functions = {'fit', 'apply', 'translate', 'invert', 'fuse', 'tune', 'verify', 'certificate', 'load', 'save', 'plot', ...
             'canoncorr'};
for i = 1:numel(functions)
  text = evalc(sprintf('help cgmca.%s', functions{i}));
  assert(~isempty(regexpi(text, ['\n' functions{i} '  '])) && ~isempty(strfind(text, 'Example')), functions{i});
end

% Pictures, where there is a way to draw.
if ~isempty(available_graphics_toolkits())
  drawn = figure('visible', 'off');
  cgmca.plot(model, X, Y);
  points = findobj(drawn, 'type', 'line', 'marker', '.');
  points = points(arrayfun(@(one) numel(get(one, 'xdata')), points) == 60);  % not those of the legend
  Z2 = cgmca.apply(model, 2, Y);
  assert(numel(points) == 2 && isequal(get(points(1), 'xdata')(:), Z2(:, 1)));
  clf(drawn);
  cgmca.plot(model, {X', Y'}, 'Columns', true);
  clf(drawn);
  cgmca.plot(three);
  close(drawn);
end

% Errors have identifiers, and leave everything as it was.
cases = {{X, Y, 'Covariance', 'identity:9'}, 'cgmca:infeasible'; {X, Y(1:9, :)}, 'cgmca:unequalSamples'
         {X, Y, 'Covariance', 'none'}, 'cgmca:invalidInput'; {X, Y, 'Covarance', 1}, 'cgmca:invalidInput'
         {[X; NaN(1, 7)], [Y; zeros(1, 5)]}, 'cgmca:notFinite'; {X, 'Ridge'}, 'cgmca:invalidInput'
         {X, Y, 'Missing', 'perhaps'}, 'cgmca:invalidInput'; {X, Y, 'Towards', 'identity'}, 'cgmca:invalidInput'
         {X, [Y(1:59, :); NaN(1, 5)]}, 'cgmca:notFinite'; {}, 'cgmca:invalidInput'; {'text', Y}, 'cgmca:invalidInput'
         {X, Y, 'Weights', 1}, 'cgmca:unequalSamples'; {X, Y, 'Ridge', 'much'}, 'cgmca:invalidInput'};
for i = 1:size(cases, 1)
  try
    cgmca.fit(cases{i, 1}{:});
    error('test:none', 'no error');
  catch problem
    assert(strcmp(problem.identifier, cases{i, 2}), '%d: %s: %s', i, problem.identifier, problem.message);
  end
end

% Files, and memory that stays flat over many calls with errors among them.
path = tempname();
cgmca.save(model, path);
same = cgmca.load(path);
assert(isequal(same, model));
delete(path);
resident = @() str2double(regexp(fileread('/proc/self/status'), 'VmRSS:\s*(\d+)', 'tokens', 'once'){1});
calls = str2double(getenv('CGMCA_CALLS'));
for i = 1:calls
  if i == ceil(calls / 2), before = resident(); end
  bytes = cgmca_mex('fit', {X, Y}, struct('covariance', sprintf('identity:%d', 1 + mod(i, 3))));
  try, cgmca_mex('apply', bytes, 7, X, 0); catch, end
end
grown = resident() - before;
assert(grown < 600, '%d kB more', grown);
printf('%d calls: %d kB more in the second half\n', calls, grown);
