# What the package promises, beside stats::cancor, lm and vegan::CCorA.
library(cgmca)
near <- function(a, b, tolerance = 1e-10) stopifnot(isTRUE(all.equal(a, b, tolerance = tolerance, check.attributes = FALSE)))
fails <- function(kind, code) {
  problem <- tryCatch({ force(code); NULL }, cgmca_error = function(one) one)
  if (!inherits(problem, paste0("cgmca_", kind))) stop("no error of the class ", kind)
}

set.seed(1)
causes <- matrix(rnorm(180), 60)
X <- causes %*% matrix(rnorm(21), 3) + 0.3 * matrix(rnorm(420), 60) + 2
Y <- causes %*% matrix(rnorm(15), 3) + 0.3 * matrix(rnorm(300), 60)
dimnames(X) <- list(paste0("s", 1:60), paste0("x", 1:7))
dimnames(Y) <- list(paste0("s", 1:60), paste0("y", 1:5))

# Canonical correlation analysis: cancor's correlations, scores and tests.
model <- cgmca(X, Y)
reference <- cancor(X, Y)
near(model$cor, reference$cor)
near(unname(cov(model$variates$x)), diag(5))
theirs <- sqrt(59) * scale(X, scale = FALSE) %*% reference$xcoef[, 1:5]
near(abs(diag(cor(theirs, model$variates$x))), rep(1, 5))
stopifnot(identical(dimnames(model$loadings$x), list(colnames(X), paste0("comp", 1:5))))
near(scores(model, X + 0), model$variates$x)
table <- Wilks(model)
stopifnot(inherits(table, "anova"))
near(table$WilksL, rev(cumprod(rev(1 - reference$cor^2))))
near(table$df1, (7 - 0:4) * (5 - 0:4))
if (requireNamespace("vegan", quietly = TRUE)) {
  other <- vegan::CCorA(Y, X)
  near(model$cor, as.vector(other$CanCorr), 1e-8)
}

# The covariance asked for; a response with errors; limits hold about nine of ten.
near(unname(cov(cgmca(X, Y, covariance = diag(c(4, 1)))$variates$y)), diag(c(4, 1)))
found <- predict(model, X, "response", interval = 0.9)
stopifnot(identical(dimnames(found$fit), dimnames(Y)))
within <- mean(found$lwr < Y & Y < found$upr)
stopifnot(within > 0.84, within < 0.97, all(found$se.fit > 0))
back <- predict(model, Y, "response", from = "y", to = "x")
stopifnot(identical(colnames(back), colnames(X)))
# With all directions the translation is least squares.
near(predict(model, X, "response"), fitted(lm(Y ~ X)), 1e-8)

# Formulas, factors, weights, subset and missing values as lm has them.
data <- data.frame(a = Y[, 1], b = Y[, 2], X, group = factor(rep(c("u", "v", "w"), 20)), n = rep(1:2, 30))
fit <- cgmca(cbind(a, b) ~ x1 + x2 + x3 + group, data)
stopifnot(identical(rownames(fit$loadings$x), c("x1", "x2", "x3", "groupv", "groupw")))
linear <- lm(cbind(a, b) ~ x1 + x2 + x3 + group, data)
near(predict(fit, data[5:9, ], "response"), predict(linear, data[5:9, ]), 1e-8)
weighted <- cgmca(cbind(a, b) ~ x1 + x2, data, weights = n, subset = x1 > 0)
twice <- data[data$x1 > 0, ]
twice <- twice[rep(seq_len(nrow(twice)), twice$n), ]
near(weighted$cor, cgmca(cbind(a, b) ~ x1 + x2, twice)$cor)
data$x1[7] <- NA
stopifnot(cgmca(cbind(a, b) ~ x1 + x2, data)$nobs == 59)
gone <- X
gone[3, 2] <- NA
stopifnot(nrow(cgmca(gone, Y)$variates$x) == 59)
padded <- cgmca(gone, Y, na.action = na.exclude)
stopifnot(nrow(padded$variates$x) == 60, all(is.na(padded$variates$x[3, ])))
fails("notFinite", cgmca(gone, Y, na.action = na.fail))
fails("invalidInput", cgmca_bootstrap(X, Y, n = 50))  # R takes n for na.action, and 50 is none
fails("notFinite", cgmca(gone, Y, na.action = na.pass))

# Samples that lack a block, features of any units, and shrinking towards the sample itself.
partly <- cgmca(gone, Y, missing = "keep", ridge = 0.1, covariance = "identity:2")
stopifnot(partly$nobs == 60, cgmca_verify(partly, gone, Y, missing = "keep")$certified)
units <- X %*% diag(c(1, 10, 100, 1, 1, 1, 1))
near(abs(scores(cgmca(units, Y, scale = TRUE, covariance = "identity:2"))),
     abs(scores(cgmca(unname(X), Y, scale = TRUE, covariance = "identity:2"))), 1e-7)
moved <- X + 3 + 0.05 * rnorm(420)
same <- predict(cgmca(X, moved, towards = "identity", ridge = 1e6), moved, "response", from = "y", to = "x")
near(same, sweep(moved, 2, colMeans(moved) - colMeans(X)), 1e-2)

