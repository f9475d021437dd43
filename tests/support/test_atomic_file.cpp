#include "support/atomic_file.hpp"

#include <gtest/gtest.h>
#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

#include "support/text.hpp"

// In place of the C library's: gives other threads time to meet the new mask.
extern "C" mode_t umask(mode_t mask) noexcept {
  const auto before = static_cast<mode_t>(::syscall(SYS_umask, mask));
  ::usleep(200);
  return before;
}

// Likewise: a disk that fails when this file is looked at.
std::string unreadable;  // NOLINT
extern "C" int stat(const char* path, struct stat* status) noexcept {
  if (path != unreadable) return ::fstatat(AT_FDCWD, path, status, 0);
  errno = EIO;
  return -1;
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

TEST_F(AtomicFileTest, MakesTheFileThatADanglingLinkNames) {
  fs::create_symlink("real", path("link"));
  AtomicFile file(path("link"));
  file.write("new", 3);
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contents(path("real")), "new");
}

TEST_F(AtomicFileTest, TakesNamesAsLongAsTheSystemDoes) {
  for (const std::size_t length : {std::size_t{249}, std::size_t{255}}) {
    const std::string name(length, 'a');
    AtomicFile file(path(name.c_str()));
    file.write("new", 3);
    file.commit();
    EXPECT_EQ(contents(path(name.c_str())), "new");
  }
}

TEST_F(AtomicFileTest, RemovesWhatAKilledProcessLeft) {
  for (const char* name : {".s.aB3dE6", ".s.npy.aB3dE6", "s.aB3dE6"}) std::ofstream(path(name)) << "half";
  remove_leftovers(path("s"));
  EXPECT_EQ(files(), 2);
  EXPECT_FALSE(fs::exists(path(".s.aB3dE6")));
}

// What cannot be looked at is not taken for absent: a variable would be added to a new file in place of the old one.
TEST_F(AtomicFileTest, AFailingDiskLosesNoVariables) {
  for (const char* name : {"a.npz", "a.mat", "a.h5"}) {
    const std::string file = path(name);
    write(file + ":x", Matrix::Ones(2, 3));
    const std::string before = contents(file);
    unreadable = file;
    EXPECT_THROW(write(file + ":y", Matrix::Zero(2, 3)), IoError) << name;
    EXPECT_THROW(AtomicFile{file}, IoError) << name;
    unreadable.clear();
    EXPECT_EQ(contents(file), before) << name;
  }
  EXPECT_EQ(files(), 3);
}

TEST(Printable, ShowsControlCharactersAndShortensLongWords) {
  EXPECT_EQ(printable("a\tb\nc: ü × 漢 🙂"), "a\tb\nc: ü × 漢 🙂");
  EXPECT_EQ(printable("\x1b]0;title\x07 \r \x7f"), "\\x1b]0;title\\x07 \\x0d \\x7f");
  EXPECT_EQ(printable("\xc2\x9b 31m \xe2\x80\xae"), "\\x9b 31m \\u202e");
  EXPECT_EQ(printable("caf\xe9 \xe2\x80"), "caf\\xe9 \\xe2\\x80");
  EXPECT_EQ(printable(std::string(401, 'a') + " b"), std::string(180, 'a') + "…" + std::string(180, 'a') + " b");
  EXPECT_EQ(printable(std::string(400, 'a')), std::string(400, 'a'));
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
