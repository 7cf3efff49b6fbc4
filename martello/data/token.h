#pragma once
#include <martello/data/dataflow.h>

#include <memory>
#include <optional>
#include <string>

namespace martello {

// Where a data pass stands after a datapoint. Travels with it through queues, so that what was read ahead never counts:
// a checkpoint stores the token of the last datapoint that was consumed. Small: tokens share a saved position, from
// which they count datapoints.
class Token {
 public:
  void state(State& s);

 private:
  friend class TokenIterator;
  std::shared_ptr<const std::string> position_;  // null: the beginning
  int64_t after_ = 0;
};

struct Item {
  Datapoint datapoint;
  Token token;
};

// Iterates a flow and gives each datapoint with its token.
class TokenIterator {
 public:
  TokenIterator(DataFlowRef flow, Pass pass);
  std::optional<Item> next();
  void skip(int64_t n);
  const Token& token() const { return token_; }  // of the last datapoint given
  void restore(const Token& token);

 private:
  void save_position();

  DataFlowRef flow_;
  Pass pass_;
  std::unique_ptr<DataIterator> iterator_;
  Token token_;
  int64_t interval_;  // datapoints from one saved position to the next
};

}  // namespace martello
