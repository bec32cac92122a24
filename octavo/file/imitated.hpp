#pragma once

namespace octavo::file {

/// For programs that imitate many processes in one, whose file operations they count. sync_name() syncs a name once in
/// a process: from now on, in that of this number. 0: the process itself. Do not change it while other threads use this
/// room.
void imitate_process(int number);

}  // namespace octavo::file
