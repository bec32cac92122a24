#pragma once
#include "octavo/verbs/map.hpp"

namespace octavo::verbs::detail {

/// map() with options.camera.
Map map_from_camera(const step::SharedStep& step, const MapOptions& options);

}  // namespace octavo::verbs::detail
