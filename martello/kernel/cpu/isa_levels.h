#pragma once

// Declares in v2, v3 and v4 what an ISA source defines once per level:
//   MARTELLO_PER_ISA(extern const RandomLoops random_loops;)
// Included by ISA sources too, hence no other header.
#define MARTELLO_PER_ISA(...) \
  namespace v2 {              \
  __VA_ARGS__                 \
  }                           \
  namespace v3 {              \
  __VA_ARGS__                 \
  }                           \
  namespace v4 {              \
  __VA_ARGS__                 \
  }
