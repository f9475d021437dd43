function save(model, path)
%SAVE  Writes a model that the command line, Python and R read. (save of MATLAB keeps models in .mat files too.)
%   Example:  cgmca.save(model, 'm');
  cgmca_mex('save', model.bytes, char(path));
end
