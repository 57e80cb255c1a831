/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

struct err;

/* Where the GPU daemon and its library are, for those who start a daemon, or programs under it. */

/* The library that a tenant is started with; false when it is not where it should be. */
MUST_CHECK bool gpu_library(char *path, size_t size);

/* Whether a daemon has the folder. It has perhaps not come to answering yet. */
bool gpud_has_folder(const char *folder);

/* -EBUSY when a daemon in this folder would be a second one beside that of root: both would reserve the same memory. */
MUST_CHECK int gpud_check_rival(const char *folder, struct err *err);
