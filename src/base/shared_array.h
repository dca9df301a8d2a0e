// An array whose successors share what did not change.
//
// It is kept in pieces. A change copies the pieces that it touches and refers to the others, so that an
// array of ten thousand with one element changed costs one piece, and giving up the old one as little.
// Const once it is made: any number of threads may read it, and be the last to give it up.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace weir {

template <typename T>
class SharedArray {
  static constexpr size_t kPiece = 64;
  using Piece = std::array<T, kPiece>;

 public:
  SharedArray() = default;

  size_t size() const { return size_; }
  const T& operator[](size_t i) const { return (*pieces_[i / kPiece])[i % kPiece]; }

  // Makes another array out of one.
  class Edit {
   public:
    explicit Edit(const SharedArray& before)
        : made_(before), own_(before.pieces_.size(), nullptr) {}

    size_t size() const { return made_.size_; }
    const T& operator[](size_t i) const { return made_[i]; }
    // To be changed; of another array nothing changes.
    T& At(size_t i) {
      Piece*& own = own_[i / kPiece];
      if (own == nullptr) Own(i / kPiece, std::make_shared<Piece>(*made_.pieces_[i / kPiece]));
      return (*own)[i % kPiece];
    }
    // What is new is empty.
    void Grow(size_t size) {
      for (size_t piece = own_.size(); piece * kPiece < size; ++piece) {
        own_.push_back(nullptr);
        made_.pieces_.emplace_back();
        Own(piece, std::make_shared<Piece>());
      }
      if (size > made_.size_) made_.size_ = size;
    }
    SharedArray Finish() && { return std::move(made_); }

   private:
    void Own(size_t piece, std::shared_ptr<Piece> copy) {
      own_[piece] = copy.get();
      made_.pieces_[piece] = std::move(copy);
    }

    SharedArray made_;
    std::vector<Piece*> own_;  // null: shared with another
  };

 private:
  std::vector<std::shared_ptr<const Piece>> pieces_;
  size_t size_ = 0;
};

}  // namespace weir
