#pragma once
/// The work of each verb of the command: a loop over parts, threads and ranks, with a report at its end.
/// It may touch step, analysis and all rooms below them.
/// It never parses a command line, prints, or knows the layout of a format.

#include "octavo/verbs/bins.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/cuts/discharge.hpp"
#include "octavo/verbs/cuts/line.hpp"
#include "octavo/verbs/cuts/slice.hpp"
#include "octavo/verbs/cuts/transect.hpp"
#include "octavo/verbs/diff/diff.hpp"
#include "octavo/verbs/export/export.hpp"
#include "octavo/verbs/map.hpp"
#include "octavo/verbs/particles.hpp"
#include "octavo/verbs/place.hpp"
#include "octavo/verbs/probe.hpp"
#include "octavo/verbs/repack.hpp"
#include "octavo/verbs/stats.hpp"
#include "octavo/verbs/structures/clumps.hpp"
#include "octavo/verbs/structures/contour.hpp"
#include "octavo/verbs/verify.hpp"
