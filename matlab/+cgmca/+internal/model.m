function seen = model(command, varargin)
% What users see of the model that a command of cgmca_mex makes: its bytes, which all functions take, and what is read off
% most often.
  [bytes, seen] = cgmca_mex(command, varargin{:});
  seen.bytes = bytes;
end
