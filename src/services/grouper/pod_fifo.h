/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct pod_record;

/* Pods in the order in which they came. A pod is in one of them at most. */
struct pod_fifo {
    struct pod_record *first, *last;
    size_t len;
};

void fifo_push(struct pod_fifo *fifo, struct pod_record *pod);

/* Of one that it holds. */
void fifo_remove(struct pod_fifo *fifo, struct pod_record *pod);

/* NULL when it is empty. */
struct pod_record *fifo_pop(struct pod_fifo *fifo);
