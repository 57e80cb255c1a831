/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

struct err;

/*
 * Kubernetes quantities ("500m", "64Gi", "1e3", "0.5") as integers.
 *
 * The engine's books count in integers, such as milli-CPU and bytes. A quantity is read straight into such a unit and
 * rounded up when it does not divide evenly, as the Kubernetes API does: nobody is given less than was asked for.
 */
enum quantity_unit {
    QUANTITY_ONE,    // bytes, pods, devices
    QUANTITY_MILLI,  // thousandths: milli-CPU
};

/*
 * Reads `text` (NUL-terminated, no spaces) into `*ret_value`, in `unit`. Negative amounts are refused: a node or a pod
 * cannot have less than nothing. (A queue's -1, "unlimited", is a number in its own field and never comes here.)
 *
 * Returns 0; -EINVAL when `text` is no quantity, -ERANGE when it does not fit. `*ret_value` is written only on success.
 */
MUST_CHECK int quantity_parse(const char *text, enum quantity_unit unit, int64_t *ret_value, struct err *err);

/*
 * The quantity as Kubernetes writes it: "2", "1500m", "64Gi", "16G". Bytes get the largest binary suffix that divides them
 * evenly; where that is none or Ki, "G" or "M" if those do. Returns `text`.
 */
enum { QUANTITY_TEXT_MAX = 32 };
const char *quantity_format(int64_t value, enum quantity_unit unit, char text[static QUANTITY_TEXT_MAX]);

/*
 * A quantity as it is, for amounts that are added up and written back: in billionths, which is the finest that Kubernetes
 * keeps; what is finer is rounded up. 128 bits hold the sum of more amounts than a cluster has.
 */
__extension__ typedef __int128 quantity_nano;
#define QUANTITY_NANO_PER_ONE ((quantity_nano)1000000000)

struct quantity {
    quantity_nano nano;
    bool is_binary;  // was written with a suffix such as Gi, and is written so
};

/* Fails as quantity_parse() does. An amount is at most 2^63 - 1. */
MUST_CHECK int quantity_parse_exact(const char *text, struct quantity *ret_quantity, struct err *err);

/* As Kubernetes writes it: the largest suffix that leaves a whole number. The amount is not negative. Returns `text`. */
enum { QUANTITY_EXACT_TEXT_MAX = 48 };
const char *quantity_format_exact(const struct quantity *quantity, char text[static QUANTITY_EXACT_TEXT_MAX]);
