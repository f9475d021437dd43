% One digit of the paper's table: corrupted digits translated to clean ones. SSIM of MCA and CGMCA, as `cgmca reproduce
% mnist --digits 3` has it. Needs the package cgmca on the path, and MNIST's training files (plain or .gz) in `folder`.
if ~exist('folder', 'var'), folder = 'out/data/mnist'; end
if ~exist('digit', 'var'), digit = 3; end
ranks = [500 500 500 550 550 550 500 500 500 500];
t = ranks(digit + 1);                                          % the paper's rank of this digit
[images, labels] = paper.mnist(folder);
places = find(labels == digit) - 1;                            % numbers of the images, from 0
places = places(paper.permutation(1, digit, numel(places)));
clean = double(images(places + 1, :)) / 255;                   % rows are images
noisy = min(max(clean + sqrt(.1) * paper.normal(1, places, 784), 0), 1);
n = floor((8 * numel(places) + 5) / 10);                       % four fifths to fit, the others to test

cgmca_model = cgmca.fit(clean(1:n, :), noisy(1:n, :), 'Covariance', sprintf('data1:%d', t));
mca_model = cgmca.fit(clean(1:n, :), noisy(1:n, :), 'Covariance', sprintf('identity:%d', t));
score = @(model) paper.ssim(paper.filtered(cgmca.translate(model, noisy(n + 1:end, :), 'Method', 'lsqr')), clean(n + 1:end, :));
mca = score(mca_model);
with_covariance = score(cgmca_model);
fprintf('digit %d, %d pairs, rank %d: SSIM %.6f by MCA, %.6f by CGMCA\n', digit, n, t, mca, with_covariance);
