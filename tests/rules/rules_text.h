// Rules for tests, and what is wrong with them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rules/read/parse.h"

namespace weir {

// Rules that must be right.
inline std::shared_ptr<const Rulebook> Good(const std::string& yaml,
                                            const ParseOptions& options = {}) {
  const ParseResult result = ParseRulesText(yaml, "rules.yaml", options);
  EXPECT_TRUE(result.ok()) << ToString(result.errors) << yaml;
  return result.rules;
}

// Rules with one mistake, whose place is marked with @ (which is not part of them): the message.
inline std::string MistakeAt(std::string marked,
                             ParseResult (*parse)(std::string_view, std::string,
                                                  const ParseOptions&),
                             const ParseOptions& options = {}) {
  const size_t at = marked.find('@');
  EXPECT_NE(at, std::string::npos) << "no place is marked: " << marked;
  const std::string before = marked.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t column = at - (before.rfind('\n') + 1) + 1;
  marked.erase(at, 1);
  const ParseResult result = parse(marked, "rules.yaml", options);
  EXPECT_EQ(result.rules, nullptr) << marked;
  EXPECT_EQ(result.errors.size(), 1u) << ToString(result.errors) << marked;
  if (result.errors.size() != 1) return "";
  const Diagnostic& error = result.errors[0];
  EXPECT_EQ(error.file, "rules.yaml");
  EXPECT_EQ(std::to_string(error.line) + ":" + std::to_string(error.column),
            std::to_string(line) + ":" + std::to_string(column))
      << error.message << "\n"
      << marked;
  return error.message;
}

inline std::string Mistake(const std::string& marked, const ParseOptions& options = {}) {
  return MistakeAt(marked, ParseRulesText, options);
}

// The rules of one namespace, `shop`, given what stands below it, indented by four.
inline std::string Shop(const std::string& below) { return "namespaces:\n  shop:\n" + below; }

// One resource, `search`, given its fields in flow style: "limits: […]".
inline std::string Search(const std::string& fields) {
  return Shop("    resources:\n      search: {" + fields + "}\n");
}

// One limit of it, given its fields.
inline std::string OneLimit(const std::string& fields) {
  return Search("limits: [{" + fields + "}]");
}

inline bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace weir
