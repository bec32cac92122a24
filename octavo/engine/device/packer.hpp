#pragma once
#include "octavo/engine/device/driver.hpp"

/// The kernel that packs arrays in CUDA's memory. These functions work in the current context, and each is called by
/// one thread at a time for a lane.
namespace octavo::engine::device {

/// Loads the kernel, and takes memory of the device for two buffers of so many bytes. Throws nothing: a packer without
/// a function says why the device does not pack.
Packer open_packer(std::size_t bytes);
/// `ended`: no work of the lane's streams is left. Else the memory stays, because a kernel may still use it.
void close_packer(Packer& packer, bool ended) noexcept;
/// Begins to pack the lines in the device's memory, and to copy them to the buffer.
void pack_on_device(Lane& lane, std::size_t buffer, std::span<const PlacedLines> lines);

}  // namespace octavo::engine::device
