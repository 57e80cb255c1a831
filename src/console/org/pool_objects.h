/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "base/time.h"

struct err;

/* "5d8h40m", "0": as durations of Go, also with days and weeks; up to a hundred years. -EINVAL when it is none. */
MUST_CHECK int runtime_parse(const char *text, nsec_t *ret_duration, struct err *err);
