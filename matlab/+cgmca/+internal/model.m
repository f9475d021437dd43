function model = model(bytes)
% The struct that users see of a model: its bytes, which all functions take, and what is read off most often.
  shape = cgmca_mex('shape', bytes);
  m = numel(shape) - 1;
  array = @(name) cgmca_mex('array', bytes, name, 0, 0)';
  number = @(name) cgmca_mex('number', bytes, name);
  model = struct('k', shape(1), 'features', shape(2:end), 'samples', number('samples'), ...
                 'covariance', {cell(1, m)}, 'names', {cell(1, m)}, 'A', {cell(1, m)}, 'b', {cell(1, m)}, ...
                 'correlations', array('correlations'), 'ranks', array('ranks'), 'objective', number('objective'), ...
                 'bound', number('bound'), 'warnings', {{}}, 'bytes', bytes);
  for i = 1:m
    model.covariance{i} = cgmca_mex('text', bytes, 'covariance', i, 1);
    model.names{i} = cgmca_mex('text', bytes, 'name', i, 1);
    if isempty(model.names{i}), model.names{i} = sprintf('domain %d', i); end
    if shape(i + 1) == 0, continue, end
    model.A{i} = cgmca_mex('array', bytes, 'matrix', i, 0);
    model.b{i} = cgmca_mex('array', bytes, 'offset', i, 0);
  end
  text = cgmca_mex('text', bytes, 'warning', 1, 1);
  while ~isempty(text)
    model.warnings{end + 1} = text;
    text = cgmca_mex('text', bytes, 'warning', 1, numel(model.warnings) + 1);
  end
end
