// A list seen through a function: each element is what the function makes of it. What std::views has for
// this, clang 14 does not understand.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

namespace weir {

template <typename T, typename Get>
class Mapped {
 public:
  explicit Mapped(std::span<const T> list) : list_(list) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using reference = decltype(Get()(std::declval<const T&>()));
    using value_type = std::remove_cvref_t<reference>;
    using pointer = void;

    explicit Iterator(const T* at) : at_(at) {}
    reference operator*() const { return Get()(*at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const T* at_;
  };

  Iterator begin() const { return Iterator(list_.data()); }
  Iterator end() const { return Iterator(list_.data() + list_.size()); }
  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  decltype(auto) operator[](size_t i) const { return Get()(list_[i]); }
  decltype(auto) front() const { return Get()(list_.front()); }

 private:
  std::span<const T> list_;
};

}  // namespace weir
