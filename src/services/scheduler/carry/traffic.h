/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "frame/rush.h"

/* Pods on their way to nodes, before which nothing else is written that may wait. All zeros at first. */
struct traffic {
    struct rush rush;
    size_t binds;               // that are under way
    bool is_silent;             // --shadow: nothing is written, whatever there is to say
    nsec_t requests_until;      // monotonic: we were refused to bind, so that the binder does it
    bool has_told_of_requests;  // that this is so
};
