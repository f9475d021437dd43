#include "shell/progress.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <utility>

namespace cgmca::cli {
namespace {

constexpr double kBarInterval = 0.1, kPlainInterval = 2;  // seconds between two drawings
constexpr Index kBarWidth = 24;

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

// "2026-11-16T03:14:34Z"
std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts);
}

}  // namespace

Progress::Progress(const Session& session, std::string what, std::optional<Index> total, Index done)
    : job_(session.job), what_(std::move(what)), total_(total), before_(done), done_(done) {
  if (session.quiet || session.progress == "off" || !session.leads()) return;
  if (session.progress == "plain") {
    mode_ = Mode::plain;
  } else if (::isatty(STDERR_FILENO) == 1) {
    mode_ = Mode::bar;
  }
}

// Work that has failed is not done.
Progress::~Progress() {
  if (mode_ == Mode::plain && !ended_ && done_ > before_ && std::uncaught_exceptions() == 0) {
    total_ = done_;
    fmt::print(stderr, "{} {}: {}\n", utc_now(), job_, line(done_));
  }
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::update(Index done) {
  done_ = done;
  if (mode_ == Mode::none) return;
  const auto now = Clock::now();
  const double since = std::chrono::duration<double>(now - shown_).count();
  if (since < (mode_ == Mode::bar ? kBarInterval : kPlainInterval)) return;
  shown_ = now;
  if (mode_ == Mode::plain) {
    fmt::print(stderr, "{} {}: {}\n", utc_now(), job_, line(done));
    ended_ = done == total_;
    return;
  }
  drawn_ = true;
  std::string bar;
  if (total_ && *total_ > 0) {
    const Index filled = std::min(kBarWidth, kBarWidth * done / *total_);
    for (Index i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
    bar += " ";
  }
  fmt::print(stderr, "\r\033[K{}{}", bar, line(done));
  std::fflush(stderr);
}

// "41000 of 60000 pairs read (68 %), 21000/s, 0:01 left"
std::string Progress::line(Index done) const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const double rate = static_cast<double>(done - before_) / std::max(elapsed, 1e-9);
  const std::string speed = rate < 10 ? fmt::format("{:.2g}/s", rate) : fmt::format("{:.0f}/s", rate);
  if (!total_) return fmt::format("{} {}, {}", done, what_, speed);
  const double left = rate > 0 ? static_cast<double>(*total_ - done) / rate : 0;
  return fmt::format("{} of {} {} ({} %), {}, {} left", done, *total_, what_, *total_ > 0 ? 100 * done / *total_ : 100,
                     speed, duration(left));
}

}  // namespace cgmca::cli
