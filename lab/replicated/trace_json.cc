#include "lab/replicated/trace_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/replicated/trace.h"

namespace weir::lab {
namespace {

using Json = nlohmann::json;

// Characters that count the lines which were read.
struct Counting {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  size_t* line;
  const char& operator*() const { return *at; }
  Counting& operator++() {
    *line += *at++ == '\n';
    return *this;
  }
  bool operator==(const Counting& other) const { return at == other.at; }
};

class Handler : public nlohmann::json_sax<Json> {
 public:
  Handler(const size_t& line, const std::function<void(const JsonRequest&)>& take)
      : line_(line), take_(take) {}

  bool start_array(size_t) override {
    return depth_++ == 0 || Fail("an array in an array or object", line_);
  }
  bool end_array() override { return true; }
  bool start_object(size_t) override {
    if (depth_++ != 1) return Fail("expected an array of objects", line_);
    request_ = {};
    request_.line = line_;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (request_.user_id.empty()) Fail("an object without \"user_id\"", request_.line);
    if (request_.time.empty()) Fail("an object without \"time\"", request_.line);
    take_(request_);
    return true;
  }
  bool key(std::string& name) override {
    field_ = name == "user_id" ? &request_.user_id
             : name == "time"  ? &request_.time
             : name == "cost"  ? &request_.cost
                               : nullptr;
    return true;
  }
  bool string(std::string& text) override { return Value(text); }
  bool number_unsigned(uint64_t number) override { return Value(std::to_string(number)); }
  bool number_integer(int64_t number) override { return Value(std::to_string(number)); }
  bool number_float(double, const std::string& text) override { return Value(text); }
  bool null() override { return Value("null"); }
  bool boolean(bool value) override { return Value(value ? "true" : "false"); }
  bool binary(Json::binary_t&) override { return false; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: what": the last part.
    const std::string text = error.what();
    const size_t what = text.rfind(": syntax error");
    return Fail(what == std::string::npos ? text : "not JSON" + text.substr(what), line_);
  }

 private:
  bool Value(const std::string& text) {
    if (depth_ != 2) return Fail("expected an array of objects", line_);
    if (field_ != nullptr) *field_ = text;
    return true;
  }
  [[noreturn]] static bool Fail(const std::string& what, size_t line) {
    throw TraceError(fmt::format("line {}: {}", std::max<size_t>(line, 1), what));
  }

  const size_t& line_;
  const std::function<void(const JsonRequest&)>& take_;
  int depth_ = 0;
  JsonRequest request_;
  std::string* field_ = nullptr;
};

}  // namespace

void ReadJsonTrace(std::string_view text, const std::function<void(const JsonRequest&)>& take) {
  size_t line = 1;
  Handler handler(line, take);
  Json::sax_parse(Counting{text.data(), &line}, Counting{text.data() + text.size(), &line},
                  &handler);
}

}  // namespace weir::lab
