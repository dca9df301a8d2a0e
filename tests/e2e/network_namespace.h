// A network of the test's own, in which nobody else is disturbed when it is cut.
#pragma once

#include <functional>
#include <string>

namespace weir::e2e {

// Runs `body` in a child process that has a loopback device and nothing else. What it prints is
// shown; true if nothing in it has failed.
bool InOwnNetwork(const std::function<void()>& body);

// Why this machine does not allow it; empty if it does.
std::string WhyNoOwnNetwork();

// In one's own network: whether packets come through. Connections stay as they are.
void SetLoopback(bool up);

}  // namespace weir::e2e
