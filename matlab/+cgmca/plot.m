function plot(model, varargin)
%PLOT  The correlations of a model; with samples also the first two common dimensions.
%   cgmca.plot(model) draws the canonical correlations, or for more domains the correlations of the first two in the
%   common space. cgmca.plot(model, X, Y) or cgmca.plot(model, {X, Y, Z}) adds the mapped samples. 'Columns', true: samples
%   are columns.
%   Example:  cgmca.plot(model, X, Y)
  [given, samples] = cgmca.internal.values(varargin, struct('Columns', false), true);
  if numel(samples) == 1 && iscell(samples{1}), samples = samples{1}; end
  r = model.correlations;
  if isempty(r), r = cgmca_mex('array', model.bytes, 'common_correlations', 1, 2); end
  if ~isempty(samples), subplot(1, 2, 1); end
  bar(r(:));
  xlabel('direction'), ylabel('correlation'), ylim([0 1]);
  if isempty(samples), return, end
  subplot(1, 2, 2);
  cla
  colours = get(gca, 'ColorOrder');
  for i = 1:numel(samples)
    if isempty(samples{i}), continue, end
    Z = cgmca.apply(model, i, samples{i}, 'Columns', given.Columns);
    if given.Columns, Z = Z'; end
    if size(Z, 2) < 2, Z(:, 2) = 0; end
    line(Z(:, 1), Z(:, 2), 'LineStyle', 'none', 'Marker', '.', 'DisplayName', model.names{i}, ...
         'Color', colours(1 + mod(i - 1, size(colours, 1)), :));
  end
  xlabel('common dimension 1'), ylabel('common dimension 2'), legend('show');
end
