/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The units in which requests for parts of GPUs are written. Parts and percents become billionths, amounts bytes. */
enum value_unit {
    VALUE_PART,      // 0.5, 5e-1; above 0, up to 1
    VALUE_PERCENT,   // whole numbers up to 100, as a resource's quantity; 0 means nothing
    VALUE_MIB,       // whole numbers of MiB
    VALUE_MIBS,      // the same as a resource's quantity: 3k are 3000 MiB; 0 means nothing
    VALUE_QUANTITY,  // 4Gi, 500M
    VALUE_HAMI,      // 4096m are 4096 MiB, 4g are 4 GiB; 0 means nothing
    VALUE_COUNT,     // of GPUs
    VALUE_GPUS,      // of GPUs, or a part of one: in billionths
    VALUE_UNIT_COUNT_,
};

/* False when the text is not of this unit, negative, or more than any GPU has. 0 only where that means nothing. */
bool value_read(enum value_unit unit, const char *text, uint64_t *ret_value);

/* "a part of a GPU, such as 0.5": what should have been there. */
const char *value_expected(enum value_unit unit);
