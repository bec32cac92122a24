#pragma once
#include "capi/octavo.h"
#include "octavo/parallel/restart.hpp"

struct octavo_restart {
  octavo::parallel::Restart value;
  octavo::store::Flow flow;
};
