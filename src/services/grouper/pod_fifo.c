/* SPDX-License-Identifier: Apache-2.0 */
#include "services/grouper/pod_fifo.h"

#include "services/grouper/grouper_internal.h"

void fifo_push(struct pod_fifo *fifo, struct pod_record *pod)
{
    pod->prev = fifo->last;
    pod->next = NULL;
    if (fifo->last)
        fifo->last->next = pod;
    else
        fifo->first = pod;
    fifo->last = pod;
    fifo->len++;
}

void fifo_remove(struct pod_fifo *fifo, struct pod_record *pod)
{
    if (pod->prev)
        pod->prev->next = pod->next;
    else
        fifo->first = pod->next;
    if (pod->next)
        pod->next->prev = pod->prev;
    else
        fifo->last = pod->prev;
    pod->prev = pod->next = NULL;
    fifo->len--;
}

struct pod_record *fifo_pop(struct pod_fifo *fifo)
{
    struct pod_record *pod = fifo->first;

    if (pod)
        fifo_remove(fifo, pod);
    return pod;
}
