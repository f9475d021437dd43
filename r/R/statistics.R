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

plot.cgmca_bootstrap <- function(x, block = 1, comp = 1, most = 30L, main = "Bootstrap", type = c("structure", "weights"),
                                 ...) {
  type <- match.arg(type)
  one <- if (type == "structure") x$structure[[block]] else x$loadings[[block]]
  shown <- rev(strongest(one$estimate[, comp], most))
  names <- labels_of(rownames(one$estimate), nrow(one$estimate), "v")
  old <- par(mar = c(4, 8, 4, 1))
  on.exit(par(old))
  plot.default(one$estimate[shown, comp], seq_along(shown), yaxt = "n", pch = 19, ylab = "", main = main,
               xlim = range(0, one$lower[shown, comp], one$upper[shown, comp], na.rm = TRUE),
               xlab = paste(if (type == "structure") "correlation with canonical score" else "weight, component", comp), ...)
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

# T^2 and Q of each sample of a block; suspects are filled and numbered.
plot.cgmca_diagnosis <- function(x, block = 1, main = "Diagnostics", ...) {
  one <- x$blocks[[block]]
  listed <- seq_len(nrow(one)) %in% x$suspects$sample
  plot.default(one$t_squared, one$residual, pch = ifelse(listed, 19, 1), col = ifelse(listed, 2, 1),
               xlab = "T squared, within the common space", ylab = "Q, outside of it", main = main, ...)
  if (any(listed)) text(one$t_squared[listed], one$residual[listed], which(listed), pos = 3, cex = 0.7, col = 2)
  invisible(x)
}

print.cgmca_diagnosis <- function(x, ...) {
  cat(length(x$pair.p), "samples,", nrow(x$suspects), "suspects\n")
  if (nrow(x$suspects) > 0) print(x$suspects[seq_len(min(30L, nrow(x$suspects))), ], row.names = FALSE, digits = 3)
  for (remark in x$remarks) cat("Note:", remark, "\n")
  invisible(x)
}
