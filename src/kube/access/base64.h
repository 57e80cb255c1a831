/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

/* Decodes base64, with or without line ends and padding, into a heap block of `*ret_len` bytes and a NUL, to be
 * freed by the caller. Returns 0 or -EINVAL. */
MUST_CHECK int base64_decode(const char *text, char **ret_data, size_t *ret_len);

/* The `len` bytes as base64 with padding; to be freed by the caller. */
char *base64_encode(const void *data, size_t len) __attribute__((returns_nonnull));
