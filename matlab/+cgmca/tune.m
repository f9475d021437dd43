function [model, result] = tune(varargin)
%TUNE  Chooses covariance, rank and ridge by cross-validation, and fits all samples with them.
%   [model, result] = cgmca.tune(X, Y), or cgmca.tune({X, Y, Z}). Options of cgmca.fit, and
%     'Families'   a cell of 'identity', 'correlation', 'data1', 'data2', 'likelihood1', 'likelihood2'
%     'Ranks', 'MaxRanks', 'Ridges'   vectors to try; -1 among the ridges is the automatic one
%     'Criterion'  'translation', 'distance', 'translation-to-2', 'classification', 'likelihood', 'partner', 'downstream'
%     'Labels'     classes of the samples, for classification
%     'Downstream' coefficients of linear functions of X, a row for each, that translations are to be good for
%     'Towards'    a cell of what ridges towards translations towards, 'zero' and 'identity'; default: what is possible
%     'Folds', 'Repeats', 'FoldSeed'
%   result.trials has covariance, max_rank, ridge, towards, error and standard_error of each setting; result.chosen is the
%   number of the one in model, result.expected its error to expect on new samples, and result.recommendation says in
%   sentences what was chosen and what more samples would bring.
%   Example:  [model, result] = cgmca.tune(X, Y, 'Ranks', [1 2 5]);
  own = struct('Families', {{}}, 'Ranks', [], 'MaxRanks', [], 'Ridges', [], 'Criterion', '', 'Labels', [], ...
               'Downstream', [], 'Towards', {{}}, 'Folds', 0, 'Repeats', 0, 'FoldSeed', 0);
  [given, rest] = cgmca.internal.values(varargin, own, true);
  [X, options] = cgmca.internal.samples(rest);
  families = given.Families;
  if ischar(families), families = {families}; end
  towards = given.Towards;
  if ischar(towards), towards = {towards}; end
  how = struct('families', {families}, 'ranks', double(given.Ranks), 'max_ranks', double(given.MaxRanks), ...
               'ridges', double(given.Ridges), 'criterion', given.Criterion, 'labels', classes_of(given.Labels), ...
               'downstream', double(given.Downstream), 'towards', {towards}, 'folds', given.Folds, 'repeats', given.Repeats, 'seed', given.FoldSeed);
  [trials, numbers, remarks, recommendation, bytes, model] = cgmca_mex('tune', X, how, options);
  criteria = {'distance', 'translation', 'translation-to-2', 'classification', 'likelihood', 'partner', 'downstream'};
  result = struct('trials', trials, 'chosen', numbers(1), 'best', numbers(2), 'alike', numbers(3), ...
                  'criterion', criteria{numbers(4)}, 'expected', numbers(5), 'remarks', {remarks}, ...
                  'recommendation', {recommendation});
  model.bytes = bytes;
  cgmca.internal.warn(model);
end

function numbers = classes_of(labels)
  numbers = [];
  if isempty(labels), return, end
  [~, ~, numbers] = unique(labels);
  numbers = double(numbers(:));
end
