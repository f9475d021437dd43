function Z = fuse(model, X, varargin)
%FUSE  One point of the common space from the samples of all domains that are present.
%   Z = cgmca.fuse(model, {X, Y}). Name-value: 'Domains' (1:numel(X)), 'How' ('estimate', 'mean'), 'Columns'. A sample
%   that holds NaN counts as absent.
%   Example:  Z = cgmca.fuse(model, {Y}, 'Domains', 2);
  if ~iscell(X), X = {X}; end
  given = cgmca.internal.values(varargin, struct('Domains', 1:numel(X), 'How', 'estimate', 'Columns', false));
  X = cellfun(@cgmca.internal.matrix, X, 'UniformOutput', false);
  Z = cgmca_mex('fuse', model.bytes, double(given.Domains), X, given.How, double(given.Columns));
end
