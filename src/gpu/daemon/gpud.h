/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"

struct err;
struct gpud_config;
struct log;
struct loop;
struct metrics;

/*
 * The node daemon: it owns the ledger of GPU memory and hands out leases of compute to the tenants of this node.
 *
 * Everything lies in one folder: `api.sock` (HTTP, for the owner of the folder), `groups/<name>/tenant.sock` (for the
 * tenants of a group; the folder is what a container has mounted), `book` and `groups.json` (what a next daemon has to
 * know). One daemon runs in a folder.
 *
 * Runs in the thread of the loop; NVML alone is asked in another one.
 */
struct gpud;

/*
 * Borrows the configuration, the log and the registry, which its figures are added to; the registry is not rendered after
 * gpud_free. Returns 0, or why it cannot run.
 */
MUST_CHECK int gpud_start(struct loop *loop, const struct gpud_config *config, struct log *log, struct metrics *metrics,
                          struct gpud **ret_gpud, struct err *err);

/* Closes all sockets. Tenants go on with what they hold until a daemon is back. */
void gpud_free(struct gpud *gpud);
