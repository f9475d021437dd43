# What can be asked of a model.

print.cgmca <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  sizes <- vapply(x$loadings, NROW, 0L)
  cat(x$nobs, " samples of ", length(sizes), " blocks: ",
      paste0(names(sizes), " (", sizes, " variables)", collapse = ", "), "\n", sep = "")
  cat("Covariance: ", paste(unique(x$covariance), collapse = ", "), "; ", x$ncomp, " dimensions\n", sep = "")
  if (length(x$cor) > 0) {
    cat("Correlations:\n")
    print(x$cor[seq_len(min(30L, length(x$cor)))], digits = digits)
    if (length(x$cor) > 30) cat("... and", length(x$cor) - 30, "more\n")
  }
  cat("Optimum:", if (x$certificate$certified) paste0("certified (", x$certificate$proof, ")") else
    paste0("within ", signif(100 * x$certificate$gap, 2), " % of the bound"), "\n")
  if (length(x$na.action) > 0) cat(naprint(x$na.action), "\n", sep = "")
  invisible(x)
}

summary.cgmca <- function(object, ...) {
  tests <- tryCatch(Wilks(object), cgmca_error = function(problem) conditionMessage(problem))
  structure(list(model = object, tests = tests), class = "summary.cgmca")
}

print.summary.cgmca <- function(x, ...) {
  print(x$model)
  shares <- do.call(cbind, lapply(x$model$prop_expl_var, function(one) one[seq_len(min(10L, length(one)))]))
  if (!is.null(shares)) {
    rownames(shares) <- paste0("comp", seq_len(nrow(shares)))
    cat("\nVariance explained by each block's own scores:\n")
    print(shares, digits = 3)
  }
  cat("\n")
  if (is.character(x$tests)) cat("No tests of the correlations: ", x$tests, "\n", sep = "") else print(x$tests)
  invisible(x)
}

Wilks <- function(object, ...) UseMethod("Wilks")

Wilks.cgmca <- function(object, ...) {
  tests <- .Call(C_array, object$bytes, "tests", 1L, 1L)
  table <- data.frame(tests[, 2], tests[, 3], tests[, 4], tests[, 5], tests[, 6], tests[, 7])
  dimnames(table) <- list(paste0("comp", tests[, 1]), c("CanCor", "WilksL", "F", "df1", "df2", "Pr(> F)"))
  structure(table, heading = "Test of H0: the canonical correlations from this one on are zero (Rao's F)\n",
            class = c("anova", "data.frame"))
}

coef.cgmca <- function(object, block = NULL, ...) {
  if (is.null(block)) object$loadings else object$loadings[[block_of(object, block)]]
}

scores <- function(x, ...) UseMethod("scores")

scores.cgmca <- function(x, newdata = NULL, block = 1, ...) {
  block <- block_of(x, block)
  if (!is.null(newdata)) return(mapped(x, block, samples_of(x, newdata, block)))
  if (is.null(x$variates)) cgmca_stop("invalidInput", "a model that was read has no samples; give newdata")
  x$variates[[block]]
}

cgmca_apply <- function(model, newdata, block = 1) scores.cgmca(model, newdata, block)

# New samples of a block, with the columns in the order of the fit.
samples_of <- function(model, newdata, block) {
  if (block == 1L && !is.null(model$terms) && is.data.frame(newdata)) {
    frame <- model.frame(model$terms, newdata, na.action = stats::na.pass, xlev = model$xlevels)
    return(without_intercept(model.matrix(model$terms, frame, contrasts.arg = model$contrasts)))
  }
  if (is.null(dim(newdata)) && is.numeric(newdata)) newdata <- matrix(newdata, nrow = 1, dimnames = list(NULL, names(newdata)))
  X <- numbers_of(newdata, "newdata")
  features <- rownames(model$loadings[[block]])
  if (is.null(features) || is.null(colnames(X)) || identical(features, colnames(X))) return(X)
  missing <- setdiff(features, colnames(X))
  if (length(missing) > 0) {
    cgmca_stop("wrongDimension", paste0("newdata lacks ", paste(utils_head(missing), collapse = ", ")))
  }
  X[, features, drop = FALSE]
}

utils_head <- function(names) if (length(names) > 5) c(names[1:5], paste("and", length(names) - 5, "more")) else names

predict.cgmca <- function(object, newdata = NULL, type = c("scores", "response"), interval = NULL, se.fit = FALSE,
                          from = 1, to = NULL, method = "lmmse", iterations = 0, ...) {
  type <- match.arg(type)
  if (type == "scores") return(scores.cgmca(object, newdata, from))
  several <- is.list(newdata) && !is.data.frame(newdata)
  from <- vapply(as.list(from), function(one) block_of(object, one), 0L)
  to <- if (is.null(to)) setdiff(seq_along(object$loadings), from)[1] else block_of(object, to)
  if (is.null(newdata)) cgmca_stop("invalidInput", "a response needs newdata: the model keeps no samples")
  blocks <- if (several) newdata else list(newdata)
  if (length(blocks) != length(from)) {
    cgmca_stop("invalidInput", paste0("from names ", length(from), " blocks, newdata has ", length(blocks)))
  }
  X <- Map(function(one, block) samples_of(object, one, block), blocks, from)
  rows <- vapply(X, nrow, 0L)
  if (any(rows != rows[1])) cgmca_stop("unequalSamples", "the blocks of newdata have different numbers of rows")
  errors <- isTRUE(se.fit) || !is.null(interval)
  found <- .Call(C_translate, object$bytes, unname(X), from, to, method, as.double(iterations), errors,
                 if (is.null(interval)) NULL else as.double(interval))
  named <- function(Y) {
    dimnames(Y) <- list(rownames(X[[1]]), rownames(object$loadings[[to]]))
    Y
  }
  if (!errors) return(named(found[[1]]))
  result <- list(fit = named(found[[1]]), se.fit = named(found[[2]]))
  if (!is.null(interval)) {
    result$lwr <- named(found[[1]] - found[[3]])
    result$upr <- named(found[[1]] + found[[3]])
  }
  result
}

cgmca_fuse <- function(model, blocks, how = c("estimate", "mean")) {
  numbers <- if (is.null(names(blocks))) seq_along(blocks) else
    vapply(names(blocks), function(one) block_of(model, one), 0L)
  X <- Map(function(one, block) samples_of(model, one, block), blocks, numbers)
  Z <- .Call(C_fuse, model$bytes, as.integer(numbers), unname(X), match.arg(how))
  dimnames(Z) <- list(rownames(X[[1]]), colnames(model$loadings[[numbers[1]]]))
  Z
}

cgmca_verify <- function(model, x = NULL, y = NULL, blocks = NULL, weights = NULL, missing = c("error", "keep")) {
  data <- blocks_of(x, y, blocks, weights, "na.pass")
  .Call(C_verify, model$bytes, data$X, list(weights = data$weights, missing = match.arg(missing)))
}
