/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

struct err;

/*
 * Writes a file whole or not at all: the text goes into a file beside it, named `path` and ".next", which then takes its
 * place, so that readers see the one or the other. Only its owner may read it. Returns 0 or what the system says; `err`, which
 * may be NULL, names the file.
 */
MUST_CHECK int file_replace(const char *path, const char *text, size_t len, struct err *err);

/* The same, but what a loss of power leaves of it is left to the caller. */
MUST_CHECK int file_put(const char *path, const char *text, size_t len, struct err *err);
