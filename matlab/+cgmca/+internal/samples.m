function [X, options] = samples(list)
% The matrices at the head of a list of arguments, as a cell, and the options after them, as cgmca_mex takes them.
  if isempty(list), error('cgmca:invalidInput', 'samples are missing: give X and Y, or a cell {X, Y, Z}'); end
  list = cgmca.internal.texts(list);
  if iscell(list{1})
    X = list{1};
    rest = list(2:end);
  else
    count = find([cellfun(@ischar, list), true], 1) - 1;
    X = list(1:count);
    rest = list(count + 1:end);
  end
  defaults = struct('Covariance', '', 'Matrices', {{}}, 'Ridge', [], 'MaxRank', [], 'RankTol', 0, 'Weights', [], ...
                    'Extra', {{}}, 'Calibrate', 0, 'Names', {{}}, 'Graph', '', 'Seed', 0, 'RandomStarts', [], ...
                    'MaxSweeps', 0, 'MaxSeconds', 0, 'Accumulate', '', 'Scale', false, 'Towards', '', 'Missing', '', ...
                    'Columns', false);
  given = cgmca.internal.values(rest, defaults);
  m = numel(X);
  features = cell(1, m);
  for i = 1:m, [X{i}, features{i}] = cgmca.internal.matrix(X{i}); end
  extra = cellfun(@cgmca.internal.matrix, given.Extra, 'UniformOutput', false);
  if ~isempty(extra) && numel(extra) ~= m
    error('cgmca:invalidInput', 'Extra has %d entries for %d domains; give one for each, or []', numel(extra), m);
  end
  [covariance, matrices] = covariances(given.Covariance, given.Matrices, m);
  n = size(X{1}, 1 + logical(given.Columns));
  if ~isempty(given.Weights) && numel(given.Weights) ~= n
    error('cgmca:unequalSamples', '%d weights for %d samples', numel(given.Weights), n);
  end
  graph = given.Graph;
  if isnumeric(graph) && ~isempty(graph) && ~isequal(size(graph), [m m])
    error('cgmca:notSquare', 'Graph is %d×%d for %d domains', size(graph, 1), size(graph, 2), m);
  end
  if isnumeric(graph), graph = double(graph); end
  starts = given.RandomStarts;
  if isequal(starts, 0), starts = -1; end
  options = struct('covariance', {covariance}, 'matrices', {matrices}, 'ridge', each(given.Ridge, m, 'Ridge'), ...
                   'max_rank', each(given.MaxRank, m, 'MaxRank'), 'rank_tol', given.RankTol, ...
                   'weights', double(given.Weights(:)), 'extra', {extra}, 'calibrate', given.Calibrate, ...
                   'names', {given.Names}, 'features', {features}, 'graph', graph, 'seed', given.Seed, ...
                   'random_starts', starts, 'max_sweeps', given.MaxSweeps, 'max_seconds', given.MaxSeconds, ...
                   'accumulate', given.Accumulate, 'scale', double(logical(given.Scale)), 'towards', given.Towards, ...
                   'missing', given.Missing, 'columns', double(logical(given.Columns)));
end

% One number for each domain; 'auto' is -1.
function numbers = each(value, m, name)
  if isempty(value), numbers = []; return, end
  if ischar(value), value = {value}; end
  if iscell(value), value = cellfun(@number_of, value); end
  if numel(value) == 1, value = repmat(value, 1, m); end
  if numel(value) ~= m
    error('cgmca:invalidInput', '%s has %d entries for %d domains; give one, or one for each', name, numel(value), m);
  end
  if any(value < 0 & value ~= -1), error('cgmca:invalidInput', '%s is negative', name); end
  numbers = double(value(:)');
end

function number = number_of(value)
  number = value;
  if ischar(value)
    if ~strcmp(value, 'auto'), error('cgmca:invalidInput', 'there is no ridge ''%s'': give a number or ''auto''', value); end
    number = -1;
  end
end

% Specs, and the matrices that "file:1" names.
function [specs, matrices] = covariances(given, matrices, m)
  specs = given;
  if isnumeric(given) && ~isempty(given), given = {given}; end
  if ~iscell(given), return, end
  if numel(given) == 1, given = repmat(given, 1, m); end
  if numel(given) ~= m
    error('cgmca:invalidInput', 'Covariance has %d entries for %d domains', numel(given), m);
  end
  specs = cell(1, m);
  for i = 1:m
    specs{i} = given{i};
    if isnumeric(given{i})
      matrices{end + 1} = double(given{i});
      specs{i} = sprintf('file:%d', numel(matrices));
    end
  end
end
