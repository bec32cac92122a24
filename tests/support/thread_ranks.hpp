#pragma once
#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "octavo/base/ranks.hpp"

namespace octavo::testing {

/// Runs work(ranks) on `size` threads that exchange as the ranks of a job do. `work` must not throw.
inline void run_ranks(int size, const std::function<void(const base::Ranks&)>& work) {
  std::vector<std::string> board(static_cast<std::size_t>(size));
  std::vector<std::vector<std::string>> sent(static_cast<std::size_t>(size));
  std::barrier<> barrier(size);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      base::Ranks ranks{rank, size,
                        [&, rank](const std::string& mine) {
                          board[static_cast<std::size_t>(rank)] = mine;
                          barrier.arrive_and_wait();
                          std::vector<std::string> all = board;
                          barrier.arrive_and_wait();
                          return all;
                        },
                        [&, rank](std::vector<std::string> to) {
                          sent[static_cast<std::size_t>(rank)] = std::move(to);
                          barrier.arrive_and_wait();
                          std::vector<std::string> mine;
                          for (const auto& from : sent) mine.push_back(from[static_cast<std::size_t>(rank)]);
                          barrier.arrive_and_wait();
                          return mine;
                        }};
      work(ranks);
    });
}

}  // namespace octavo::testing
