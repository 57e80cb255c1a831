/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "frame/rush.h"

/* Pods on their way to nodes, before which nothing else is written that may wait. All zeros at first. */
struct traffic {
    struct rush rush;
    size_t binds;  // that are under way
};
