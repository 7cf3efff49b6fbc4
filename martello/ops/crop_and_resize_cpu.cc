#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/ops/crop_and_resize.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/labels.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace martello {
namespace {

// Images as planes of [height, width, inner]: one with all channels, or one for each.
struct Planes {
  int64_t planes = 1, height = 1, width = 1, inner = 1;

  Planes(const Shape& shape, DataFormat format)
      : planes(format == DataFormat::nhwc ? 1 : shape[1]),
        height(shape[format == DataFormat::nhwc ? 1 : 2]),
        width(shape[format == DataFormat::nhwc ? 2 : 3]),
        inner(format == DataFormat::nhwc ? shape[3] : 1) {}
  int64_t plane_elements() const { return height * width * inner; }
  int64_t image_elements() const { return planes * plane_elements(); }
};

// Two neighbours on one axis and the part of the second; outside the image `low` is -1.
template <class T>
struct Sample {
  int64_t low = -1, high = -1;
  T part = 0;
};

// Place o of `count` between `from` and `to`, in parts of size - 1.
template <class T>
Sample<T> sample_axis(T from, T to, int64_t o, int64_t count, int64_t size) {
  const T last = static_cast<T>(size - 1);
  const T at = count > 1 ? from * last + static_cast<T>(o) * ((to - from) * last / static_cast<T>(count - 1))
                         : (from + to) * last / 2;
  if (!(at >= 0 && at <= last)) return {};
  const int64_t low = std::min(static_cast<int64_t>(at), size - 1);  // T may round size - 1 up
  return {low, std::min(low + 1, size - 1), at - static_cast<T>(low)};
}

// The four places in a plane that one place of a crop shows, with their weights.
template <class T>
struct Corners {
  int64_t at[4];
  T weight[4];

  Corners(const Sample<T>& y, const Sample<T>& x, const Planes& image)
      : at{(y.low * image.width + x.low) * image.inner, (y.low * image.width + x.high) * image.inner,
           (y.high * image.width + x.low) * image.inner, (y.high * image.width + x.high) * image.inner},
        weight{(1 - y.part) * (1 - x.part), (1 - y.part) * x.part, y.part * (1 - x.part), y.part * x.part} {}
};

template <class T>
struct Crops {
  Planes image, crop;
  const T *boxes, *x;
  T* y;

  // Row `row` of plane `plane` of crop i.
  void read_row(int64_t i, int64_t from_image, int64_t plane, int64_t row) const {
    const T *box = boxes + 4 * i, *from = x + from_image * image.image_elements() + plane * image.plane_elements();
    T* to = y + i * crop.image_elements() + plane * crop.plane_elements() + row * crop.width * crop.inner;
    const Sample<T> v = sample_axis(box[0], box[2], row, crop.height, image.height);
    for (int64_t o = 0; o < crop.width; ++o, to += crop.inner) {
      const Sample<T> u = sample_axis(box[1], box[3], o, crop.width, image.width);
      if (v.low < 0 || u.low < 0) {
        std::fill(to, to + crop.inner, T{0});
        continue;
      }
      const Corners<T> k(v, u, image);
      for (int64_t c = 0; c < crop.inner; ++c)
        to[c] = from[k.at[0] + c] * k.weight[0] + from[k.at[1] + c] * k.weight[1] + from[k.at[2] + c] * k.weight[2] +
                from[k.at[3] + c] * k.weight[3];
    }
  }

