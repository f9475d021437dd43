function [images, labels] = mnist(folder)
% The training images of MNIST, 60000×784, and their classes.
  images = reshape(bytes_of(folder, 'train-images-idx3-ubyte', 16), 784, [])';
  labels = double(bytes_of(folder, 'train-labels-idx1-ubyte', 8));
end

function bytes = bytes_of(folder, name, header)
  path = fullfile(folder, name);
  if ~exist(path, 'file')
    unpacked = gunzip([path '.gz'], tempname());
    path = unpacked{1};
  end
  file = fopen(path);
  fseek(file, header, 'bof');
  bytes = fread(file, Inf, 'uint8=>uint8');
  fclose(file);
end
