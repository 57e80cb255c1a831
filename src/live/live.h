/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

struct cluster_reading;
struct err;

/*
 * A running cluster as simulate, why and compare read it: every kind of the table of kinds that the server has is listed
 * once, page by page, and goes through the decoders that files go through. Nothing is watched and nothing is written, so
 * that the right to list is enough.
 */
struct live_source {
    const char *kubeconfig;  // NULL: where kubectl looks
    bool is_survey;          // kinds of other schedulers are listed as well
};

/*
 * Reads the cluster of the context (NULL or "": the current one) into `reading`; a cluster_live_fn whose argument is a
 * struct live_source. Kinds that may not be listed are named in a warning; without nodes and pods there is no cluster,
 * and it
 * fails. Returns 0, -EIO for what the server did or did not do, or what is wrong with the kubeconfig.
 */
MUST_CHECK int live_read(void *source, const char *context, struct cluster_reading *reading, struct err *err);
