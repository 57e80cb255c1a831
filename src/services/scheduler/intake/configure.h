/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"

struct err;
struct scheduler;

/* Settings, the engine's configuration and how objects are read, from flags and the file that they name. */
MUST_CHECK int scheduler_configure(struct scheduler *s, struct err *err);
