function model = load(path)
%LOAD  Reads a model of cgmca.save, of the command line, of Python or of R.
%   Example:  model = cgmca.load('m');
  model = cgmca.internal.model('load', char(path));
end
