/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/prober.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/client/client_internal.h"
#include "kube/client/prober_internal.h"

#define PROBE_EVERY (200 * NSEC_PER_MSEC)
#define PROBE_TIMEOUT (2 * NSEC_PER_SEC)

struct kube_prober {
    struct kube_client *client;
    struct list waiting;
    struct loop_timer timer;  // to the next probe
    struct kube_call *call;   // the probe
};

static void probe_later(struct kube_prober *prober)
{
    if (prober->waiting.len > 0 && !prober->call && !loop_timer_is_running(&prober->timer))
        loop_timer_start(&prober->timer, PROBE_EVERY);
}

/* Those that come meanwhile wait for the next probe. */
static void wake_all(struct kube_prober *prober)
{
    for (size_t left = prober->waiting.len; left > 0 && prober->waiting.len > 0; left--) {
        struct kube_wait *wait = list_first(&prober->waiting, struct kube_wait, in_list);

        kube_wait_cancel(prober->client, wait);
        wait->on_back(wait->arg);
    }
}

static void on_probed(void *arg, const struct kube_answer *answer)
{
    struct kube_prober *prober = arg;

    prober->call = NULL;
    if (answer->err.code == 0)
        wake_all(prober);
    probe_later(prober);
}

static void probe(void *arg)
{
    struct kube_prober *prober = arg;

    if (prober->waiting.len == 0)
        return;
    prober->call = kube_send(prober->client, &(struct kube_request){
                                                 .verb = KUBE_GET,
                                                 .path = "/readyz",
                                                 .is_urgent = true,
                                                 .tries = 1,
                                                 .timeout = PROBE_TIMEOUT,
                                                 .on_done = on_probed,
                                                 .arg = prober,
                                             });
}

void kube_await_server(struct kube_client *client, struct kube_wait *wait)
{
    if (wait->is_waiting)
        return;
    if (!client->prober) {
        client->prober = xcalloc(1, sizeof *client->prober);
        client->prober->client = client;
        loop_timer_init(&client->prober->timer, client->loop, probe, client->prober);
    }
    wait->is_waiting = true;
    list_push(&client->prober->waiting, &wait->in_list);
    probe_later(client->prober);
}

void kube_wait_cancel(struct kube_client *client, struct kube_wait *wait)
{
    if (!wait->is_waiting)
        return;
    wait->is_waiting = false;
    list_remove(&client->prober->waiting, &wait->in_list);
}

void kube_prober_free(struct kube_prober *prober)
{
    if (!prober)
        return;
    loop_timer_done(&prober->timer);
    free(prober);
}
