/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/prober.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/client/client_internal.h"
#include "kube/client/prober_internal.h"

#define PROBE_FIRST (100 * NSEC_PER_MSEC)
#define PROBE_MAX (500 * NSEC_PER_MSEC)
#define PROBE_TIMEOUT (2 * NSEC_PER_SEC)

/* After so long without a probe the next one belongs to another outage. */
#define PROBE_REST (5 * NSEC_PER_SEC)

/* Of the answers that refuse the probe itself so many are one that it is ready. */
enum { REFUSALS = 4 };

struct kube_prober {
    struct kube_client *client;
    struct list waiting;
    struct loop_timer timer;  // to the next probe
    struct backoff backoff;
    struct kube_call *call;  // the probe
    nsec_t probed;           // when the last one ended
    uint32_t refusals;       // in a row
};

static void probe_later(struct kube_prober *prober)
{
    struct kube_client *client = prober->client;

    if (prober->waiting.len == 0 || prober->call || loop_timer_is_running(&prober->timer))
        return;
    if (nsec_now_monotonic() - prober->probed > PROBE_REST)
        backoff_reset(&prober->backoff);
    loop_timer_start(&prober->timer, backoff_next(&prober->backoff, chance_next(&client->chance)));
}

/*
 * A server that starts refuses the probe until it has loaded its roles; one that never lets us see /readyz cannot be told
 * from it. So a refusal alone does not count, but some in a row do: those who wait find out for themselves.
 */
static bool is_ready(struct kube_prober *prober, const struct kube_answer *answer)
{
    bool is_refusal = answer->status / 100 == 4;

    prober->refusals = is_refusal ? prober->refusals + 1 : 0;
    return answer->err.code == 0 || (is_refusal && prober->refusals % REFUSALS == 0);
}

/* Those that come meanwhile wait for the next probe. */
static void wake_all(struct kube_prober *prober)
{
    for (size_t left = prober->waiting.len; left > 0 && prober->waiting.len > 0; left--) {
        struct kube_wait *wait = list_first(&prober->waiting, struct kube_wait, in_list);

        kube_wait_cancel(prober->client, wait);
        if (!wait->is_patient || wait->was_lost)
            wait->on_back(wait->arg);
    }
}

/* A refusal alone does not say so: it may be all that this server ever answers. */
static void note_lost(struct kube_prober *prober, const struct kube_answer *answer)
{
    if (answer->status / 100 == 4)
        return;
    for (struct list_link *link = prober->waiting.first; link; link = link->next)
        list_item(link, struct kube_wait, in_list)->was_lost = true;
}

static void on_probed(void *arg, const struct kube_answer *answer)
{
    struct kube_prober *prober = arg;

    prober->call = NULL;
    prober->probed = nsec_now_monotonic();
    if (is_ready(prober, answer))
        wake_all(prober);
    else
        note_lost(prober, answer);
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
        client->prober->backoff = (struct backoff){.first = PROBE_FIRST, .max = PROBE_MAX};
        loop_timer_init(&client->prober->timer, client->loop, probe, client->prober);
    }
    wait->is_waiting = true;
    wait->was_lost = false;
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
