#include <martello/runtime/internal/variable_store.h>

#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/variable.h>

#include <cstring>

namespace martello {

namespace {
Buffer buffer_for(const VariableStore::Entry& e) try { return Buffer(e.bytes, e.device); } catch (const Error& error) {
  throw InvalidArgument(str("[variable '", e.name, "'] ", e.dtype, e.shape, " needs ", e.bytes,
                            " bytes: ", error.what(), " Make it smaller."));
}
}  // namespace

int VariableStore::add(const OpNode& variable) {
  if (const int index = find(variable.name); index >= 0) return index;
  const auto& attrs = variable.attrs.get<VariableAttrs>();
  Entry e;
  e.name = variable.name;
  e.shape = attrs.shape;
  e.dtype = attrs.dtype;
  e.device = variable.device.empty() ? Device() : Device::parse(variable.device);
  e.bytes = checked_mul(attrs.shape.num_elements(), size_of(attrs.dtype));
  e.buffer = with_line(variable.line, [&] { return buffer_for(e); });
  if (e.bytes > 0) std::memset(e.buffer.data(), 0, static_cast<size_t>(e.bytes));
  const int index = static_cast<int>(entries_.size());
  by_name_.emplace(e.name, index);
  entries_.push_back(std::move(e));
  ++generation_;
  return index;
}

int VariableStore::find(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? -1 : it->second;
}

void VariableStore::form_group(const std::vector<int>& members) {
  int64_t total = 0;
  for (int m : members) {
    if (entry(m).group >= 0) return;
    total = checked_add(total, align_up(entry(m).bytes, Buffer::kAlignment));
  }
  const Buffer arena(total, members.empty() ? Device() : entry(members[0]).device);
  int64_t offset = 0;
  for (int m : members) {
    Entry& e = entries_[static_cast<size_t>(m)];
    if (e.bytes > 0) std::memcpy(arena.data() + offset, e.buffer.data() + e.offset, static_cast<size_t>(e.bytes));
    e.buffer = arena;
    e.offset = offset;
    e.group = groups_;
    offset += align_up(e.bytes, Buffer::kAlignment);
  }
  ++groups_;
  ++generation_;
}

HostTensor VariableStore::read(int index) const {
  const Entry& e = entry(index);
  HostTensor value(e.shape, e.dtype);
  if (e.bytes > 0) std::memcpy(value.mutable_raw(), address(index), static_cast<size_t>(e.bytes));
  return value;
}

void VariableStore::write(int index, const HostTensor& value) {
  Entry& e = entries_[static_cast<size_t>(index)];
  MARTELLO_CHECK(value.shape() == e.shape && value.dtype() == e.dtype, "[variable '", e.name, "'] is ", e.dtype,
                 e.shape, " but the new value is ", value.dtype(), value.shape(), ".");
  if (e.bytes > 0) std::memcpy(address(index), value.raw(), static_cast<size_t>(e.bytes));
  e.is_initialized = true;
  ++e.version;
}

}  // namespace martello
