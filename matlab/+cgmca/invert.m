function X = invert(model, domain, Z, varargin)
%INVERT  Samples of a domain from points of the common space.
%   X = cgmca.invert(model, 1, Z). Name-value: 'Method' ('exact', 'mahalanobis', 'lmmse', 'lsqr'), 'Iterations',
%   'Columns'.
%   Example:  back = cgmca.invert(model, 1, cgmca.apply(model, 1, X));
  given = cgmca.internal.values(varargin, struct('Method', 'exact', 'Iterations', 0, 'Columns', false));
  X = cgmca_mex('invert', model.bytes, domain, cgmca.internal.matrix(Z), given.Method, given.Iterations, ...
                double(given.Columns));
end
