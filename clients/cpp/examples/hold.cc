// Holds copies of a resource while a line is awaited: run it twice and see the second one wait.
//
//   ./hold 127.0.0.1:6380 demo build ann
#include <iostream>
#include <string>

#include "weir/client/client.h"

using namespace std::chrono_literals;

int main(int count, char** words) {
  if (count != 5) {
    std::cerr << "usage: " << words[0] << " ADDRESS NAMESPACE RESOURCE SUBJECT\n";
    return 2;
  }
  weir::client::Client client({.addresses = {words[1]}, .on_lost = [](const auto& hold) {
                                 std::cerr << "lost " << hold.copies << "\n";
                               }});
  try {
    const auto hold =
        client.Reserve(words[2], words[3], words[4], {.max_wait = 1h, .in_line = true});
    if (!hold.allowed()) {
      std::cout << OutcomeName(hold.reservation().outcome) << "\n";
      return 75;
    }
    std::cout << "holding " << hold.copies() << " by " << SourceName(hold.source())
              << ", more would be: " << hold.remaining()
              << "\nenter a line to let go: " << std::flush;
    std::string line;
    std::getline(std::cin, line);
  } catch (const weir::client::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
