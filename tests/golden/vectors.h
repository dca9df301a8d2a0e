// The golden vectors (README.md), replayed against whatever answers them.
#pragma once

#include <functional>
#include <string>

#include "algorithms/limit.h"
#include "lab/oracle/model.h"

namespace weir::golden {

// Answers what happens to one key of one limit, in order.
using Answerer = std::function<oracle::Answer(const oracle::Event&)>;
using AnswererMaker = std::function<Answerer(const Limit&)>;

std::string PathOf(const std::string& name);

// Replays every vector of the file, each against an answerer of its own, and tells how many there are.
size_t ReplayAll(const std::string& name, const AnswererMaker& make);

}  // namespace weir::golden
