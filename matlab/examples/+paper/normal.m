function noise = normal(seed, images, pixels)
% Standard normal numbers, images × pixels; those of an image depend on its number alone.
  [block, item] = ndgrid(0:pixels / 4 - 1, images);
  words = paper.philox([block(:), item(:), repmat([2 0], numel(block), 1)], seed);
  noise = -sqrt(2) * erfcinv(2 * (reshape(double(words'), pixels, [])' + 0.5) / 2^32);
end
