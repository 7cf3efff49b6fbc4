#pragma once
#include <string>
#include <vector>

namespace martello {

// Order of an image batch's dimensions. NHWC is the native one.
enum class DataFormat { nhwc, nchw };
inline std::vector<std::string> enum_names(DataFormat) { return {"nhwc", "nchw"}; }
inline std::string to_string(DataFormat format) { return enum_names(format)[static_cast<size_t>(format)]; }
// Which dimension counts channels, for a batch of this rank.
inline int channel_axis(DataFormat format, int rank) { return format == DataFormat::nhwc ? rank - 1 : 1; }

}  // namespace martello
