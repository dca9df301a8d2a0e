#include "rules/text/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <optional>
#include <streambuf>
#include <string>

#include "rules/text/json_text.h"
#include "rules/text/tree_builder.h"
#include "rules/text/utf8.h"

namespace weir {
namespace {

Mark ToMark(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<uint32_t>(mark.line) + 1, static_cast<uint32_t>(mark.column) + 1};
}

// Passes yaml-cpp's events on.
class Events : public YAML::EventHandler {
 public:
  Events(std::string_view text, TreeBuilder& builder) : text_(text), builder_(builder) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) throw SyntaxError{ToMark(mark), "a second document: one file holds one"};
    started_ = true;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.Null(IsWritten(mark) ? ToMark(mark) : Before(mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.Alias(ToMark(mark), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool is_text = tag == "!" || tag == kYamlTag + "str";
    if (!is_text) CheckTag(mark, tag);
    builder_.Scalar(ToMark(mark), value, is_text, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    CheckTag(mark, tag);
    builder_.Open(Node::Kind::kList, ToMark(mark), anchor);
  }
  void OnSequenceEnd() override { builder_.Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    CheckTag(mark, tag);
    builder_.Open(Node::Kind::kMap, ToMark(mark), anchor);
  }
  void OnMapEnd() override { builder_.Close(); }

 private:
  // Of a value that is left out, yaml-cpp tells where the next thing begins.
  bool IsWritten(const YAML::Mark& mark) const {
    const auto at = static_cast<size_t>(mark.pos);
    return at < text_.size() && std::string_view("~nN").find(text_[at]) != std::string_view::npos;
  }
  // The last character before the mark that is not blank.
  Mark Before(const YAML::Mark& mark) const {
    const size_t end = std::min(static_cast<size_t>(mark.pos), text_.size());
    const size_t last = text_.substr(0, end).find_last_not_of(" \t\r\n");
    if (last == std::string_view::npos) return ToMark(mark);
    const std::string_view blank = text_.substr(last, end - last);
    const auto lines = static_cast<uint32_t>(std::count(blank.begin(), blank.end(), '\n'));
    const Mark after = ToMark(mark);
    // A line may be long, and may hold many such values: it is not searched for each of them.
    if (lines == 0) return {after.line, after.column - static_cast<uint32_t>(blank.size())};
    const size_t line_start = text_.rfind('\n', last) + 1;  // npos + 1 is 0
    return {after.line - lines, static_cast<uint32_t>(last - line_start) + 1};
  }

  static void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!" || tag.starts_with(kYamlTag)) return;
    throw SyntaxError{ToMark(mark), "the tag `" + tag + "` means nothing here: leave it out"};
  }

  static inline const std::string kYamlTag = "tag:yaml.org,2002:";
  const std::string_view text_;
  TreeBuilder& builder_;
  bool started_ = false;
};

// Reads from memory without a copy.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // only read
    setg(begin, begin, begin + text.size());
  }
};

void ReadYaml(std::string_view text, TreeBuilder& builder) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  Events events(text, builder);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) {
    }
  } catch (const YAML::Exception& e) {
    throw SyntaxError{ToMark(e.mark), "not YAML: " + e.msg};
  }
}

Mark MarkOf(std::string_view text, size_t at) {
  Mark mark{1, 1};
  for (const char c : text.substr(0, at)) {
    mark.column += 1;
    if (c == '\n') mark = {mark.line + 1, 1};
  }
  return mark;
}

void CheckText(std::string_view text) {
  if (text.size() > Document::kMostBytes) {
    throw SyntaxError{{},
                      "the file has " + std::to_string(text.size()) +
                          " bytes; at most 16 MiB are read (split it into several)"};
  }
  // yaml-cpp takes a control character for the end of the file, or for UTF-16.
  const size_t bad = FirstBadByte(text);
  if (bad == text.size()) return;
  throw SyntaxError{MarkOf(text, bad), "not text in UTF-8 without control characters"};
}

bool LooksLikeJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

std::unique_ptr<const Document> Document::Read(Source& source) { return Read(source, true); }

std::unique_ptr<const Document> Document::ReadJsonOnly(Source& source) {
  return Read(source, false);
}

std::unique_ptr<const Document> Document::Read(Source& source, bool yaml) {
  auto document = std::make_unique<Document>();
  auto builder = std::make_unique<TreeBuilder>(*document);
  try {
    CheckText(source.text());
    if (!LooksLikeJson(source.text()) || !ReadJson(source.text(), *builder)) {
      if (!yaml) throw SyntaxError{{}, "not JSON"};
      document = std::make_unique<Document>();
      builder = std::make_unique<TreeBuilder>(*document);
      ReadYaml(source.text(), *builder);
      if (document->root_ == nullptr) throw SyntaxError{{}, "the file is empty"};
    }
  } catch (const SyntaxError& e) {
    source.Error(e.mark, e.message);
    document = nullptr;
  }
  for (const SyntaxError& e : builder->doubled()) source.Error(e.mark, e.message);
  return document;
}

}  // namespace weir
