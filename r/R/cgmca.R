# Fits: cgmca() and what turns R's data into the matrices and options of the C interface.

cgmca <- function(x, ...) UseMethod("cgmca")

cgmca.default <- function(x = NULL, y = NULL, blocks = NULL, covariance = "identity", ridge = 0, max_rank = 0,
                          weights = NULL, extra = NULL, graph = "full", calibrate = 0, rank_tol = NULL, seed = 0,
                          random_starts = 3, max_sweeps = 5000, max_seconds = Inf, scale = FALSE, towards = "zero",
                          missing = c("error", "keep"), na.action = getOption("na.action"), ...) {
  given <- list(...)
  if (length(given) > 0) cgmca_stop("invalidInput", paste0("there is no argument '", names(given)[1], "'"))
  call <- match.call()
  call[[1L]] <- quote(cgmca)
  missing <- match.arg(missing)
  data <- blocks_of(x, y, blocks, weights, if (missing == "keep") "na.pass" else na.action)
  options <- options_of(data, covariance, ridge, max_rank, extra, graph, calibrate, rank_tol, seed, random_starts,
                        max_sweeps, max_seconds, scale, towards, missing)
  fitted_model(.Call(C_fit, data$X, options), call, data)
}

cgmca.formula <- function(x, data, subset, weights, na.action, ...) {
  call <- match.call()
  call[[1L]] <- quote(cgmca)
  frame_call <- match.call(expand.dots = FALSE)
  kept <- match(c("x", "data", "subset", "weights", "na.action"), names(frame_call), 0L)
  frame_call <- frame_call[c(1L, kept)]
  names(frame_call)[2L] <- "formula"
  frame_call[[1L]] <- quote(stats::model.frame)
  frame <- eval(frame_call, parent.frame())
  right <- delete.response(terms(frame))
  columns <- model.matrix(right, frame)
  contrasts <- attr(columns, "contrasts")
  response <- as.matrix(model.response(frame, "numeric"))
  if (is.null(colnames(response))) colnames(response) <- paste0("y", seq_len(ncol(response)))
  model <- cgmca.default(without_intercept(columns), response, weights = model.weights(frame), na.action = "na.pass",
                         ...)
  model$call <- call
  model$terms <- right
  model$xlevels <- stats::.getXlevels(right, frame)
  model$contrasts <- contrasts
  model$na.action <- attr(frame, "na.action")
  model
}

without_intercept <- function(columns) {
  columns[, colnames(columns) != "(Intercept)", drop = FALSE]
}

# Numbers of a block: a matrix as it is, a data frame with its factors as indicators, as in lm.
numbers_of <- function(block, what) {
  if (is.data.frame(block)) {
    old <- options(na.action = "na.pass")
    on.exit(options(old))
    names <- row.names(block)
    block <- without_intercept(model.matrix(~ ., block))
    rownames(block) <- names
  }
  block <- as.matrix(block)
  if (!is.numeric(block) && !is.logical(block)) {
    cgmca_stop("invalidInput", paste0(what, " is of type ", typeof(block), "; samples are numbers, or a data frame"))
  }
  storage.mode(block) <- "double"
  block
}

