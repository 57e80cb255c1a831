/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How long functions take on the device, as far as it was seen: by handle, which is a function's, an executable graph's, or
 * one of these mixed with the size of the grid. A table of fixed size without a lock, in which an old one may have to give
 * way to a new one. */

#include <stdint.h>

enum { COST_LEAST_NS = 1000 };

/* 0: not known. */
uint64_t cost_of(const void *what);

/* Moves what is known towards what was seen. */
void cost_learn(const void *what, uint64_t ns);
