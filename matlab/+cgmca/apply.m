function Z = apply(model, domain, X, varargin)
%APPLY  Maps samples of a domain into the common space.
%   Z = cgmca.apply(model, 1, X) of n×p samples is n×k. 'Columns', true: X is p×n, Z is k×n.
%   Example:  Z1 = cgmca.apply(model, 1, X);
  given = cgmca.internal.values(varargin, struct('Columns', false));
  Z = cgmca_mex('apply', model.bytes, domain, cgmca.internal.matrix(X), double(given.Columns));
end