# The blocks as matrices without the rows that na.action takes out, with their names.
blocks_of <- function(x, y, blocks, weights, na.action) {
  if (!is.null(blocks) && (!is.null(x) || !is.null(y))) cgmca_stop("invalidInput", "give x and y, or blocks, not both")
  if (is.null(blocks)) {
    if (is.null(x) || is.null(y)) cgmca_stop("invalidInput", "a fit needs x and y, or blocks = list(a = , b = , c = )")
    blocks <- list(x = x, y = y)
  }
  if (is.null(names(blocks))) names(blocks) <- paste0("block", seq_along(blocks))
  X <- Map(numbers_of, blocks, names(blocks))
  rows <- vapply(X, nrow, 0L)
  if (any(rows != rows[1])) {
    cgmca_stop("unequalSamples", paste0("the blocks have ", paste(rows, collapse = ", "), " rows; they must match"))
  }
  if (!is.null(weights) && length(weights) != rows[1]) {
    cgmca_stop("unequalSamples", paste0(length(weights), " weights for ", rows[1], " samples"))
  }
  complete <- Reduce(`&`, lapply(X, function(one) if (anyNA(one)) !rowSums(is.na(one)) > 0 else rep(TRUE, nrow(one))))
  if (!is.null(weights)) complete <- complete & !is.na(weights)
  actions <- c("na.omit", "na.exclude", "na.fail", "na.pass")
  action <- na.action
  if (is.function(action)) action <- Find(function(one) identical(na.action, getExportedValue("stats", one)), actions)
  if (length(action) != 1 || !action %in% actions) {
    cgmca_stop("invalidInput", paste0("na.action is ", deparse(na.action)[1], "; give ", paste(actions, collapse = ", ")))
  }
  omitted <- NULL
  if (!all(complete) && action != "na.pass") {
    if (action == "na.fail") cgmca_stop("notFinite", "missing values in the samples")
    samples <- rownames(X[[1]])
    omitted <- structure(which(!complete), class = sub("na.", "", action, fixed = TRUE),
                         names = if (is.null(samples)) which(!complete) else samples[!complete])
    X <- lapply(X, function(one) one[complete, , drop = FALSE])
    weights <- weights[complete]
  }
  list(X = X, weights = if (is.null(weights)) NULL else as.double(weights), na.action = omitted)
}

# One value for each of m blocks, "auto" as -1.
each <- function(value, m, what) {
  value <- vapply(as.list(value), function(one) {
    if (identical(one, "auto")) return(-1)
    if (!is.numeric(one) || length(one) != 1 || is.na(one) || one < 0) {
      cgmca_stop("invalidInput", paste0(what, " is a number of at least 0", if (what == "ridge") ' or "auto"'))
    }
    as.double(one)
  }, 0)
  if (length(value) == 1) value <- rep(value, m)
  if (length(value) != m) cgmca_stop("invalidInput", paste0(what, " has ", length(value), " entries for ", m, " blocks"))
  value
}

options_of <- function(data, covariance = "identity", ridge = 0, max_rank = 0, extra = NULL, graph = "full",
                       calibrate = 0, rank_tol = NULL, seed = 0, random_starts = 3, max_sweeps = 5000,
                       max_seconds = Inf, scale = FALSE, towards = "zero", missing = "error") {
  m <- length(data$X)
  if (is.numeric(covariance)) covariance <- list(covariance)
  covariance <- as.list(covariance)
  if (length(covariance) == 1) covariance <- rep(covariance, m)
  if (length(covariance) != m) {
    cgmca_stop("invalidInput", paste0(length(covariance), " covariances for ", m, " blocks; give one, or one for each"))
  }
  matrices <- list()
  specs <- vapply(covariance, function(one) {
    if (is.character(one)) return(one)
    matrices[[length(matrices) + 1]] <<- numbers_of(one, "the covariance")
    paste0("file:", length(matrices))
  }, "")
  weighted <- is.numeric(graph)
  if (weighted && !identical(dim(graph), c(m, m))) cgmca_stop("notSquare", paste0("graph is not ", m, " by ", m))
  if (!is.null(extra)) extra <- lapply(extra, function(one) if (is.null(one)) NULL else numbers_of(one, "extra"))
  list(covariance = specs, matrices = matrices, ridge = each(ridge, m, "ridge"),
       max_rank = each(max_rank, m, "max_rank"), rank_tol = rank_tol, weights = data$weights, extra = extra,
       blocks = names(data$X), features = unname(lapply(data$X, colnames)), graph = if (weighted) NULL else graph,
       graph_weights = if (weighted) as.double(graph) else NULL, calibrate = as.double(calibrate),
       seed = as.double(seed), random_starts = if (random_starts == 0) -1 else as.double(random_starts),
       max_sweeps = as.double(max_sweeps), max_seconds = if (is.finite(max_seconds)) as.double(max_seconds) else 0,
       scale = as.double(isTRUE(scale)), towards = towards, missing = missing)
}

