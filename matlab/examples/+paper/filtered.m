function x = filtered(x)
% wiener2, medfilt2 and mat2gray of images as rows, as the paper has them.
  x = reshape(x', 28, 28, []);
  box = @(y) convn(y, ones(3) / 9, 'same');
  mu = box(x);
  variance = box(x .^ 2) - mu .^ 2;
  noise = mean(mean(variance, 1), 2);
  x = mu + max(variance - noise, 0) ./ max(variance, noise) .* (x - mu);
  padded = zeros(30, 30, size(x, 3));
  padded(2:29, 2:29, :) = x;
  around = zeros([size(x), 9]);
  for i = 0:8, around(:, :, :, i + 1) = padded((1:28) + mod(i, 3), (1:28) + floor(i / 3), :); end
  x = median(around, 4);
  low = min(min(x, [], 1), [], 2);
  x = reshape((x - low) ./ (max(max(x, [], 1), [], 2) - low), 784, [])';
end
