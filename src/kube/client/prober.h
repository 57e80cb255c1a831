/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/list.h"

struct kube_client;

/*
 * One prober a server. Whoever has lost the server waits here, beside a backoff of its own: while anybody waits, the server
 * is asked two to ten times a second whether it is ready (/readyz, which it also denies while it has not loaded its roles),
 * and when it is, all go on together. So nobody is late because it asked at a bad moment before. Where /readyz is refused
 * for good, all go on every second or two. Those who may be refused for another reason than the server's state must count
 * for themselves how often they come back.
 */
struct kube_wait {
    void (*on_back)(void *arg);  // once for each kube_await_server(), from the loop
    void *arg;
    /* Only a server that a probe has found not to be ready can come back. One that is ready at the first probe is not lost,
     * but busy: nobody is called back, and the wait is over. For those whom the server has asked for patience. */
    bool is_patient;
    bool was_lost;  // a probe has said so
    struct list_link in_list;
    bool is_waiting;
};

/* Waits until the server says that it is ready. Nothing when it waits already. */
void kube_await_server(struct kube_client *client, struct kube_wait *wait);

/* Nothing is called back any more. Before the client is freed. */
void kube_wait_cancel(struct kube_client *client, struct kube_wait *wait);
