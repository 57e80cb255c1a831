/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The connection to the node's daemon: made at the first need, made again when the daemon comes back, never shared with
 * a forked child. See gpu/protocol/message.h for what is said on it. */

#include <stdbool.h>
#include <stdint.h>

#include "gpu/protocol/message.h"
#include "gpu/protocol/pages.h"

/* Whether this process has to do with a daemon at all. In a container it always has: our library stands in the driver's
 * place there. On a bare box it has when it was started with a socket to talk to. */
bool client_is_wanted(void);

/* Connected, if need be after a pause in which the daemon may come back. */
bool client_is_ready(void);

/* Sends a request and takes its answer. False when there is no daemon. */
bool client_ask(const struct gpu_message *request, struct gpu_message *ret_answer);

/* Sends what has no answer. */
void client_tell(const struct gpu_message *message);

/* The same on the socket for events. */
void client_tell_event(const struct gpu_message *message);

/* The events' socket for a thread that waits there, or -1; client_read_event() returns 1 for a message, 0 for none now,
 * and -1 when the daemon is gone. A file that came with the message is the caller's; -1 when there is none. */
int client_events(void);
int client_read_event(struct gpu_message *ret_message, int *ret_file);

/* How many GPUs the group has, and the lines of each in the shared pages. While the daemon is away the control line is
 * one of our own that lets launches pass. NULL before the first connection. */
int client_gpu_count(void);
const struct gpu_control_line *client_control(int slot);
struct gpu_tenant_line *client_line(int slot);

/* What a process is called here that the node calls `node_pid`, and the other way around; 0 when it is none of our group. */
unsigned client_own_pid(unsigned node_pid);
unsigned client_node_pid(unsigned own_pid);

/* Counts connections: words of an earlier daemon's gates mean nothing to the next one. */
unsigned client_epoch(void);

/* What this process holds, as the daemon has to be told after a new beginning. */
typedef void client_holdings_fn(int slot, uint64_t *ret_bytes, uint64_t *ret_context_bytes);
void client_set_holdings(client_holdings_fn *holdings);

/* In a forked child: the connection belongs to the parent. */
void client_forget(void);
