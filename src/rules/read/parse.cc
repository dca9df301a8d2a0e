#include "rules/read/parse.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "rules/read/namespace_reader.h"
#include "rules/text/document.h"

namespace weir {
namespace {

// Files that are read together.
class Files {
 public:
  enum class Grammar { kRules, kRatelimit };

  explicit Files(const ParseOptions& options) : options_(options) {}

  void AddText(Grammar grammar, std::string file, std::string text) {
    Source& source = sources_.emplace_back(std::move(file), std::move(text), options_);
    try {
      const auto document = Document::Read(source);
      if (document == nullptr) return;
      auto read = grammar == Grammar::kRules ? ReadRulesFile(document->root(), source)
                                             : ReadRatelimitFile(document->root(), source);
      for (ReadNamespace& one : read) Add(std::move(one), source);
    } catch (const Source::Enough&) {
      // What was found so far is told.
    }
  }

  void AddPath(Grammar grammar, const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) return AddFile(grammar, path);
    std::vector<std::string> files;
    for (auto at = std::filesystem::directory_iterator(path, error);
         !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
      const std::string name = at->path().filename();
      if (name.ends_with(".yaml") && !name.starts_with(".")) files.push_back(at->path());
    }
    if (error) return Fail(path, "cannot be read: " + error.message());
    if (files.empty()) return Fail(path, "has no *.yaml in it");
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) AddFile(grammar, file);
  }

  NamespacesRead Take() {
    ParseResult found = Found();
    return {std::move(namespaces_), std::move(found.errors), std::move(found.changes)};
  }

  ParseResult Finish() {
    ParseResult result = Found();
    if (result.errors.empty()) result.rules = std::make_shared<Rulebook>(std::move(namespaces_));
    return result;
  }

 private:
  // Mistakes and changes.
  ParseResult Found() const {
    ParseResult result;
    for (const Source& source : sources_) {
      const auto errors = source.SortedErrors();
      result.errors.insert(result.errors.end(), errors.begin(), errors.end());
      const auto& changes = source.changes();
      result.changes.insert(result.changes.end(), changes.begin(), changes.end());
    }
    return result;
  }

  struct First {
    Source* source;
    Mark mark;
  };

  void AddFile(Grammar grammar, const std::string& path) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error) return Fail(path, "cannot be read: " + error.message());
    if (size > Document::kMostBytes) {
      return Fail(path, "has " + std::to_string(size) + " bytes; at most 16 MiB are read");
    }
    std::ifstream in(path, std::ios::binary);
    std::string text(size, '\0');
    in.read(text.data(), static_cast<std::streamsize>(size));
    if (in.bad() || !in.is_open())
      return Fail(path, std::string("cannot be read: ") + std::strerror(errno));
    text.resize(static_cast<size_t>(in.gcount()));
    AddText(grammar, path, std::move(text));
  }

  void Fail(const std::string& path, std::string message) {
    sources_.emplace_back(path, "", options_).Error({}, std::move(message));
  }

  void Add(ReadNamespace read, Source& source) {
    const auto [first, is_new] = seen_.try_emplace(read.ns.name, First{&source, read.mark});
    if (is_new) {
      namespaces_.push_back(std::move(read.ns));
      return;
    }
    const auto note = [&](Source& here, Mark at, const std::string& other) {
      here.Error(at, "namespace `" + read.ns.name + "` is also in " + other +
                         "; a namespace is written in one place");
    };
    note(source, read.mark, first->second.source->Place(first->second.mark));
    note(*first->second.source, first->second.mark, source.Place(read.mark));
  }

  const ParseOptions options_;
  std::deque<Source> sources_;
  std::vector<Namespace> namespaces_;
  std::unordered_map<std::string, First> seen_;
};

}  // namespace

ParseResult ParseRulesText(std::string_view yaml, std::string file_name,
                           const ParseOptions& options) {
  Files files(options);
  files.AddText(Files::Grammar::kRules, std::move(file_name), std::string(yaml));
  return files.Finish();
}

ParseResult ParseRulesTexts(std::vector<RulesText> texts, const ParseOptions& options) {
  Files files(options);
  for (RulesText& one : texts) {
    files.AddText(Files::Grammar::kRules, std::move(one.file_name), std::move(one.text));
  }
  return files.Finish();
}

NamespacesRead ReadNamespaces(std::string text, std::string file_name,
                              const ParseOptions& options) {
  Files files(options);
  files.AddText(Files::Grammar::kRules, std::move(file_name), std::move(text));
  return files.Take();
}

ParseResult ParseRatelimitText(std::string_view yaml, std::string file_name,
                               const ParseOptions& options) {
  Files files(options);
  files.AddText(Files::Grammar::kRatelimit, std::move(file_name), std::string(yaml));
  return files.Finish();
}

ParseResult LoadRulesPath(const std::string& path, const ParseOptions& options) {
  return LoadAllRules(path, "", options);
}

ParseResult LoadRatelimitConfig(const std::string& dir, const ParseOptions& options) {
  return LoadAllRules("", dir, options);
}

ParseResult LoadAllRules(const std::string& rules_path, const std::string& ratelimit_dir,
                         const ParseOptions& options) {
  Files files(options);
  if (!rules_path.empty()) files.AddPath(Files::Grammar::kRules, rules_path);
  if (!ratelimit_dir.empty()) files.AddPath(Files::Grammar::kRatelimit, ratelimit_dir);
  return files.Finish();
}

}  // namespace weir
