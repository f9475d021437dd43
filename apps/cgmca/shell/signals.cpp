#include "shell/signals.hpp"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace cgmca::cli {
namespace {

constexpr unsigned kSecondsToEnd = 5;

volatile std::sig_atomic_t received = 0, in_json = 0, may_end = 0;

void tell(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) { /* nobody is listening */
  }
}

// While work may end nothing has been written. Otherwise an output may have appeared already.
std::string_view last_words(int signal) {
  const bool ctrl_c = signal == SIGINT, unchanged = may_end != 0;
  if (in_json == 0) {
    if (unchanged) {
      return ctrl_c ? "\ncgmca: stopping at once by Ctrl-C; no output file has changed\n"
                    : "\ncgmca: stopping at once by kill; no output file has changed\n";
    }
    return ctrl_c ? "\ncgmca: stopping at once by Ctrl-C; each output file is whole or as it was\n"
                  : "\ncgmca: stopping at once by kill; each output file is whole or as it was\n";
  }
  if (unchanged) {
    return ctrl_c ? "{\"error\":\"interrupted\",\"message\":\"stopped by Ctrl-C; no output file has "
                    "changed\",\"status\":130}\n"
                  : "{\"error\":\"interrupted\",\"message\":\"stopped by kill; no output file has "
                    "changed\",\"status\":143}\n";
  }
  return ctrl_c
             ? "{\"error\":\"interrupted\",\"message\":\"stopped at once by Ctrl-C; each output file is whole or as "
               "it was\",\"status\":130}\n"
             : "{\"error\":\"interrupted\",\"message\":\"stopped at once by kill; each output file is whole or as it "
               "was\",\"status\":143}\n";
}

[[noreturn]] void end_at_once(int signal) {
  tell(last_words(signal));
  ::_exit(128 + signal);
}

extern "C" void note_signal(int signal) {
  const bool again = received != 0;
  received = signal;
  if (may_end != 0 || again) end_at_once(signal);
  if (in_json == 0) tell("\ncgmca: stopping at the next safe moment, in 5 seconds at most (again to stop at once)\n");
  ::alarm(kSecondsToEnd);
}

extern "C" void note_alarm(int) { end_at_once(received); }

}  // namespace

void watch_signals(bool json) {
  in_json = json ? 1 : 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = note_alarm;
  ::sigaction(SIGALRM, &action, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  ::sigaction(SIGXFSZ, &ignore, nullptr);
}

int pending_signal() {
  if (received != 0) ::alarm(0);  // the safe moment has come: a checkpoint may take as long as it needs
  return received;
}

void stop_if_interrupted() {
  if (const int signal = pending_signal(); signal != 0) throw Interrupted{signal};
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
