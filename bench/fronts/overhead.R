# What an R fit takes beyond the fit in C of the same matrices: processor time, in turn in one process.
library(cgmca)
folder <- Sys.getenv("CGMCA_BARE")
dyn.load(file.path(folder, "bare.so"))
bare_fit <- getNativeSymbolInfo("bare")
clock <- getNativeSymbolInfo("now")
set.seed(1)
n <- 4905; d <- 784; covariance <- "data1:550"; runs <- as.integer(Sys.getenv("CGMCA_RUNS"))
causes <- matrix(rnorm(n * 600), n)
X <- causes %*% matrix(rnorm(600 * d), 600) + rnorm(n * d)
Y <- causes %*% matrix(rnorm(600 * d), 600) + rnorm(n * d)
colnames(X) <- paste0("x", seq_len(d))
colnames(Y) <- paste0("y", seq_len(d))
data <- data.frame(X, Y)
formula <- as.formula(paste0("cbind(", paste(colnames(Y), collapse = ", "), ") ~ ", paste(colnames(X), collapse = " + ")))
options <- cgmca:::options_of(list(X = list(X, Y)), covariance)
fit_routine <- get("C_fit", asNamespace("cgmca"))
call <- function(...) .Call(...)
taken <- function(code) {
  start <- .Call(clock)
  force(code)
  .Call(clock) - start
}
found <- sapply(0:runs, function(run) {
  c(bare = .Call(bare_fit, X, Y, covariance), call = taken(call(fit_routine, list(X, Y), options)),
    front = taken(cgmca(X, Y, covariance = covariance)), formula = taken(cgmca(formula, data, covariance = covariance)))
})[, -1, drop = FALSE]
list_of <- function(values) paste0("[", paste(signif(values, 5), collapse = " "), "]")
cat(sprintf('{"bare": %s, "call": %s, "front": %s, "formula": %s}\n', list_of(found[1, ]), list_of(found[2, ]),
            list_of(found[3, ]), list_of(found[4, ])))
