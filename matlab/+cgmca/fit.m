function model = fit(varargin)
%FIT  Maps matched samples of two domains or more into a common space with prescribed covariances.
%   model = cgmca.fit(X, Y) of n×p and n×q matrices whose rows match. model = cgmca.fit({X, Y, Z}) of more domains.
%   Rows are observations, as in pca and canoncorr. Tables keep the names of their variables.
%
%   cgmca.fit(..., Name, Value):
%     'Covariance'   'identity:K' (default: the largest K), 'data1:T', 'principal1:T', 'correlation:K', 'likelihood2',
%                    a K×K matrix, or a cell of these, one for each domain
%     'Matrices'     a cell of matrices that 'factor:1' or 'sd:2' in 'Covariance' names by number
%     'Ridge'        a number, 'auto', or a vector or cell with one for each domain
%     'MaxRank'      leading principal directions used, one number or one for each domain; 0: all
%     'Weights'      how often each sample counts
%     'Extra'        a cell with samples without partners of each domain, or []
%     'Calibrate'    number of folds that measure the errors of translations
%     'Names'        a cell with the names of the domains
%     'Graph'        'full', 'star:1', 'path' or m×m weights, for more than two domains
%     'Seed', 'RandomStarts', 'MaxSweeps', 'MaxSeconds'   of the search for more than two domains
%     'Scale'        true: each feature is divided by its standard deviation first
%     'Towards'      'identity': ridges shrink translations towards the sample itself, for the same features twice
%     'Missing'      'keep': a sample that holds NaN in a domain lacks it, and is used for the others
%     'RankTol', 'Accumulate'   as on the command line
%     'Columns'      true: samples are columns, as in the paper
%
%   model has A{i} (k×d_i) and b{i} of each domain, so that a sample maps to A{i}*x + b{i}, and correlations, ranks,
%   objective, bound. Warnings have the identifier 'cgmca:fit'. cgmca.certificate tells how good it is.
%
%   Example:
%     model = cgmca.fit(X, Y, 'Covariance', 'data1:3', 'Ridge', 'auto');
%     [Xhat, se] = cgmca.translate(model, Y);
%
%   See also cgmca.translate, cgmca.apply, cgmca.tune, cgmca.verify.
  [X, options] = cgmca.internal.samples(varargin);
  model = cgmca.internal.model('fit', X, options);
  cgmca.internal.warn(model);
end
