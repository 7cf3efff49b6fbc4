#include <martello/models/zoo/lstm_language_model.h>

#include <martello/base/error.h>
#include <martello/models/dropout.h>
#include <martello/models/fully_connected.h>
#include <martello/models/lstm.h>
#include <martello/ops/embedding.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>

namespace martello::zoo {

LanguageModelOutput lstm_language_model(Tensor tokens, const LstmLanguageModelOptions& o,
                                        const std::vector<LstmState>& first, SourceLine line) {
  return with_line(line, [&] {
    MARTELLO_CHECK(!tokens.is_null() && tokens.rank() == 2, "[lstm_language_model] takes tokens [rows, steps].");
    const Initializer init = uniform_init(-o.init_scale, o.init_scale);
    const auto table = get_variable("embedding", {.shape = {o.vocabulary, o.units}, .initializer = init});
    Tensor x = embedding_lookup(table, tokens);
    if (o.dropout > 0) x = dropout("drop", x, {.rate = o.dropout});
    const LstmStack stack = lstm(
        "lstm", x, {.units = o.units, .layers = o.layers, .forget_bias = 0, .dropout = o.dropout, .kernel_init = init},
        first);
    const Tensor rows = reshape(stack.y, Shape(-1, o.units));
    const Tensor logits = fully_connected("softmax", rows, {.units = o.vocabulary, .kernel_init = init});
    const Tensor shaped = tokens.dim(1) == kUnknown
                              ? reshape(logits, {shape(tokens)[0], shape(tokens)[1], o.vocabulary}, "logits")
                              : reshape(logits, Shape(-1, tokens.dim(1), o.vocabulary), "logits");
    return LanguageModelOutput{shaped, stack.states};
  });
}

}  // namespace martello::zoo
