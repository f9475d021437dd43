# Canonical correlations as a user of R writes them. FOLDER holds a.bin and b.bin (n rows of d doubles); the first 550
# scores of both go to cancor.bin, one after another.
folder <- Sys.getenv("FOLDER")
shape <- scan(file.path(folder, "shape.txt"), quiet = TRUE)  # n d1 d2
read <- function(name, d) matrix(readBin(file.path(folder, name), "double", shape[1] * d), shape[1], d, byrow = TRUE)
a <- read("a.bin", shape[2])
b <- read("b.bin", shape[3])
varies <- apply(a, 2, sd) > 0
a <- a[, varies]
colnames(a) <- seq_len(ncol(a))  # cancor leaves out dependent columns and tells by name which are left
colnames(b) <- seq_len(ncol(b))
status <- function(field) {
  line <- grep(field, readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line))
}
invisible(gc())
cat("5", file = "/proc/self/clear_refs")
before <- status("VmRSS")
seconds <- system.time(r <- cancor(a, b))[["elapsed"]]
rise <- 1024 * (status("VmHWM") - before)
scores <- function(x, center, coef) scale(x, center, FALSE)[, rownames(coef)] %*% coef[, 1:550]
writeBin(c(scores(a, r$xcenter, r$xcoef), scores(b, r$ycenter, r$ycoef)), file.path(folder, "cancor.bin"))
cat(seconds, rise, "\n")
