#pragma once

// Memory of this process in MiB, as Linux counts it.
namespace bench {

double resident_mb();  // now (VmRSS)
double peak_mb();      // the most since the start, or since reset_peak() (VmHWM)
// Gives freed memory back to the system and starts the peak from what is left.
void reset_peak();

}  // namespace bench
