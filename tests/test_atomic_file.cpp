#include "support/atomic_file.hpp"

#include <gtest/gtest.h>
#include <cgmca/error.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

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
