function plot(model, varargin)
%PLOT  The correlations of a model; with samples also the first two common dimensions.
%   cgmca.plot(model) draws the canonical correlations, or for more domains the correlations of the first two in the
%   common space. cgmca.plot(model, X, Y) or cgmca.plot(model, {X, Y, Z}) adds the mapped samples.
%   Example:  cgmca.plot(model, X, Y)
  samples = varargin;
  if numel(samples) == 1 && iscell(samples{1}), samples = samples{1}; end
  r = model.correlations;
  if isempty(r), r = cgmca_mex('array', model.bytes, 'common_correlations', 1, 2); end
  if ~isempty(samples), subplot(1, 2, 1); end
  bar(r(:));
  xlabel('direction'), ylabel('correlation'), ylim([0 1]);
  if isempty(samples), return, end
  subplot(1, 2, 2);
  cla, hold on
  for i = 1:numel(samples)
    Z = cgmca.apply(model, i, samples{i});
    if size(Z, 2) < 2, Z(:, 2) = 0; end
    plot(Z(:, 1), Z(:, 2), '.', 'DisplayName', model.names{i});
  end
  hold off
  xlabel('common dimension 1'), ylabel('common dimension 2'), legend('show');
end
