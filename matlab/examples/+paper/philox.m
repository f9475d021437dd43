function words = philox(counter, seed)
% Philox4x32-10, the random words of cgmca reproduce. counter: N×4 and words: N×4, of uint64 below 2^32.
  mask = uint64(4294967295);
  key = uint64([mod(seed, 2^32), floor(seed / 2^32)]);
  c = uint64(counter);
  for round = 1:10
    p = uint64(3528531795) * c(:, 1);
    q = uint64(3449720151) * c(:, 3);
    c = [bitxor(bitxor(bitshift(q, -32), c(:, 2)), key(1)), bitand(q, mask), ...
         bitxor(bitxor(bitshift(p, -32), c(:, 4)), key(2)), bitand(p, mask)];
    key = bitand(key + uint64([2654435769, 3144134277]), mask);
  end
  words = c;
end
