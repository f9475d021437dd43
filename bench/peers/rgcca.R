# R's RGCCA of several views: rgcca.R K NAME... D... with the views NAME.bin in FOLDER (n rows of D doubles). tau = 0 asks
# for components of variance 1 that are uncorrelated within a view, one component after the other. The scores go to
# multiset.bin, view by view, component by component.
suppressPackageStartupMessages(library(RGCCA))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- Sys.getenv("FOLDER")
k <- as.integer(arguments[1])
m <- (length(arguments) - 1) / 2
read <- function(name, d) {
  path <- file.path(folder, paste0(name, ".bin"))
  n <- file.size(path) / 8 / d
  x <- matrix(readBin(path, "double", n * d), n, d, byrow = TRUE)
  dimnames(x) <- list(seq_len(n), paste0(name, seq_len(d)))
  x
}
blocks <- mapply(read, arguments[1 + seq_len(m)], as.integer(arguments[1 + m + seq_len(m)]), SIMPLIFY = FALSE)
status <- function(field) as.numeric(gsub("[^0-9]", "", grep(field, readLines("/proc/self/status"), value = TRUE)))
invisible(gc())
cat("5", file = "/proc/self/clear_refs")
before <- status("VmRSS")
seconds <- system.time(r <- rgcca(blocks, connection = 1 - diag(m), tau = rep(0, m), ncomp = rep(k, m), scheme = "horst",
                                  scale = FALSE, scale_block = FALSE, verbose = FALSE))[["elapsed"]]
rise <- 1024 * (status("VmHWM") - before)
writeBin(unlist(lapply(r$Y[seq_len(m)], function(y) as.vector(y[, seq_len(k)]))), file.path(folder, "multiset.bin"))
cat(seconds, rise, "\n")
