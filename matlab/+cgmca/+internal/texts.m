function list = texts(list)
% Strings of MATLAB ("data1:3") as the texts ('data1:3') that are compared here.
  for i = 1:numel(list)
    if iscell(list{i}), list{i} = cgmca.internal.texts(list{i}); end
    if isa(list{i}, 'string') && isscalar(list{i}), list{i} = char(list{i}); end
  end
end
