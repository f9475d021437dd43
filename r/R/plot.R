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

plot.cgmca <- function(x, type = c("weights", "loadings", "samples", "cor_circle", "biplot", "ave", "scree", "heat"),
                       block = 1, comp = c(1, min(2, x$ncomp)), most = 30L, main = NULL, labels = NULL, data = NULL,
                       permutations = 199, ...) {
  type <- match.arg(type)
  comp <- two_of(comp, x$ncomp)
  block <- block_of(x, block)
  if (is.null(main)) main <- paste0(names(x$loadings)[block], ": ", type)
  switch(type, weights = plot_bars(x, block, coef(x, block)[, comp[1]], paste("weight, component", comp[1]), most, main, ...),
         loadings = plot_bars(x, block, correlations_with(x, block, block)[, comp[1]],
                              paste("correlation with canonical score", comp[1]), most, main, ...),
         samples = plot_samples(x, comp, labels, block, ...), cor_circle = plot_circle(x, comp, most, ...),
         biplot = biplot(x, block = block, comp = comp, most = most, main = main, ...), ave = plot_ave(x, ...),
         scree = plot_scree(x, data, permutations, ...), heat = plot_heat(x, most, ...))
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

# Without labels the samples of all blocks, and a line from each of the first to its partners; with labels those of one
# block, and the ellipses that hold 95 % of a normal distribution with the mean and covariance of each label.
plot_samples <- function(x, comp, labels, block, main = "samples in the common space", ...) {
  if (is.null(x$variates)) cgmca_stop("invalidInput", "a model that was read has no samples to plot")
  all <- if (is.null(labels)) do.call(rbind, x$variates) else x$variates[[block]]
  axes <- paste("component", comp)
  if (!is.null(labels)) {
    if (length(labels) != nrow(all)) {
      cgmca_stop("unequalSamples", paste0(length(labels), " labels for ", nrow(all), " samples"))
    }
    labels <- factor(labels)
    colours <- hcl.colors(nlevels(labels), "Dark 3")
    rings <- Filter(Negate(is.null), lapply(split(seq_along(labels), labels), function(rows) ellipse_of(all[rows, comp])))
    reach <- rbind(all[, comp], do.call(rbind, rings))
    plot.default(all[, comp[1]], all[, comp[2]], col = colours[labels], pch = 1 + as.integer(labels) %% 20L,
                 xlim = range(reach[, 1], na.rm = TRUE), ylim = range(reach[, 2], na.rm = TRUE), xlab = axes[1],
                 ylab = axes[2], main = main, ...)
    for (name in names(rings)) lines(rings[[name]], col = colours[match(name, levels(labels))])
    legend("topright", levels(labels), col = colours, pch = 1 + seq_len(nlevels(labels)) %% 20L, bty = "n")
    return(invisible())
  }
  colours <- hcl.colors(length(x$variates), "Dark 3")
  plot.default(all[, comp[1]], all[, comp[2]], type = "n", xlab = axes[1], ylab = axes[2], main = main, ...)
  first <- x$variates[[1]]
  for (other in x$variates[-1]) {
    segments(first[, comp[1]], first[, comp[2]], other[, comp[1]], other[, comp[2]], col = "grey80")
  }
  for (i in seq_along(x$variates)) points(x$variates[[i]][, comp[1]], x$variates[[i]][, comp[2]], col = colours[i], pch = i)
  legend("topright", names(x$variates), col = colours, pch = seq_along(x$variates), bty = "n")
}

ellipse_of <- function(Z) {
  Z <- Z[complete.cases(Z), , drop = FALSE]
  if (nrow(Z) < 3) return(NULL)
  eigen <- eigen(crossprod(scale(Z, scale = FALSE)) / (nrow(Z) - 1), symmetric = TRUE)
  angle <- seq(0, 2 * pi, length.out = 61)
  circle <- rbind(cos(angle), sin(angle)) * sqrt(5.991)
  sweep(t(eigen$vectors %*% (sqrt(pmax(eigen$values, 0)) * circle)), 2, colMeans(Z), "+")
}

# The correlations, and of two blocks whose samples are given the band below which 95 % of those of shuffled samples are.
plot_scree <- function(x, data, permutations, main = "correlations", ...) {
  shown <- seq_len(min(100L, length(x$cor)))
  plot.default(shown, x$cor[shown], type = "n", ylim = c(0, max(1, x$cor)), xaxt = "n", xlab = "direction",
               ylab = "correlation", main = main, ...)
  axis(1, unique(round(pretty(shown))))
  if (!is.null(data)) {
    band <- chance_of(x, data, permutations)[shown]
    polygon(c(shown[1], shown, shown[length(shown)]), c(0, band, 0), col = "grey85", border = NA)
    mtext(paste("grey: 95 % of", permutations, "permutations"), cex = 0.8)
  }
  segments(shown, 0, shown, x$cor[shown])
  points(shown, x$cor[shown], pch = 19, cex = 0.7)
}

# Correlations of shuffled samples in fits with the model's ridges and ranks: Y = U diag(s / sqrt(s^2 + ridge)).
chance_of <- function(x, data, permutations) {
  of_model <- function(name) .Call(C_array, x$bytes, name, 1L, 1L)[, 1]
  ridge <- of_model("ridge")
  most <- of_model("max_rank")
  if (length(data) != 2 || length(x$loadings) != 2) cgmca_stop("invalidInput", "a band needs the samples of two blocks")
  if (any(ridge < 0)) cgmca_stop("invalidInput", "a band needs ridges that are given by number")
  whitened <- lapply(1:2, function(i) {
    Z <- scale(as.matrix(data[[i]]), scale = FALSE) / sqrt(nrow(data[[i]]) - 1)
    parts <- svd(Z)
    keep <- parts$d > max(dim(Z)) * .Machine$double.eps * parts$d[1]
    if (most[i] > 0) keep <- keep & seq_along(keep) <= most[i]
    s <- parts$d[keep]
    sweep(parts$u[, keep, drop = FALSE], 2, s / sqrt(s^2 + ridge[i] * sum(Z^2) / ncol(Z)), "*")
  })
  n <- nrow(whitened[[1]])
  if (nrow(whitened[[2]]) != n || n != x$nobs) {
    cgmca_stop("unequalSamples", paste0("a band needs the ", x$nobs, " samples of the fit in both blocks"))
  }
  found <- replicate(permutations, svd(crossprod(whitened[[1]], whitened[[2]][sample.int(n), , drop = FALSE]), 0, 0)$d)
  band <- apply(matrix(found, ncol = permutations), 1, quantile, probs = 0.95, names = FALSE)
  c(band, rep(NA, max(0, length(x$cor) - length(band))))
}

# What the directions say of the correlations of the variables of two blocks.
plot_heat <- function(x, most, main = "cross-correlations", ...) {
  shared <- .Call(C_array, x$bytes, "shared_correlations", 1L, 2L)
  shared[is.na(shared)] <- 0
  rows <- strongest(sqrt(rowSums(shared^2)), most)
  columns <- strongest(sqrt(colSums(shared^2)), most)
  names <- Map(function(block, shown) labels_of(rownames(x$loadings[[block]]), nrow(x$loadings[[block]]), "v")[shown],
               1:2, list(rows, columns))
  old <- par(mar = c(7, 7, 4, 1))
  on.exit(par(old))
  image(seq_along(columns), seq_along(rows), t(shared[rev(rows), columns, drop = FALSE]), zlim = c(-1, 1), axes = FALSE,
        col = hcl.colors(41, "Blue-Red 3"), xlab = "", ylab = "", main = main, ...)
  axis(1, seq_along(columns), names[[2]], las = 2, cex.axis = 0.6)
  axis(2, seq_along(rows), rev(names[[1]]), las = 2, cex.axis = 0.6)
  box()
  say_if_fewer(length(rows) + length(columns), sum(dim(shared)))
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
