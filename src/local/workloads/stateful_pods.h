/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "local/workloads/revisions.h"

/* The ordinal of a pod by its name; -1 when it has none. */
int64_t stateful_ordinal(const struct owner *set, const char *pod);

/* Creates the pod of an ordinal with the template of a revision, and the claims of its volumes. */
void stateful_create(struct owner *set, const struct child *revision, int64_t ordinal);
