// Files that are nobody else's: a secret that keys are hashed with, the rules, who changed them.
//
// What Weir makes is for its own user alone (0600, directories 0700). What lies there with more rights,
// from an earlier version, is tightened at the start. Directories of others are left as they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/logger.h>

#include "weir/error.h"

namespace weir {

// Makes a directory and those above it that are missing.
std::optional<Error> MakePrivateDirectory(const std::string& path);
// Takes the rights of others away from those of these files that exist, and says so.
void Tighten(const std::vector<std::string>& files, spdlog::logger& log);
// A database of SQLite with what lies beside it.
std::vector<std::string> SqliteFiles(const std::string& path);
// Says so if others may look into a directory.
void WarnIfOpen(const std::string& directory, spdlog::logger& log);

// Replaces a file at once and for good: a crash, of the machine too, leaves the old one or the new one.
std::optional<Error> ReplaceFile(const std::string& path, std::string_view text);

}  // namespace weir
