% What a MEX fit takes beyond the fit in C of the same matrices: processor time, in turn in one process.
randn('seed', 1);
n = 4905; d = 784; t = 550; runs = str2double(getenv('CGMCA_RUNS'));
causes = randn(n, 600);
X = causes * randn(600, d) + randn(n, d);
Y = causes * randn(600, d) + randn(n, d);
covariance = sprintf('data1:%d', t);
options = struct('covariance', covariance);
now_ = @() bare_mex();
for run = 0:runs                                   % the first of all warms up
  bare(run + 1) = bare_mex(X, Y, covariance);
  start = now_(); bytes = cgmca_mex('fit', {X, Y}, options); mex_(run + 1) = now_() - start;
  start = now_(); model = cgmca.fit(X, Y, 'Covariance', covariance); whole(run + 1) = now_() - start;
end
bare(1) = []; mex_(1) = []; whole(1) = [];
printf('{"bare": %s, "mex": %s, "front": %s}\n', mat2str(bare, 5), mat2str(mex_, 5), mat2str(whole, 5));
