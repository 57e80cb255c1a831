/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

struct err;

/*
 * Reading one file out of a zip archive that came from outside.
 *
 * An archive that is cut or damaged, that does not hold the file, or that would unpack to more than it should is
 * refused: beyond `max_bytes`, or beyond ZIP_RATIO_FREE bytes to more than ZIP_RATIO_MAX times what it takes packed.
 * Honest text does not pack that well; a bomb made to fill memory does.
 */
enum { ZIP_RATIO_FREE = 64 << 20, ZIP_RATIO_MAX = 400, ZIP_ENTRIES_MAX = 1000 };

/* Does it start as a zip archive does? */
bool zip_is_archive(const void *data, size_t len);

/*
 * Unpacks the file called `member`. On success `*ret_data` is a heap block of `*ret_len` bytes followed by a NUL, to be
 * freed by the caller. `name` stands for the archive in messages.
 * Returns 0; -EBADMSG when the archive is damaged, -ENOENT without the file, -EFBIG when it is too large.
 */
MUST_CHECK int zip_read_member(const void *data, size_t len, const char *name, const char *member, size_t max_bytes,
                               char **ret_data, size_t *ret_len, struct err *err);
