#include "signals.hpp"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace cgmca::cli {
namespace {

volatile std::sig_atomic_t received = 0, in_json = 0, may_end = 0;

void tell(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) { /* nobody is listening */
  }
}

std::string_view last_words(int signal) {
  if (in_json == 0) {
    return signal == SIGINT ? "\ncgmca: stopping at once by Ctrl-C; no output file has changed\n"
                            : "\ncgmca: stopping at once by kill; no output file has changed\n";
  }
  return signal == SIGINT ? "{\"error\":\"interrupted\",\"message\":\"stopped by Ctrl-C; no output file has "
                            "changed\",\"status\":130}\n"
                          : "{\"error\":\"interrupted\",\"message\":\"stopped by kill; no output file has "
                            "changed\",\"status\":143}\n";
}

extern "C" void note_signal(int signal) {
  received = signal;
  if (may_end != 0) {
    tell(last_words(signal));
    ::_exit(128 + signal);
  }
  if (in_json == 0) tell("\ncgmca: stopping at the next safe moment (again to stop at once)\n");
}

}  // namespace

void watch_signals(bool json) {
  in_json = json ? 1 : 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  ::sigaction(SIGXFSZ, &ignore, nullptr);
}

int pending_signal() { return received; }

void stop_if_interrupted() {
  if (received != 0) throw Interrupted{received};
}

// In this order: a signal that comes in between is either seen here or ends the process itself.
EndsAtOnce::EndsAtOnce() {
  may_end = 1;
  if (received == 0) return;
  may_end = 0;
  stop_if_interrupted();
}

EndsAtOnce::~EndsAtOnce() { may_end = 0; }

}  // namespace cgmca::cli
