// Files that are nobody else's, and disks that are full.
#include "server/data/private_files.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/database.h"
#include "server/data/data_directory.h"
#include "server/data/hold_mark.h"
#include "server/data/state_file.h"

namespace weir::private_files_test {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

class PrivateFiles : public ::testing::Test {
 protected:
  PrivateFiles() {
    std::string name = ::testing::TempDir() + "weir-files-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~PrivateFiles() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
  std::ostringstream logged_;
  spdlog::logger log_{"test", std::make_shared<spdlog::sinks::ostream_sink_mt>(logged_)};
};

TEST_F(PrivateFiles, DirectoriesThatAreMadeAreForTheOwner) {
  ASSERT_EQ(chmod(directory_.c_str(), 0755), 0);
  ASSERT_FALSE(MakePrivateDirectory(directory_ + "/a/b"));
  EXPECT_EQ(ModeOf(directory_ + "/a"), 0700u);
  EXPECT_EQ(ModeOf(directory_ + "/a/b"), 0700u);
  EXPECT_EQ(ModeOf(directory_), 0755u) << "not ours";
  EXPECT_FALSE(MakePrivateDirectory(directory_ + "/a/b/"));
  std::ofstream(directory_ + "/file") << "x";
  EXPECT_TRUE(MakePrivateDirectory(directory_ + "/file"));
  EXPECT_TRUE(MakePrivateDirectory(directory_ + "/file/below"));
  WarnIfOpen(directory_ + "/a", log_);
  EXPECT_EQ(logged_.str(), "");
  WarnIfOpen(directory_, log_);
  EXPECT_NE(logged_.str().find("chmod 700"), std::string::npos);
}

TEST_F(PrivateFiles, DatabasesAreForTheOwnerAndOldOnesAreTightened) {
  const mode_t usual = umask(0);
  const std::string path = directory_ + "/weir.db";
  {
    const auto database = OpenDatabase(path);
    ASSERT_TRUE(database);
    ASSERT_TRUE((*database)->Query("CREATE TABLE t (a TEXT)"));
    for (const std::string& file : {path, path + "-wal", path + "-shm"}) {
      EXPECT_EQ(ModeOf(file), 0600u) << file;
      ASSERT_EQ(chmod(file.c_str(), 0664), 0);
    }
    Tighten(SqliteFiles(path), log_);
    for (const std::string& file : {path, path + "-wal", path + "-shm"}) {
      EXPECT_EQ(ModeOf(file), 0600u) << file;
      EXPECT_NE(logged_.str().find(file + ": others had rights"), std::string::npos);
    }
  }
  umask(usual);
  logged_.str("");
  Tighten(SqliteFiles(path), log_);
  EXPECT_EQ(logged_.str(), "") << "once";
}

TEST_F(PrivateFiles, AFileIsReplacedWhole) {
  const std::string path = directory_ + "/copy";
  ASSERT_FALSE(ReplaceFile(path, "one"));
  ASSERT_FALSE(ReplaceFile(path, "two"));
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "two");
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  EXPECT_TRUE(ReplaceFile(directory_ + "/none/copy", "x"));
}

// 0: as it should be; 77: this cannot be tried here.
int OnAFullDisk(const std::string& directory) {
  if (unshare(CLONE_NEWNS) != 0) return 77;
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  // Whatever is the first to find no room, it says so.
  const auto says_so = [](const Error& error) {
    const bool full = error.message.find("No space left on device") != std::string::npos ||
                      error.message.find("disk is full") != std::string::npos;
    if (!full) std::fprintf(stderr, "%s\n", error.message.c_str());
    return full;
  };
  bool any = false, all = false;
  for (int pages = 1; pages <= 100; ++pages) {
    const std::string size = "size=" + std::to_string(4 * pages) + "k";
    if (mount("tmpfs", directory.c_str(), "tmpfs", 0, size.c_str()) != 0) return 77;
    {
      const auto data = DataDirectory::Open(directory + "/data");
      if (!data) {
        if (!says_so(data.error())) return 2;
        return 5;  // a directory and an empty file need no room to speak of
      }
      const auto state = StateFile::Open((*data)->state());
      const auto mark = HoldMark::Open((*data)->holds());
      const auto config = OpenDatabase((*data)->config());
      for (const std::optional<Error>& error :
           {state ? std::nullopt : std::optional(state.error()),
            mark ? std::nullopt : std::optional(mark.error()),
            config ? std::nullopt : std::optional(config.error())}) {
        if (error && !says_so(*error)) return 2;
        any = any || error;
      }
      all = state && mark && config;
    }
    if (umount2(directory.c_str(), MNT_DETACH) != 0) return 3;
  }
  return any && all ? 0 : 4;
}

TEST_F(PrivateFiles, AFullDiskIsAnErrorAndNotTheEndOfTheProcess) {
  const pid_t child = fork();
  if (child == 0) _exit(OnAFullDisk(directory_));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no rights to mount a small disk";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace weir::private_files_test
