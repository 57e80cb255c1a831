/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"

struct err;

/*
 * The one GPU that this process can see, by NVIDIA's library, which is opened by its name when it is needed: the program
 * runs without it. Returns 0 and the UUID; -ENOENT without the library or one of its functions, -ENODEV when there is
 * no GPU, -EEXIST when there are several, -EIO when the driver refuses.
 */
enum { GPU_UUID_MAX = 96 };
MUST_CHECK int nvml_only_gpu(const char *library, char uuid[static GPU_UUID_MAX], struct err *err);
