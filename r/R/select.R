# Cross-validation and permutation tests.

criteria <- c("distance", "translation", "translation-to-2", "classification", "likelihood", "partner", "downstream")

cgmca_cv <- function(x = NULL, y = NULL, blocks = NULL, families = NULL, ranks = NULL, max_ranks = NULL, ridges = NULL,
                     towards = NULL, criterion = NULL, labels = NULL, downstream = NULL, folds = 5, repeats = 0, seed = 1,
                     weights = NULL, extra = NULL, graph = "full", scale = FALSE,
                     na.action = getOption("na.action")) {
  call <- match.call()
  data <- blocks_of(x, y, blocks, weights, na.action)
  if (!is.null(labels) && !is.null(data$na.action)) labels <- labels[-data$na.action]
  if (!is.null(labels) && length(labels) != nrow(data$X[[1]])) {
    cgmca_stop("unequalSamples", paste0(length(labels), " labels for ", nrow(data$X[[1]]), " samples"))
  }
  number <- function(ridge) if (identical(ridge, "auto")) -1 else as.double(ridge)
  if (!is.null(downstream)) {
    downstream <- if (is.null(dim(downstream))) matrix(as.double(downstream), 1) else numbers_of(downstream, "downstream")
  }
  how <- list(families = families, towards = towards, downstream = downstream, ranks = as.double(ranks), max_ranks = as.double(max_ranks),
              ridges = vapply(as.list(ridges), number, 0), criterion = criterion,
              labels = if (is.null(labels)) NULL else as.integer(factor(labels)), folds = as.double(folds),
              repeats = as.double(repeats), seed = as.double(seed))
  found <- .Call(C_tune, data$X, how, options_of(data, extra = extra, graph = graph, scale = scale))
  numbers <- found[[6]]
  chosen <- criteria[numbers[4]]
  errors <- structure(found[[4]], dimnames = list(NULL, criteria))
  trials <- data.frame(covariance = found[[1]], max_rank = found[[2]],
                       ridge = ifelse(found[[3]] < 0, "auto", format(found[[3]], trim = TRUE, drop0trailing = TRUE)),
                       towards = found[[9]], error = errors[, numbers[4]], se = found[[5]][, numbers[4]])
  structure(list(call = call, trials = trials, errors = errors, criterion = chosen, chosen = numbers[1],
                 best = numbers[2], alike = numbers[3], expected = numbers[5], remarks = found[[7]],
                 recommendation = found[[10]],
                 model = fitted_model(found[[8]], call, data)), class = "cgmca_cv")
}

print.cgmca_cv <- function(x, ...) {
  cat("Cross-validation of", nrow(x$trials), "settings by", x$criterion, "\n")
  chosen <- x$trials[x$chosen, ]
  cat("Chosen: ", chosen$covariance, if (chosen$max_rank > 0) paste0(", max rank ", chosen$max_rank), ", ridge ",
      chosen$ridge, ": error ", format(chosen$error, digits = 3), " (se ", format(chosen$se, digits = 2), "); ",
      x$alike, " cannot be told from the best\n", sep = "")
  if (is.finite(x$expected)) cat("Expected on new samples:", format(x$expected, digits = 3), "\n")
  for (remark in x$remarks) cat("Note:", remark, "\n")
  invisible(x)
}

summary.cgmca_cv <- function(object, ...) object$trials[order(object$trials$error), ]

plot.cgmca_cv <- function(x, main = "Cross-validation", ...) {
  shown <- order(x$trials$error)[seq_len(min(30L, nrow(x$trials)))]
  trials <- x$trials[shown, ]
  place <- seq_along(shown)
  plot.default(place, trials$error, ylim = range(trials$error - trials$se, trials$error + trials$se, na.rm = TRUE),
               xaxt = "n", xlab = "", ylab = x$criterion, pch = ifelse(shown == x$chosen, 19, 1), main = main, ...)
  segments(place, trials$error - trials$se, place, trials$error + trials$se)
  axis(1, place, paste0(trials$covariance, " / ", trials$ridge), las = 2, cex.axis = 0.6)
  if (nrow(x$trials) > 30) mtext(paste("the best 30 of", nrow(x$trials), "settings"), cex = 0.8)
  invisible(x)
}

cgmca_permutation <- function(x = NULL, y = NULL, blocks = NULL, permutations = 1000, seed = 1, level = 0.05, ridge = 0,
                              max_rank = 0, weights = NULL, graph = "full", na.action = getOption("na.action")) {
  call <- match.call()
  data <- blocks_of(x, y, blocks, weights, na.action)
  found <- .Call(C_permutation, data$X, options_of(data, ridge = ridge, max_rank = max_rank, graph = graph),
                 as.double(permutations), as.double(seed), as.double(level))
  structure(list(call = call, p.value = found[-1], significant = found[1], permutations = permutations, level = level),
            class = "cgmca_permutation")
}

print.cgmca_permutation <- function(x, ...) {
  cat("Permutation test,", x$permutations, "permutations:", x$significant, "directions are more than chance at",
      x$level, "\n")
  print(x$p.value[seq_len(min(30L, length(x$p.value)))], digits = 3)
  invisible(x)
}

summary.cgmca_permutation <- function(object, ...) {
  data.frame(direction = seq_along(object$p.value), p.value = object$p.value,
             significant = seq_along(object$p.value) <= object$significant)
}

plot.cgmca_permutation <- function(x, main = "Permutation test", ...) {
  plot.default(seq_along(x$p.value), x$p.value, ylim = c(0, 1), xlab = "direction", ylab = "p", main = main,
               pch = ifelse(seq_along(x$p.value) <= x$significant, 19, 1), xaxt = "n", ...)
  axis(1, unique(round(pretty(seq_along(x$p.value)))))
  abline(h = x$level, lty = 2)
  invisible(x)
}
