function found = verify(model, varargin)
%VERIFY  Recomputes from samples what a model claims, and the best value that any maps can reach.
%   found = cgmca.verify(model, X, Y), or cgmca.verify(model, {X, Y, Z}); 'Weights', 'Missing' and 'Columns' as in cgmca.fit.
%   found.certified says whether the maps are the best; found.shortfall how far they are from it.
%   Example:  found = cgmca.verify(model, X, Y);
  [X, options] = cgmca.internal.samples(varargin);
  found = cgmca_mex('verify', model.bytes, X, options);
end
