/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;

/*
 * What root may do in a container with an image, a bit for each capability of the kernel: those that runtimes of
 * containers give by default, with those of `add` and without those of `drop` (arrays of names such as NET_ADMIN or
 * CAP_NET_ADMIN, or ALL; either may be NULL).
 */
uint64_t capabilities_of(yyjson_val *add, yyjson_val *drop);

/* Gives up all others for good. Needs the rights of root. */
MUST_CHECK int capabilities_keep(uint64_t kept, struct err *err);
