/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

struct err;

/* Files of the state folder, which only their owner may read. */

/* "FOLDER/NAME"; to be freed by the caller. */
char *file_path(const char *folder, const char *name) __attribute__((returns_nonnull));

/* Writes the whole file with mode 0600 and puts it in the place of the old one, so that readers see the one or the other. */
MUST_CHECK int file_replace(const char *path, const char *text, size_t len, struct err *err);

/* The same, but what a loss of power leaves of it is left to the caller. */
MUST_CHECK int file_put(const char *path, const char *text, size_t len, struct err *err);

/* Removes a folder with everything in it; mounted file systems are left alone. 0 when it is gone. */
int folder_remove(const char *path);
