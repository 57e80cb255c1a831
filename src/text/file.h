/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

struct err;

/*
 * Reads the whole file at `path`, or standard input when it is "-". What starts as gzip is unpacked. Neither the file
 * nor what it unpacks to may be larger than `max_bytes`, so that no input can fill the memory.
 *
 * On success `*ret_data` is a heap block of `*ret_len` bytes followed by a NUL, to be freed by the caller.
 * Returns 0; -EFBIG when it is too large, -EBADMSG when the gzip data is damaged, or what the system says. The text in
 * `err` names the file.
 */
MUST_CHECK int file_read(const char *path, size_t max_bytes, char **ret_data, size_t *ret_len, struct err *err);

/* Unpacks gzip data (one or more members) in the same way. */
MUST_CHECK int file_gunzip(const void *data, size_t len, size_t max_bytes, char **ret_data, size_t *ret_len,
                           struct err *err);

/* What to call the input in a message: "standard input" for "-". */
const char *file_name(const char *path);
