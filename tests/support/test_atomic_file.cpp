#include "support/atomic_file.hpp"

#include <gtest/gtest.h>
#include <cgmca/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

// In place of the C library's: gives other threads time to meet the new mask.
extern "C" mode_t umask(mode_t mask) noexcept {
  const auto before = static_cast<mode_t>(::syscall(SYS_umask, mask));
  ::usleep(200);
  return before;
}

namespace cgmca {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cgmca-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string path(const char* name) const { return (folder / name).string(); }
  static std::string contents(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder), {}); }

  fs::path folder;
};

TEST_F(AtomicFileTest, AppearsOnlyOnCommit) {
  {
    AtomicFile file(path("a"));
    file.write("hello", 5);
    EXPECT_FALSE(fs::exists(path("a")));
    file.commit();
  }
  EXPECT_EQ(contents(path("a")), "hello");
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, LeavesTheTargetAloneWithoutCommit) {
  std::ofstream(path("a")) << "old";
  { AtomicFile(path("a")).write("new", 3); }
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, KeepsPermissionsAndSymbolicLinks) {
  std::ofstream(path("real")) << "old";
  fs::permissions(path("real"), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink(path("real"), path("link"));
  AtomicFile file(path("link"));
  file.write("new", 3);
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contents(path("real")), "new");
  EXPECT_EQ(fs::status(path("real")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
}

// Permissions of a file that another thread creates meanwhile tell the umask it had.
TEST_F(AtomicFileTest, NewFilesFollowTheUmaskWhichOtherThreadsNeverSeeChanged) {
  const auto permissions = [](const std::string& file) {
    struct stat status {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0);
    return status.st_mode & 07777;
  };
  const mode_t before = ::umask(027);
  std::atomic<bool> done = false;
  std::set<mode_t> seen;
  std::thread other([&] {
    while (!done) {
      ::close(::open(path("other").c_str(), O_WRONLY | O_CREAT, 0666));
      seen.insert(permissions(path("other")));
      ::unlink(path("other").c_str());
    }
  });
  std::set<mode_t> made;
  for (int i = 0; i < 1000; ++i) AtomicFile(path("a")).write("new", 3);
  AtomicFile file(path("a"));
  file.commit();
  made.insert(permissions(path("a")));
  done = true;
  other.join();
  write_atomically(path("b"), [](const std::string& p) { std::ofstream(p) << "made"; });
  made.insert(permissions(path("b")));
  ::umask(before);
  EXPECT_EQ(made, std::set<mode_t>{0640});
  EXPECT_EQ(seen, std::set<mode_t>{0640});
}

TEST_F(AtomicFileTest, AFullDeviceIsAnIoError) {
  AtomicFile file("/dev/full");
  EXPECT_THROW(
      {
        file.write("x", 1);
        file.commit();
      },
      IoError);
}

TEST_F(AtomicFileTest, AFolderAndAMissingFolderAreIoErrors) {
  EXPECT_THROW(AtomicFile{folder.string()}, IoError);
  EXPECT_THROW(AtomicFile{path("absent/a")}, IoError);
}

TEST_F(AtomicFileTest, AProducerThatThrowsLeavesNothing) {
  EXPECT_THROW(write_atomically(path("a"), [](const std::string&) { throw FormatError("no"); }), FormatError);
  EXPECT_EQ(files(), 0);
  write_atomically(path("a"), [](const std::string& p) { std::ofstream(p) << "made"; });
  EXPECT_EQ(contents(path("a")), "made");
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace cgmca
