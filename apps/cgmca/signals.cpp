#include "signals.hpp"

#include <unistd.h>

#include <csignal>

namespace cgmca::cli {
namespace {

volatile std::sig_atomic_t received = 0, announced = 1;

extern "C" void note_signal(int signal) {
  received = signal;
  if (announced == 0) return;
  constexpr char text[] = "\ncgmca: stopping at the next safe moment (again to stop at once)\n";
  if (::write(STDERR_FILENO, text, sizeof text - 1) < 0) { /* nobody is listening */
  }
}

}  // namespace

void watch_signals() {
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

void announce_signals(bool announce) { announced = announce ? 1 : 0; }

int pending_signal() { return received; }

void stop_if_interrupted() {
  if (received != 0) throw Interrupted{received};
}

}  // namespace cgmca::cli
