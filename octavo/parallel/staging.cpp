#include "octavo/parallel/staging.hpp"

#include <algorithm>
#include <chrono>

namespace octavo::parallel {

double Staging::reserve(std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  const auto enough = [&] { return reserved_ + slack_ + bytes <= limit_; };
  double waited = 0;
  if (!enough()) {
    const auto begin = std::chrono::steady_clock::now();
    freed_.wait(lock, enough);
    waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  reserved_ += bytes;
  return waited;
}

// Buffers kept for use again give way to those in use, the smallest first: large ones are what costs time to get.
void Staging::forget_down_to(std::uint64_t spare) {
  std::sort(free_.begin(), free_.end(), [](const auto& a, const auto& b) { return a.capacity() > b.capacity(); });
  while (spare_ > spare) {
    spare_ -= free_.back().capacity();
    free_.pop_back();
  }
}

std::vector<std::byte> Staging::take(std::size_t size) {
  std::unique_lock lock(mutex_);
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const bool room = it->capacity() >= size && reserved_ + slack_ + (it->capacity() - size) <= limit_;
    if (room && (best == free_.end() || it->capacity() < best->capacity())) best = it;
  }
  if (best != free_.end()) {
    std::vector<std::byte> buffer = std::move(*best);
    free_.erase(best);
    spare_ -= buffer.capacity();
    taken_ += buffer.capacity();
    slack_ += buffer.capacity() - size;
    lock.unlock();
    buffer.resize(size);
    return buffer;
  }
  taken_ += size;
  forget_down_to(limit_ - taken_);
  lock.unlock();
  try {
    return std::vector<std::byte>(size);
  } catch (...) {
    lock.lock();
    taken_ -= size;
    throw;
  }
}

void Staging::give_back(std::vector<std::byte> buffer) {
  {
    const std::lock_guard lock(mutex_);
    slack_ -= buffer.capacity() - buffer.size();
    reserved_ -= buffer.size();
    taken_ -= buffer.capacity();
    spare_ += buffer.capacity();
    if (buffer.capacity() > 0) free_.push_back(std::move(buffer));
  }
  freed_.notify_all();
}

void Staging::release(std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    reserved_ -= bytes;
  }
  freed_.notify_all();
}

std::uint64_t Staging::held() const {
  const std::lock_guard lock(mutex_);
  return taken_ + spare_;
}

}  // namespace octavo::parallel
