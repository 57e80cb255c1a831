/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

struct err;

/* Whether something is mounted at this very path. */
bool mounted_is(const char *path);

/* Mounts a folder at another path, read-only and for this machine alone; the place is made. */
MUST_CHECK int mounted_make(const char *from, const char *path, struct err *err);

/* Ends all mounts at the path and removes the empty place. Nothing behind a mount is ever removed. */
void mounted_end(const char *path);
