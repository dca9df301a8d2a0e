// Indented lines.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace weir {

class Lines {
 public:
  void Add(std::string_view line) {
    text_.append(indent_, ' ');
    text_ += line;
    text_ += '\n';
  }
  // What `add` adds is two columns further in.
  template <typename AddThem>
  void Below(AddThem add) {
    indent_ += 2;
    add();
    indent_ -= 2;
  }
  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
  size_t indent_ = 0;
};

}  // namespace weir
