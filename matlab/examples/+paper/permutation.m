function order = permutation(seed, digit, n)
% The order in which the n images of a digit are divided, from 1.
  words = paper.philox([(0:n - 1)', repmat([digit 1 0], n, 1)], seed)';
  next = 1;
  order = 1:n;
  for k = n:-1:2
    product = words(next) * k;
    next = next + 1;
    while bitand(product, uint64(4294967295)) < mod(2^32 - k, k)
      product = words(next) * k;
      next = next + 1;
    end
    other = double(bitshift(product, -32)) + 1;
    order([k other]) = order([other k]);
  end
end
