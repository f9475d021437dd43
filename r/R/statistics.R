# The bootstrap, and the diagnostics of samples.

cgmca_bootstrap <- function(x = NULL, y = NULL, blocks = NULL, covariance = "identity", ridge = 0, max_rank = 0,
                            replicas = 200, level = 0.95, units = NULL, directions = 10, strongest = 10, seed = 1,
                            weights = NULL, graph = "full", na.action = getOption("na.action")) {
  call <- match.call()
  data <- blocks_of(x, y, blocks, weights, na.action)
  if (!is.null(units) && !is.null(data$na.action)) units <- units[-data$na.action]
  if (!is.null(units) && length(units) != nrow(data$X[[1]])) {
    cgmca_stop("unequalSamples", paste0(length(units), " units for ", nrow(data$X[[1]]), " samples"))
  }
  how <- list(replicas = as.double(replicas), seed = as.double(seed), level = as.double(level),
              directions = as.double(directions), strongest = as.double(strongest),
              units = if (is.null(units)) NULL else as.double(as.integer(factor(units))))
  found <- .Call(C_bootstrap, data$X, options_of(data, covariance, ridge, max_rank, graph = graph), how)
  named <- function(values, i) {
    lapply(values, function(one) {
      dimnames(one) <- list(colnames(data$X[[i]]), paste0("comp", seq_len(ncol(one))))
      one
    })
  }
  blocks_named <- function(list) {
    structure(Map(named, list, seq_along(list)), names = names(data$X))
  }
  structure(list(call = call, replicas = found[[1]], level = level, correlations = found[[2]][[1]],
                 loadings = blocks_named(found[[3]]), structure = blocks_named(found[[4]]),
                 selected = structure(found[[5]], names = names(data$X))), class = "cgmca_bootstrap")
}

print.cgmca_bootstrap <- function(x, digits = 3, ...) {
  cat("Bootstrap of", x$replicas, "replicas; intervals of", x$level, "\nCorrelations:\n")
  table <- with(x$correlations, cbind(estimate = estimate[, 1], se = standard_error[, 1], lower = lower[, 1],
                                      upper = upper[, 1], p = p[, 1]))
  rownames(table) <- paste0("comp", seq_len(nrow(table)))
  print(table, digits = digits)
  invisible(x)
}

summary.cgmca_bootstrap <- function(object, comp = 1, ...) {
  rows <- lapply(names(object$structure), function(block) {
    one <- lapply(object$structure[[block]], function(values) values[, comp])
    variable <- labels_of(rownames(object$structure[[block]]$estimate), length(one$estimate), "v")
    data.frame(block = block, variable = variable, one, row.names = NULL)
  })
  table <- do.call(rbind, rows)
  table[order(-abs(table$estimate)), ]
}

plot.cgmca_bootstrap <- function(x, block = 1, comp = 1, most = 30L, main = "Bootstrap", ...) {
  one <- x$structure[[block]]
  shown <- rev(strongest(one$estimate[, comp], most))
  names <- labels_of(rownames(one$estimate), nrow(one$estimate), "v")
  old <- par(mar = c(4, 8, 4, 1))
  on.exit(par(old))
  plot.default(one$estimate[shown, comp], seq_along(shown), xlim = c(-1, 1), yaxt = "n", pch = 19, ylab = "", main = main,
               xlab = paste("correlation with canonical score", comp), ...)
  segments(one$lower[shown, comp], seq_along(shown), one$upper[shown, comp], seq_along(shown))
  axis(2, seq_along(shown), names[shown], las = 1, cex.axis = 0.7)
  abline(v = 0, lty = 3)
  say_if_fewer(length(shown), nrow(one$estimate))
  invisible(x)
}

cgmca_diagnose <- function(model, x = NULL, y = NULL, blocks = NULL, rate = 0.05) {
  data <- blocks_of(x, y, blocks, NULL, "na.pass")
  found <- .Call(C_diagnose, model$bytes, data$X, as.double(rate))
  kinds <- c("mispaired", "swapped", "far out", "unlike the fit")
  suspects <- data.frame(sample = found[[1]][, 1], suspicion = kinds[found[[1]][, 2] + 1],
                         block = names(model$loadings)[found[[1]][, 3]], p = found[[1]][, 4], q = found[[1]][, 5],
                         partner = found[[1]][, 6])
  tables <- lapply(found[[3]], function(columns) data.frame(lapply(columns, as.vector), row.names = rownames(data$X[[1]])))
  structure(list(suspects = suspects, pair.p = found[[2]][, 1], blocks = structure(tables, names = names(model$loadings)),
                 remarks = found[[4]]), class = "cgmca_diagnosis")
}

print.cgmca_diagnosis <- function(x, ...) {
  cat(length(x$pair.p), "samples,", nrow(x$suspects), "suspects\n")
  if (nrow(x$suspects) > 0) print(x$suspects[seq_len(min(30L, nrow(x$suspects))), ], row.names = FALSE, digits = 3)
  for (remark in x$remarks) cat("Note:", remark, "\n")
  invisible(x)
}
