#include "rules/read/subjects.h"

#include <unordered_set>

#include "rules/text/scalars.h"

namespace weir {

std::vector<std::string> ReadSubjects(const Node& list, Source& source) {
  std::vector<std::string> subjects;
  std::unordered_set<std::string_view> seen;
  for (const Child& child : list.children) {
    auto subject = ReadName(*child.node, "a subject", source, kMostSubjectBytes);
    if (!subject) continue;
    if (seen.insert(child.node->text).second) {
      subjects.push_back(std::move(*subject));
    } else {
      source.Error(child.node->mark, "subject " + Ticked(*subject) + " is twice in this list");
    }
  }
  return subjects;
}

}  // namespace weir