# The object of class cgmca of a model's bytes; `data` are the samples, if they are at hand. What takes time is computed
# when it is first asked for: the fields loadings, prop_expl_var and variates.
fitted_model <- function(bytes, call, data = NULL) {
  shape <- .Call(C_shape, bytes)
  m <- length(shape) - 1L
  text <- function(name, domain, i = 1L) .Call(C_text, bytes, name, domain, i)
  array <- function(name, domain = 1L, other = 1L) .Call(C_array, bytes, name, domain, other)
  number <- function(name) .Call(C_number, bytes, name)
  blocks <- vapply(seq_len(m), function(i) {
    name <- text("name", i)
    if (is.null(name) || name == "") c("x", "y", paste0("block", seq_len(m)))[if (m == 2) i else i + 2L] else name
  }, "")
  present <- which(shape[-1] > 0)
  correlations <- if (m == 2 && length(present) == 2) array("correlations")[, 1] else
    if (all(1:2 %in% present)) array("common_correlations", 1L, 2L)[, 1] else numeric(0)
  warnings <- character(0)
  while (!is.null(one <- text("warning", 1L, length(warnings) + 1L))) warnings <- c(warnings, one)
  for (one in warnings) warning(one, call. = FALSE)
  later <- new.env(parent = emptyenv())
  model <- list(call = call, cor = correlations, loadings = later, prop_expl_var = later, ncomp = shape[1],
                covariance = vapply(seq_len(m), function(i) text("covariance", i), ""), nobs = number("samples"),
                certificate = list(certified = number("certified") == 1, objective = number("objective"),
                                   bound = number("bound"), gap = number("gap"), proof = text("proof", 1L),
                                   residuals = array("constraint_residuals")[, 1], ranks = array("ranks")[, 1]),
                warnings = warnings, na.action = data$na.action, bytes = bytes)
  if (!is.null(data)) model$variates <- later
  model <- structure(model, class = "cgmca")
  delayedAssign("loadings", loadings_of(bytes, shape, blocks), assign.env = later)
  delayedAssign("prop_expl_var", explained_of(bytes, shape, blocks), assign.env = later)
  delayedAssign("variates", variates_of(model, data, blocks), assign.env = later)
  model
}

`$.cgmca` <- function(x, name) {
  place <- pmatch(name, names(x))
  if (is.na(place)) return(NULL)
  value <- .subset2(x, place)
  if (is.environment(value)) get(names(x)[place], envir = value) else value
}

`[[.cgmca` <- function(x, i, ...) `$.cgmca`(x, if (is.character(i)) i else names(x)[i])

loadings_of <- function(bytes, shape, blocks) {
  loadings <- lapply(seq_along(blocks), function(i) {
    if (shape[i + 1] == 0) return(NULL)
    A <- t(.Call(C_array, bytes, "matrix", i, i))
    dimnames(A) <- list(.Call(C_features, bytes, i), paste0("comp", seq_len(shape[1])))
    A
  })
  structure(loadings, names = blocks)
}

explained_of <- function(bytes, shape, blocks) {
  shares <- lapply(seq_along(blocks), function(i) if (shape[i + 1] == 0) NULL else .Call(C_array, bytes, "explained", i, i)[, 1])
  structure(shares, names = blocks)
}

variates_of <- function(model, data, blocks) {
  variates <- lapply(seq_along(blocks), function(i) mapped(model, i, data$X[[i]]))
  if (inherits(data$na.action, "exclude")) variates <- lapply(variates, naresid, omit = data$na.action)
  structure(variates, names = blocks)
}

mapped <- function(model, block, X) {
  Z <- .Call(C_apply, model$bytes, block, X)
  dimnames(Z) <- list(rownames(X), colnames(model$loadings[[block]]))
  Z
}

# Raises an error whose class says what is wrong: cgmca_infeasible, cgmca_notFinite, …
cgmca_stop <- function(kind, message) {
  stop(structure(class = c(paste0("cgmca_", kind), "cgmca_error", "error", "condition"),
                 list(message = message, call = NULL)))
}

cgmca_read <- function(path) fitted_model(.Call(C_read, path.expand(path)), match.call())

cgmca_write <- function(model, path) invisible(.Call(C_write, model$bytes, path.expand(path)))

# A block by its name or number.
block_of <- function(model, block) {
  if (is.character(block)) block <- match(block, names(model$loadings))
  if (length(block) != 1 || is.na(block) || !block %in% seq_along(model$loadings)) {
    cgmca_stop("missingDomain", paste0("the blocks of this model are ", paste(names(model$loadings), collapse = ", ")))
  }
  as.integer(block)
}
