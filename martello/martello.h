#pragma once
// Everything a program needs.
#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/philox.h>
#include <martello/base/ref.h>
#include <martello/base/source_line.h>
#include <martello/base/strings.h>
#include <martello/base/threads.h>
#include <martello/tensor/buffer.h>
#include <martello/tensor/device.h>
#include <martello/tensor/dtype.h>
#include <martello/tensor/host_tensor.h>
#include <martello/tensor/shape.h>
#include <martello/tensor/tensor_spec.h>
