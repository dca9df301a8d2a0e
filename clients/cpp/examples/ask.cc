// Asks for one request after the other, and waits for each for up to a second.
//
//   ./ask 127.0.0.1:6380 demo ping ann 12
#include <iostream>
#include <string>

#include "weir/client/client.h"

using namespace std::chrono_literals;

int main(int count, char** words) {
  if (count != 6) {
    std::cerr << "usage: " << words[0] << " ADDRESS NAMESPACE RESOURCE SUBJECT TIMES\n";
    return 2;
  }
  weir::client::Client client(words[1]);
  try {
    for (int i = std::stoi(words[5]); i > 0; --i) {
      const auto decision = client.Request(words[2], words[3], words[4], {.max_wait = 1s});
      std::cout << (decision.allowed ? "allowed" : "refused") << " by "
                << SourceName(decision.source) << ", attempts: " << decision.attempts << "\n";
    }
  } catch (const weir::client::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
