#include <martello/models/zoo/gpt.h>

#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/dropout.h>
#include <martello/models/fully_connected.h>
#include <martello/models/norms.h>
#include <martello/ops/activation.h>
#include <martello/ops/attention.h>
#include <martello/ops/embedding.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reshape.h>
#include <martello/ops/slice.h>
#include <martello/ops/split.h>
#include <martello/ops/transpose.h>

#include <cmath>

namespace martello::zoo {
namespace {

// Activations lie as [rows * steps, width]: every layer but attention sees tokens only.
struct Network {
  const GptOptions& o;
  int64_t steps;

  Tensor drop(const char* name, Tensor x) const { return o.dropout > 0 ? dropout(name, x, {.rate = o.dropout}) : x; }

  // [rows * steps, width] as [rows, heads, steps, width / heads].
  Tensor by_head(Tensor x) const {
    return transpose(reshape(x, Shape(-1, steps, o.heads, o.width / o.heads)), {0, 2, 1, 3});
  }

  Tensor attention(Tensor x) const {
    const TensorList qkv = split(fully_connected("attn", x, {.units = 3 * o.width}), 3, 1);
    const Tensor y = scaled_dot_product_attention(by_head(qkv[0]), by_head(qkv[1]), by_head(qkv[2]), {.causal = true});
    return reshape(transpose(y, {0, 2, 1, 3}), Shape(-1, o.width));
  }

  // Layers that add to the residual stream start smaller, so that its variance does not grow with depth.
  Initializer residual_init() const { return random_normal_init(0.02 / std::sqrt(2.0 * o.layers)); }

  Tensor block(const std::string& name, Tensor x) const {
    const VariableScope variables(name);
    const NameScope names(name);
    const Tensor y = attention(layer_norm("ln_1", x));
    x = x + drop("drop_1", fully_connected("proj", y, {.units = o.width, .kernel_init = residual_init()}));
    const Tensor z = fully_connected("fc", layer_norm("ln_2", x), {.units = 4 * o.width, .activation = gelu_tanh});
    return x + drop("drop_2", fully_connected("fc_proj", z, {.units = o.width, .kernel_init = residual_init()}));
  }
};

void check_options(const Tensor& tokens, const GptOptions& o) {
  MARTELLO_CHECK(!tokens.is_null() && tokens.rank() == 2 && tokens.dim(1) != kUnknown,
                 "[gpt] takes tokens [rows, steps] with known steps.");
  MARTELLO_CHECK(tokens.dim(1) <= o.context, "[gpt] tokens ", tokens.shape(), " are ", tokens.dim(1),
                 " steps, more than the context of ", o.context, ".");
  MARTELLO_CHECK(o.heads > 0 && o.width % o.heads == 0, "[gpt] ", o.heads, " heads do not divide the width of ",
                 o.width, ".");
}

}  // namespace

Tensor gpt(Tensor tokens, const GptOptions& o, SourceLine line) {
  return with_line(line, [&] {
    check_options(tokens, o);
    const Network net{o, tokens.dim(1)};
    const ArgScope scope(FullyConnected{.kernel_init = random_normal_init(0.02)});
    const auto wte = get_variable("wte", {.shape = {o.vocabulary, o.width}, .initializer = random_normal_init(0.02)});
    const auto wpe = get_variable("wpe", {.shape = {o.context, o.width}, .initializer = random_normal_init(0.01)});
    const Tensor positions = slice(wpe, {0, 0}, {net.steps, o.width});
    Tensor x = reshape(embedding_lookup(wte, tokens) + positions, Shape(-1, o.width));
    x = net.drop("drop", x);
    for (int i = 0; i < o.layers; ++i) x = net.block(str("h", i), x);
    const Tensor logits = matmul(layer_norm("ln_f", x), wte, {.transpose_b = true});
    return reshape(logits, Shape(-1, net.steps, o.vocabulary), "logits");
  });
}

}  // namespace martello::zoo
