function [X, names] = matrix(X)
% Samples as a full real matrix of doubles or singles, and the names of a table's variables.
  names = {};
  if exist('istable') && istable(X) %#ok<EXIST>
    names = X.Properties.VariableNames;
    X = X{:, :};
  end
  if ~(isnumeric(X) || islogical(X)) || ndims(X) > 2 || ~isreal(X)
    shape = strjoin(arrayfun(@(n) sprintf('%d', n), size(X), 'UniformOutput', false), '×');
    error('cgmca:invalidInput', 'samples are a real matrix, this is %s of class %s', shape, class(X));
  end
  if issparse(X), X = full(X); end
  if ~isa(X, 'single'), X = double(X); end
end
