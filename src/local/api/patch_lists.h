/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * How lists of Kubernetes' own kinds are merged by a strategic patch: by the member that tells their elements apart, or as
 * a set of plain values. A list that is not here is replaced as a whole.
 */
struct patch_list {
    const char *name;    // of the member that is a list
    const char *parent;  // of the member or list that it is in; NULL: anywhere
    const char *key;     // NULL: plain values
};

/* The rule for the list `name` in something named `parent`; NULL: it is replaced. */
const struct patch_list *patch_list_find(const char *parent, const char *name);
