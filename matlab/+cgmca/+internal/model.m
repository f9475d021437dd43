function seen = model(bytes)
% The struct that users see of a model: its bytes, which all functions take, and what is read off most often.
  shape = cgmca_mex('shape', bytes);
  m = numel(shape) - 1;
  array = @(name) cgmca_mex('array', bytes, name, 0, 0)';
  number = @(name) cgmca_mex('number', bytes, name);
  seen = struct('k', shape(1), 'features', shape(2:end), 'samples', number('samples'), ...
                'covariance', {cell(1, m)}, 'names', {cell(1, m)}, 'A', {cell(1, m)}, 'b', {cell(1, m)}, ...
                'correlations', array('correlations'), 'ranks', array('ranks'), 'objective', number('objective'), ...
                'bound', number('bound'), 'warnings', {{}}, 'bytes', bytes);
  for i = 1:m
    seen.covariance{i} = cgmca_mex('text', bytes, 'covariance', i, 1);
    seen.names{i} = cgmca_mex('text', bytes, 'name', i, 1);
    if isempty(seen.names{i}), seen.names{i} = sprintf('domain %d', i); end
    if shape(i + 1) == 0, continue, end
    seen.A{i} = cgmca_mex('array', bytes, 'matrix', i, 0);
    seen.b{i} = cgmca_mex('array', bytes, 'offset', i, 0);
  end
  text = cgmca_mex('text', bytes, 'warning', 1, 1);
  while ~isempty(text)
    seen.warnings{end + 1} = text;
    text = cgmca_mex('text', bytes, 'warning', 1, numel(seen.warnings) + 1);
  end
end
