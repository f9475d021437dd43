function warn(model)
% What a user should know before trusting the model.
  for i = 1:numel(model.warnings), warning('cgmca:fit', '%s', model.warnings{i}); end
end
