#pragma once
#include <dnnl.hpp>

// What differs between oneDNN 2.6 and 3.x, and nothing else: 3.x makes a primitive descriptor from the arguments that
// 2.6 puts into an operation descriptor first, and its memory descriptors have a getter for each field.
namespace martello::onednn {

// What `use` makes of a primitive descriptor. It may ask for the next implementation, for which 2.6 looks again at the
// operation descriptor and, of a gradient, at the forward pass: both must live until then.
template <class P, class Use, class... Arguments>
auto with_desc(const Use& use, const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
               const Arguments&... arguments) {
  using Desc = typename P::primitive_desc;
#if DNNL_VERSION_MAJOR >= 3
  return use(Desc(engine, arguments..., attributes));
#else
  const typename P::desc operation(arguments...);
  return use(Desc(operation, attributes, engine));
#endif
}

// Of a gradient: `forward` is the pass that it belongs to.
template <class P, class Use, class Forward, class... Arguments>
auto with_gradient_desc(const Use& use, const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                        const Forward& forward, const Arguments&... arguments) {
  using Desc = typename P::primitive_desc;
#if DNNL_VERSION_MAJOR >= 3
  return use(Desc(engine, arguments..., forward, attributes));
#else
  const typename P::desc operation(arguments...);
  return use(Desc(operation, attributes, engine, forward));
#endif
}

// The library's first implementation.
template <class P, class... Arguments>
typename P::primitive_desc make_desc(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                     const Arguments&... arguments) {
  return with_desc<P>([](typename P::primitive_desc pd) { return pd; }, engine, attributes, arguments...);
}
template <class P, class Forward, class... Arguments>
typename P::primitive_desc make_gradient_desc(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                              const Forward& forward, const Arguments&... arguments) {
  return with_gradient_desc<P>([](typename P::primitive_desc pd) { return pd; }, engine, attributes, forward,
                               arguments...);
}

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_dims();
#else
  return desc.dims();
#endif
}

}  // namespace martello::onednn
