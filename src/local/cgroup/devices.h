/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct err;

/*
 * Which GPUs the processes of a control group may open. Environment variables only ask a program to keep to its own
 * GPUs; the kernel asks nobody. Device files of other kinds are not touched.
 */
enum { DEVICES_MAX = 256 };

/* Whether the kernel lets this process restrict devices, which takes the rights of root. */
bool devices_can_restrict(void);

/* Lets the processes of the group at `path` open /dev/nvidiaN for the numbers N of `minors` alone, and the files that
 * belong to no GPU. A later call for the same group replaces an earlier one. -E2BIG: over DEVICES_MAX numbers. */
MUST_CHECK int devices_restrict(const char *path, const uint32_t *minors, size_t count, struct err *err);
