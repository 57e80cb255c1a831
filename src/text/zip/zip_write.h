/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

struct err;

/*
 * A zip archive with one file, which comes in pieces and is packed as it comes: only what is packed is held.
 */
struct zip_writer;

/* `max_bytes` bounds the packed size. */
struct zip_writer *zip_writer_new(const char *member, size_t max_bytes);
void zip_writer_free(struct zip_writer *writer);  // may be NULL

/* The next piece. What does not fit any more is told by zip_writer_finish. */
void zip_writer_add(struct zip_writer *writer, const char *bytes, size_t len);

/* The whole archive, a heap block of the caller's. Returns 0, or -EFBIG when it is too large. Nothing may be added after
 * it. */
MUST_CHECK int zip_writer_finish(struct zip_writer *writer, char **ret_data, size_t *ret_len, struct err *err);
