function [given, rest] = values(list, defaults, mixed)
% Name-value arguments over defaults; names are compared without case. mixed: others are handed back in `rest`.
  if nargin < 3, mixed = false; end
  list = cgmca.internal.texts(list);
  given = defaults;
  names = fieldnames(defaults);
  rest = {};
  i = 1;
  while i <= numel(list)
    which = [];
    if ischar(list{i}), which = find(strcmpi(list{i}, names)); end
    if ~isempty(which)
      if i == numel(list), error('cgmca:invalidInput', 'the option ''%s'' has no value', list{i}); end
      given.(names{which}) = list{i + 1};
      i = i + 2;
    elseif mixed
      rest{end + 1} = list{i};
      i = i + 1;
    elseif ischar(list{i})
      error('cgmca:invalidInput', 'there is no option ''%s'': give %s', list{i}, strjoin(names', ', '));
    else
      error('cgmca:invalidInput', 'argument %d after the samples is no name of an option: %s', i, strjoin(names', ', '));
    end
  end
end
