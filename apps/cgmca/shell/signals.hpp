// Ctrl-C and `kill`: a clean stop between two blocks of work, at once if repeated.
#pragma once

namespace cgmca::cli {

// Ended by a signal (exit status 128 + its number, as shells report it).
struct Interrupted {
  int signal;
};

// From now on SIGINT and SIGTERM are only noted. A second one ends the process at once, and so do five seconds in which
// no safe moment comes. SIGPIPE and SIGXFSZ are ignored, so that a closed pipe and a file size limit are errors of the
// write that meets them. A first signal prints a line on stderr. With `json` a signal prints an object, and only if it
// ends the process.
void watch_signals(bool json);

// These two are called at safe moments: the five seconds end.
int pending_signal();        // 0: none
void stop_if_interrupted();  // throws Interrupted

// While one lives a first signal ends the process at once, with the status and message of Interrupted: LAPACK may work
// for minutes and cannot be asked to stop. For work before the first output file is begun.
class EndsAtOnce {
 public:
  EndsAtOnce();  // throws Interrupted
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;
};

}  // namespace cgmca::cli
