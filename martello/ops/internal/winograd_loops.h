#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of conv2d_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// Winograd's F(4x4, 3x3): a 4x4 tile of y takes 6x6 = 36 products per pair of channels instead of 144.
inline constexpr int64_t kWinogradTile = 4, kWinogradPoints = 36;

// A batch of images [.., height, width, channels], cut into tiles of rows, row by row, image after image. Tile (i, j)
// begins at pixel (4 i - top, 4 j - left); what lies outside is zero.
struct WinogradImages {
  int64_t height, width, channels;
  int64_t top, left;
  int64_t tile_rows, tile_columns;  // of an image
  const float* zeros;               // `channels` of them
};

// Tiles [first, last). Number e of the 36 of tile t stands at planes[e * plane + (t - first) * channels].
struct WinogradTiles {
  int64_t first, last;
  float* planes;
  int64_t plane;
};

// A matrix [rows, columns] for each of 9 taps, or of 36 points. Those of points are cut into panels of `panel` columns.
struct WinogradKernel {
  int64_t rows, columns, panel;
  int64_t plane;  // from point to point
};

struct WinogradLoops {
  void (*split)(const WinogradImages&, const float* x, const WinogradTiles&);   // 6x6 pixels => 36 numbers
  void (*spread)(const WinogradImages&, const float* y, const WinogradTiles&);  // 4x4 pixels => 36 numbers
  // 36 numbers => 4x4 pixels, with bias, addend, which lies as y does, and ReLU; `bias` and `addend` may be null
  void (*join)(const WinogradImages&, const WinogradTiles&, const float* bias, const float* addend, bool relu,
               float* y);
  // The same, and then the largest of each 2x2 pixels: y has half the height and width, without what is left over.
  void (*join_pooled)(const WinogradImages&, const WinogradTiles&, const float* bias, bool relu, float* y);
  // Row `row` of the taps => of the points; `rotated`: the taps are turned by half a turn.
  void (*split_kernel)(const WinogradKernel&, int64_t row, bool rotated, const float* taps, float* points);
  // The gradient of split_kernel, with one panel.
  void (*join_kernel)(const WinogradKernel&, int64_t row, const float* points, float* taps);
};

MARTELLO_PER_ISA(extern const WinogradLoops winograd_loops;)

}  // namespace martello::cpu
