#pragma once

namespace octavo::file {

/// For programs that imitate many processes in one, whose file operations they count. sync_name() syncs a name once in
/// a process: on this thread from now on in that of this number. 0: the process itself.
void imitate_process(int number);
/// The number of the process that this thread imitates.
int imitated();

}  // namespace octavo::file
