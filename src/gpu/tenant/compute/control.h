/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/* The thread of our own in a tenant's process: it listens to the daemon, ends leases, and finds the daemon again when
 * it was away. It is started with the first context, blocks every signal, and dies with the process. */

void control_start(void);

/* Starts another thread of ours, which blocks every signal as well. One that ends has to be joined. */
bool control_spawn(void *(*run)(void *), void *arg, pthread_t *ret_thread);
void control_join(pthread_t thread);

/* A lease has begun that the thread has to watch. */
void control_wake(void);

/* In a forked child there is no such thread yet. */
void control_forget(void);
