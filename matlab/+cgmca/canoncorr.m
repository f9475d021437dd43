function [A, B, r, U, V, stats] = canoncorr(X, Y)
%CANONCORR  Canonical correlation analysis: a drop-in for canoncorr of the Statistics Toolbox.
%   [A, B, r, U, V, stats] = cgmca.canoncorr(X, Y) of n×p and n×q matrices. A is p×d, B is q×d, r is 1×d with
%   d = min(rank(X), rank(Y)); U = (X - mean)*A and V = (Y - mean)*B have the covariance I. stats has Wilks, df1, df2, F
%   (Rao), pF, chisq (Bartlett and Lawley) and pChisq of the hypotheses that the correlations from the k-th on are zero.
%
%   What differs: columns may have other signs. Where X or Y lacks full rank there is the same warning, but the
%   coefficients are those of least norm, all features taking part, where canoncorr drops features and sets their
%   coefficients to 0. U, V, r and stats are the same. Where there are too few samples for the tests, stats is NaN.
%
%   Example:  [A, B, r, U, V, stats] = cgmca.canoncorr(X, Y);
  model = cgmca.internal.model('fit', {cgmca.internal.matrix(X), cgmca.internal.matrix(Y)}, ...
                               struct('covariance', 'identity'));
  ranks = model.ranks;
  if ranks(1) < size(X, 2), warning('cgmca:canoncorr:NotFullRank', 'X is not full rank.'); end
  if ranks(2) < size(Y, 2), warning('cgmca:canoncorr:NotFullRank', 'Y is not full rank.'); end
  d = min(ranks);
  r = min(model.correlations(1:d), 1);
  A = model.A{1}';
  B = model.A{2}';
  if nargout > 3, U = cgmca.apply(model, 1, X); V = cgmca.apply(model, 2, Y); end
  if nargout < 6, return, end
  tests = NaN(25, d);
  try
    tests = cgmca_mex('array', model.bytes, 'tests', 0, 0)';
  catch problem
    warning('cgmca:canoncorr:stats', '%s', problem.message);
  end
  stats = struct('Wilks', tests(3, :), 'df1', tests(5, :), 'df2', tests(6, :), 'F', tests(4, :), 'pF', tests(7, :), ...
                 'chisq', tests(23, :), 'pChisq', tests(25, :), 'dfe', tests(24, :), 'p', tests(25, :));
end
