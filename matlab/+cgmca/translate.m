function [Xhat, se, lower, upper] = translate(model, X, varargin)
%TRANSLATE  Turns samples of one domain, or of several, into samples of another.
%   Xhat = cgmca.translate(model, Y) turns samples of domain 2 into those of domain 1.
%   [Xhat, se] = ... gives the standard errors of new samples.
%   [Xhat, se, lower, upper] = cgmca.translate(model, Y, 'Interval', .9) also limits that hold the truth in 90 %.
%   Name-value: 'From' (2; or [2 3] for a cell of two matrices), 'To' (1), 'Method' ('lmmse', 'exact', 'mahalanobis',
%   'lsqr'), 'Iterations' (of lsqr), 'Interval', 'Columns'.
%   Example:  Yhat = cgmca.translate(model, X, 'From', 1, 'To', 2);
  given = cgmca.internal.values(varargin, struct('From', 2, 'To', 1, 'Method', 'lmmse', 'Iterations', 0, ...
                                                 'Interval', [], 'Columns', false));
  if ~iscell(X), X = {X}; end
  X = cellfun(@cgmca.internal.matrix, X, 'UniformOutput', false);
  if nargout > 2 && isempty(given.Interval)
    error('cgmca:invalidInput', 'limits need a probability: cgmca.translate(..., ''Interval'', .9)');
  end
  results = cell(1, max(1, min(nargout, 3)));
  probability = [given.Interval(:); 0];
  [results{:}] = cgmca_mex('translate', model.bytes, X, double(given.From), double(given.To), given.Method, ...
                           given.Iterations, probability(1), double(given.Columns), numel(results));
  Xhat = results{1};
  if nargout > 1, se = results{2}; end
  if nargout > 2, lower = Xhat - results{3}; upper = Xhat + results{3}; end
end
