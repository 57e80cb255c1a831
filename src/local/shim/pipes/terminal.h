/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/macros.h"

struct err;

/* A pseudo terminal whose slave belongs to a user. Both descriptors are the caller's. */
MUST_CHECK int terminal_open(uid_t uid, int *ret_master, int *ret_slave, struct err *err);

/* Sets its size from {"Width":80,"Height":24}; anything else is ignored. */
void terminal_resize(int master, const char *text, size_t len);
