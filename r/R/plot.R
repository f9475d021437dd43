# Plots of a model, in base graphics. Of many variables the strongest are shown, and the plot says so.

strongest <- function(values, most = 30L) {
  size <- if (is.matrix(values)) sqrt(rowSums(values^2)) else abs(values)
  sort(order(size, decreasing = TRUE)[seq_len(min(most, length(size)))])
}

labels_of <- function(names, count, prefix) if (is.null(names)) paste0(prefix, seq_len(count)) else names

say_if_fewer <- function(shown, all) {
  if (shown < all) mtext(paste("the strongest", shown, "of", all, "variables"), cex = 0.8)
}

two_of <- function(comp, k) {
  comp <- rep(as.integer(comp), length.out = 2)
  if (any(comp < 1 | comp > k)) cgmca_stop("invalidInput", paste0("the model has ", k, " components"))
  comp
}

plot.cgmca <- function(x, type = c("weights", "loadings", "samples", "cor_circle", "biplot", "ave"), block = 1,
                       comp = c(1, min(2, x$ncomp)), most = 30L, main = NULL, ...) {
  type <- match.arg(type)
  comp <- two_of(comp, x$ncomp)
  block <- block_of(x, block)
  if (is.null(main)) main <- paste0(names(x$loadings)[block], ": ", type)
  switch(type, weights = plot_bars(x, block, coef(x, block)[, comp[1]], paste("weight, component", comp[1]), most, main, ...),
         loadings = plot_bars(x, block, correlations_with(x, block, block)[, comp[1]],
                              paste("correlation with canonical score", comp[1]), most, main, ...),
         samples = plot_samples(x, comp, ...), cor_circle = plot_circle(x, comp, most, ...),
         biplot = biplot(x, block = block, comp = comp, most = most, main = main, ...), ave = plot_ave(x, ...))
  invisible(x)
}

correlations_with <- function(x, block, scores) {
  correlations <- .Call(C_array, x$bytes, "score_correlations", block, scores)
  rownames(correlations) <- rownames(x$loadings[[block]])
  correlations
}

plot_bars <- function(x, block, values, label, most, main, ...) {
  shown <- strongest(values, most)
  names <- labels_of(rownames(x$loadings[[block]]), length(values), "v")[shown]
  old <- par(mar = c(4, 8, 4, 1))
  on.exit(par(old))
  barplot(rev(values[shown]), names.arg = rev(names), horiz = TRUE, las = 1, cex.names = 0.7, xlab = label, main = main, ...)
  say_if_fewer(length(shown), length(values))
}

plot_samples <- function(x, comp, main = "samples in the common space", ...) {
  if (is.null(x$variates)) cgmca_stop("invalidInput", "a model that was read has no samples to plot")
  all <- do.call(rbind, x$variates)
  colours <- hcl.colors(length(x$variates), "Dark 3")
  plot.default(all[, comp[1]], all[, comp[2]], type = "n", xlab = paste("component", comp[1]),
               ylab = paste("component", comp[2]), main = main, ...)
  for (i in seq_along(x$variates)) points(x$variates[[i]][, comp[1]], x$variates[[i]][, comp[2]], col = colours[i], pch = i)
  legend("topright", names(x$variates), col = colours, pch = seq_along(x$variates), bty = "n")
}

plot_circle <- function(x, comp, most, main = "correlations with the canonical scores of the first block", ...) {
  plot.default(NA, xlim = c(-1.1, 1.1), ylim = c(-1.1, 1.1), asp = 1, xlab = paste("score", comp[1]),
               ylab = paste("score", comp[2]), main = main, ...)
  symbols(0, 0, circles = 1, inches = FALSE, add = TRUE)
  abline(h = 0, v = 0, lty = 3)
  colours <- hcl.colors(length(x$loadings), "Dark 3")
  total <- drawn <- 0
  for (i in which(!vapply(x$loadings, is.null, NA))) {
    at <- correlations_with(x, i, 1L)
    at <- at[, rep(pmin(comp, ncol(at)), length.out = 2), drop = FALSE]
    at[is.na(at)] <- 0
    shown <- strongest(at, most)
    arrows(0, 0, at[shown, 1], at[shown, 2], length = 0.05, col = colours[i])
    text(at[shown, 1], at[shown, 2], labels_of(rownames(at), nrow(at), "v")[shown], cex = 0.6, pos = 3, col = colours[i])
    total <- total + nrow(at)
    drawn <- drawn + length(shown)
  }
  say_if_fewer(drawn, total)
  legend("topright", names(x$loadings), col = colours, lty = 1, bty = "n")
}

plot_ave <- function(x, main = "variance explained by the blocks' own scores", ...) {
  most <- min(30L, max(lengths(x$prop_expl_var)))
  shares <- sapply(x$prop_expl_var, function(one) c(one, rep(NA, most))[seq_len(most)])
  barplot(t(matrix(shares, nrow = most)), beside = TRUE, names.arg = seq_len(most), xlab = "canonical score",
          ylab = "share of variance", ylim = c(0, 1.1 * max(shares, na.rm = TRUE)), legend.text = names(x$prop_expl_var), main = main, ...)
}

biplot.cgmca <- function(x, block = 1, comp = c(1, min(2, x$ncomp)), most = 30L, main = NULL, ...) {
  block <- block_of(x, block)
  comp <- two_of(comp, x$ncomp)
  if (is.null(x$variates)) cgmca_stop("invalidInput", "a model that was read has no samples to plot")
  Z <- x$variates[[block]][, comp, drop = FALSE]
  at <- correlations_with(x, block, block)
  at <- at[, rep(pmin(comp, ncol(at)), length.out = 2), drop = FALSE]
  at[is.na(at)] <- 0
  shown <- strongest(at, most)
  scale <- 0.9 * max(abs(Z), na.rm = TRUE)
  limits <- function(i) range(Z[, i], 1.15 * scale * at[shown, i], 0, na.rm = TRUE)
  plot.default(Z[, 1], Z[, 2], col = "grey50", xlim = limits(1), ylim = limits(2), xlab = colnames(Z)[1],
               ylab = colnames(Z)[2], main = main, ...)
  arrows(0, 0, scale * at[shown, 1], scale * at[shown, 2], length = 0.05, col = 2)
  text(scale * at[shown, 1], scale * at[shown, 2], labels_of(rownames(at), nrow(at), "v")[shown], col = 2, cex = 0.7, pos = 3)
  say_if_fewer(length(shown), nrow(at))
  invisible(x)
}