# Three blocks, fused; ridges and ranks for each.
V <- X[, 1:3] + Y[, 1:3]
three <- cgmca(blocks = list(optical = X, radar = Y, thermal = V), covariance = "identity:2", ridge = list(0, 0.1, "auto"))
stopifnot(identical(names(three$variates), c("optical", "radar", "thermal")), three$certificate$certified)
stopifnot(identical(dim(cgmca_fuse(three, list(radar = Y, thermal = V))), c(60L, 2L)))
stopifnot(ncol(predict(three, list(Y, V), "response", from = c("radar", "thermal"), to = "optical")) == 7)
stopifnot(cgmca_verify(model, X, Y)$certified)

# Choosing and testing.
cv <- cgmca_cv(X, Y, families = "correlation", ranks = c(1, 3), ridges = list(0, "auto"))
stopifnot(nrow(cv$trials) == 4, cv$trials$covariance[cv$chosen] == "correlation:3", cv$model$ncomp == 3)
for_sum <- cgmca_cv(X, X + 3 + 0.05 * rnorm(420), ranks = c(1, 3), ridges = c(0.01, 1), downstream = rep(1, 7))
stopifnot(for_sum$criterion == "downstream", for_sum$expected > 0, length(for_sum$recommendation) >= 2)
stopifnot("identity" %in% for_sum$trials$towards)
classes <- cgmca_cv(X, Y, ranks = 1:2, ridges = 0, labels = factor(X[, 1] > 2), folds = 3, repeats = 1)
stopifnot(classes$criterion == "classification")
test <- cgmca_permutation(X, Y, permutations = 50)
stopifnot(test$significant == 3, length(test$p.value) == 5)

spread <- cgmca_bootstrap(X, Y, replicas = 50, covariance = "identity:3")
stopifnot(spread$replicas == 50, all(spread$correlations$lower <= spread$correlations$upper))
stopifnot(identical(rownames(spread$structure$x$estimate), colnames(X)))
switched <- Y
switched[c(7, 30), ] <- Y[c(30, 7), ]
diagnosis <- cgmca_diagnose(cgmca(X, Y, covariance = "identity:3"), X, switched)
stopifnot(all(c(7, 30) %in% diagnosis$suspects$sample))

# Everything prints and plots, with 2,000 variables too.
wide <- cgmca(matrix(rnorm(40 * 2000), 40), matrix(rnorm(40 * 3), 40), covariance = "identity:2", ridge = 1)
pdf(NULL)
for (type in c("weights", "loadings", "samples", "cor_circle", "biplot", "ave", "scree", "heat")) {
  plot(model, type)
  plot(wide, type)
  plot(three, type, block = "radar")
}
plot(cv)
plot(test)
plot(spread)
plot(spread, type = "weights")
plot(diagnosis)
plot(model, "samples", labels = rep(1:3, 20))
plot(model, "scree", data = list(X, Y), permutations = 20)
fails("invalidInput", plot(three, "scree", data = list(X, Y)))
invisible(dev.off())
invisible(capture.output(print(model), print(summary(model)), print(summary(three)), print(wide), print(cv), print(test),
                         print(summary(cv)), print(summary(test)), print(spread),
                         print(summary(spread)), print(diagnosis), print(Wilks(model))))

# Blocks and samples without names.
stopifnot(cgmca(unname(X), unname(Y))$ncomp == 5)
bare <- cgmca:::options_of(list(X = list(X, Y)), "identity:2")
stopifnot(is.raw(.Call(get("C_fit", asNamespace("cgmca")), list(X, Y), bare)))

# Errors have classes, and leave R alive; files come back as they were.
fails("infeasible", cgmca(X, Y, covariance = "identity:9"))
fails("invalidInput", cgmca(X, Y, covariance = "none"))
fails("invalidInput", cgmca(X, Y, ridge = "much"))
fails("invalidInput", cgmca(X, Y, rigde = 1))
fails("unequalSamples", cgmca(X, Y[1:9, ]))
fails("wrongDimension", predict(model, X[, 1:4]))
fails("missingDomain", scores(model, X, "z"))
path <- tempfile()
cgmca_write(model, path)
same <- cgmca_read(path)
stopifnot(identical(same$bytes, model$bytes), identical(same$loadings, model$loadings))
near(scores(same, X), model$variates$x)

# Memory stays flat over many calls, errors among them.
resident <- function() as.numeric(sub("[^0-9]*([0-9]+).*", "\\1", grep("^VmRSS", readLines("/proc/self/status"), value = TRUE)))
calls <- as.integer(Sys.getenv("CGMCA_CALLS", "300"))
options <- cgmca:::options_of(cgmca:::blocks_of(X, Y, NULL, NULL, "na.omit"), "identity:2")
call <- function(routine, ...) .Call(routine, ...)
fit_routine <- get("C_fit", asNamespace("cgmca"))
wrong <- cgmca:::options_of(cgmca:::blocks_of(X, Y, NULL, NULL, "na.omit"), "identity:9")
for (i in seq_len(calls)) {
  if (i == calls %/% 2) { gc(); before <- resident() }
  call(fit_routine, list(X, Y), options)
  tryCatch(call(fit_routine, list(X, Y), wrong), cgmca_error = function(one) NULL)
}
gc()
if (file.exists("/proc/self/status")) {
  grown <- resident() - before
  cat(calls, "calls:", grown, "kB more in the second half\n")
  stopifnot(grown < 600 || calls < 10000)
}
