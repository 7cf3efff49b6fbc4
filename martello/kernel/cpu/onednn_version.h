#pragma once
#include <dnnl.hpp>

// What differs between oneDNN 2.6 and 3.x, and nothing else: 3.x makes a primitive descriptor from the arguments that
// 2.6 puts into an operation descriptor first, and its memory descriptors have a getter for each field.
namespace martello::onednn {

template <class P, class... Arguments>
typename P::primitive_desc make_desc(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                     const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, arguments..., attributes};
#else
  return {typename P::desc(arguments...), attributes, engine};
#endif
}

// Of a gradient: `forward` is the pass that it belongs to.
template <class P, class Forward, class... Arguments>
typename P::primitive_desc make_gradient_desc(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                              const Forward& forward, const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, arguments..., forward, attributes};
#else
  return {typename P::desc(arguments...), attributes, engine, forward};
#endif
}

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_dims();
#else
  return desc.dims();
#endif
}

}  // namespace martello::onednn