  // Adds channels [begin, end) of plane `plane` of crop i; here x are crops and y images.
  void add_crop(int64_t i, int64_t to_image, int64_t plane, int64_t begin, int64_t end) const {
    const T *box = boxes + 4 * i, *from = x + i * crop.image_elements() + plane * crop.plane_elements();
    T* to = y + to_image * image.image_elements() + plane * image.plane_elements();
    for (int64_t row = 0; row < crop.height; ++row) {
      const Sample<T> v = sample_axis(box[0], box[2], row, crop.height, image.height);
      for (int64_t o = 0; o < crop.width; ++o) {
        const Sample<T> u = sample_axis(box[1], box[3], o, crop.width, image.width);
        if (v.low < 0 || u.low < 0) continue;
        const Corners<T> k(v, u, image);
        const T* dy = from + (row * crop.width + o) * crop.inner;
        for (int corner = 0; corner < 4; ++corner)
          for (int64_t c = begin; c < end; ++c) to[k.at[corner] + c] += dy[c] * k.weight[corner];
      }
    }
  }
};

struct CropPlan {
  Planes image, crop;
  std::string where;
  DType index_dtype;

  CropPlan(const KernelPlan& plan, const Shape& images, const Shape& crops)
      : image(images, plan.attrs<CropAndResizeAttrs>().data_format),
        crop(crops, plan.attrs<CropAndResizeAttrs>().data_format),
        where(plan.op.where()),
        index_dtype(plan.in[2].dtype) {}

  internal::Labels images_of_boxes(const KernelRun& run, int64_t images) const {
    return internal::Labels(where, run.in_[2], index_dtype, images, "box_image", "images");
  }
  template <class T>
  Crops<T> crops(const KernelRun& run) const {
    return {image, crop, static_cast<const T*>(run.in_[1].data), static_cast<const T*>(run.in_[0].data),
            static_cast<T*>(run.out_[0].data)};
  }
};

template <class T>
Kernel crop_kernel(const KernelPlan& plan) {
  const bool is_empty = plan.out[0].shape.num_elements() == 0;
  return Kernel([is_empty, p = CropPlan(plan, plan.in[0].shape, plan.out[0].shape)](const KernelRun& run) {
    const internal::Labels image_of = p.images_of_boxes(run, run.in_rows(0));
    const Crops<T> crops = p.crops<T>(run);
    run.set_out_rows(0, run.in_rows(1));
    if (run.in_rows(1) == 0 || is_empty) return;
    const int64_t image_rows = p.crop.planes * p.crop.height, rows = run.in_rows(1) * image_rows;
    const int64_t chunk = internal::rows_per_chunk(p.crop.width * p.crop.inner);
    parallel_for(run.threads, ceil_div(rows, chunk), [&](int64_t c) {
      for (int64_t r = c * chunk; r < std::min(rows, (c + 1) * chunk); ++r)
        crops.read_row(r / image_rows, image_of[r / image_rows], r % image_rows / p.crop.height, r % p.crop.height);
    });
  });
}

// A task adds one part of the channels of one image, so that no two write to one place and boxes add in order.
template <class T>
Kernel crop_grad_kernel(const KernelPlan& plan) {
  constexpr int64_t kChannels = 64;
  const int64_t images = plan.out[0].shape[0], bytes = plan.out[0].shape.num_elements() * size_of(plan.out[0].dtype);
  return Kernel([=, p = CropPlan(plan, plan.out[0].shape, plan.in[0].shape)](const KernelRun& run) {
    const internal::Labels image_of = p.images_of_boxes(run, images);
    const Crops<T> crops = p.crops<T>(run);
    if (bytes == 0) return;
    std::memset(run.out_[0].data, 0, static_cast<size_t>(bytes));
    const int64_t parts = ceil_div(p.image.inner, kChannels), tasks = p.image.planes * parts;
    parallel_for(run.threads, images * tasks, [&](int64_t t) {
      const int64_t image = t / tasks, plane = t % tasks / parts, begin = t % parts * kChannels;
      for (int64_t i = 0; i < run.in_rows(1); ++i)
        if (image_of[i] == image) crops.add_crop(i, image, plane, begin, std::min(p.image.inner, begin + kChannels));
    });
  });
}

}  // namespace

Kernel crop_and_resize_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? crop_kernel<float>(plan) : crop_kernel<double>(plan);
}
Kernel crop_and_resize_grad_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? crop_grad_kernel<float>(plan) : crop_grad_kernel<double>(plan);
}

}  // namespace martello
