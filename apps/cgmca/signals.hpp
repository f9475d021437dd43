// Ctrl-C and `kill`: a clean stop between two blocks of work, at once if repeated.
#pragma once

namespace cgmca::cli {

// Ended by a signal (exit status 128 + its number, as shells report it).
struct Interrupted {
  int signal;
};

// From now on SIGINT and SIGTERM are only noted; a second one ends the process as usual. SIGPIPE and SIGXFSZ are
// ignored, so that a closed pipe and a file size limit are errors of the write that meets them.
void watch_signals();

void announce_signals(bool announce);  // whether a first one is answered with a line on stderr; it is at first

int pending_signal();        // 0: none
void stop_if_interrupted();  // throws Interrupted

}  // namespace cgmca::cli
