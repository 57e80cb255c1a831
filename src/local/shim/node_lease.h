/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"
#include "base/time.h"

struct err;

/*
 * How long the pods of a joined machine may run without news of the server. The agent writes it to a file whenever it has
 * renewed its lease; the process beside each pod reads it, and ends the pod when its time is over. So pods of a machine that
 * is cut off end, and those of a machine whose agent was killed: by the time when the server starts them elsewhere, they run
 * no more.
 */
struct node_lease {
    nsec_t until;  // on the clock of nsec_now_boot(): then pods are told to end
    nsec_t grace;  // and after this they are killed
};

/* How a lease of so long divides: pods are told to end at a part of it, so that all of them are killed before its end. */
struct node_lease node_lease_of(nsec_t duration, nsec_t renewed);

MUST_CHECK int node_lease_write(const char *path, const struct node_lease *lease, struct err *err);

/* False when there is none, it is of another boot of the machine, or its time is over. */
bool node_lease_read(const char *path, struct node_lease *ret_lease);
