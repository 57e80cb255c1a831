/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

/*
 * Writes a file whole or not at all: the text goes into a file beside it, named `path` and ".next", which then takes its
 * place. Only its owner may read it. Returns 0 or what the system says.
 */
MUST_CHECK int file_replace(const char *path, const void *data, size_t len);
