/* SPDX-License-Identifier: Apache-2.0 */

/* Who may go next: urgent requests first, then in the order in which they came, as the limits allow. */
#include "kube/client/client.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/mem.h"
#include "kube/client/client_internal.h"
#include "kube/client/prober_internal.h"

static const struct kube_client_options defaults = {.in_flight_max = 64, .timeout = 30 * NSEC_PER_SEC};

static struct list *queue_of(struct kube_client *client, const struct kube_call *call)
{
    return call->request.is_urgent ? &client->urgent : &client->usual;
}

void kube_client_queue(struct kube_client *client, struct kube_call *call)
{
    call->state = CALL_QUEUED;
    list_push(queue_of(client, call), &call->in_queue);
    loop_task_queue(&client->pump);
}

void kube_client_unqueue(struct kube_client *client, struct kube_call *call)
{
    list_remove(queue_of(client, call), &call->in_queue);
}

static void destroy(struct kube_client *client)
{
    struct kube_call *call;

    while ((call = list_first(&client->calls, struct kube_call, of_client)))
        kube_call_free(call);
    kube_prober_free(client->prober);
    http_client_free(client->http);
    kube_credentials_done(&client->credentials);
    loop_timer_done(&client->timer);
    loop_task_cancel(&client->pump);
    kube_config_free(client->config);
    free(client->user_agent);
    free(client);
}

void kube_client_enter(struct kube_client *client)
{
    client->busy++;
}

void kube_client_leave(struct kube_client *client)
{
    if (--client->busy == 0 && client->is_freed)
        destroy(client);
}

/* Whether the call may start now; if not, something else will wake the queue up. */
static bool may_start(struct kube_client *client, const struct kube_call *call)
{
    if (call->request.is_urgent)
        return true;
    if (call->request.verb != KUBE_WATCH && client->in_flight >= client->options.in_flight_max)
        return false;
    nsec_t wait = bucket_take(&client->bucket, nsec_now_monotonic());

    if (wait > 0)
        loop_timer_start(&client->timer, wait);
    return wait == 0;
}

static void pump(void *arg)
{
    struct kube_client *client = arg;
    struct err err = {0};

    kube_client_enter(client);
    while (!client->is_freed) {
        const struct list *queue = client->urgent.len > 0 ? &client->urgent : &client->usual;
        struct kube_call *call = list_first(queue, struct kube_call, in_queue);

        if (!call)
            break;
        int r = kube_credentials_ready(&client->credentials, &err);
        if (r == 0)
            break;
        if (r < 0) {
            kube_client_unqueue(client, call);
            kube_call_fail(call, &err);
            continue;
        }
        if (!may_start(client, call))
            break;
        kube_client_unqueue(client, call);
        kube_call_start(call);
    }
    kube_client_leave(client);
}

static void on_wake(void *arg)
{
    struct kube_client *client = arg;

    loop_task_queue(&client->pump);
}

static uint64_t seed_of_system(void)
{
    uint64_t seed = 0;

    /* Without it the clock has to do; it is for jitter only. */
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = (uint64_t)nsec_now_wall();
    return seed;
}

struct kube_client *kube_client_new(struct loop *loop, struct kube_config *config,
                                    const struct kube_client_options *options)
{
    struct kube_client *client = xcalloc(1, sizeof *client);

    client->loop = loop;
    client->config = config;
    client->options = *options;
    if (!options->in_flight_max)
        client->options.in_flight_max = defaults.in_flight_max;
    if (!options->timeout)
        client->options.timeout = defaults.timeout;
    client->user_agent = xstrdup(options->user_agent ? options->user_agent : "muster");
    client->chance.state = options->seed ? options->seed : seed_of_system();
    client->http = http_client_new(loop);
    kube_credentials_init(&client->credentials, loop, config, on_wake, client);
    bucket_init(&client->bucket, options->qps, options->burst, nsec_now_monotonic());
    loop_timer_init(&client->timer, loop, on_wake, client);
    loop_task_init(&client->pump, loop, pump, client);
    return client;
}

void kube_client_free(struct kube_client *client)
{
    if (!client || client->is_freed)
        return;
    client->is_freed = true;
    kube_client_enter(client);
    kube_client_leave(client);
}

void kube_client_guard(struct kube_client *client, bool (*may_write)(void *arg), void *arg)
{
    client->may_write = may_write;
    client->may_write_arg = arg;
}

struct loop *kube_client_loop(const struct kube_client *client)
{
    return client->loop;
}

struct list *kube_client_feeds(struct kube_client *client)
{
    return client->options.shares_watches ? &client->feeds : NULL;
}

const struct kube_config *kube_client_config(const struct kube_client *client)
{
    return client->config;
}

struct chance *kube_client_chance(struct kube_client *client)
{
    return &client->chance;
}

size_t kube_client_waiting(const struct kube_client *client)
{
    return client->urgent.len + client->usual.len;
}

size_t kube_client_in_flight(const struct kube_client *client)
{
    return client->in_flight;
}

struct kube_call *kube_send(struct kube_client *client, const struct kube_request *request)
{
    struct kube_call *call = kube_call_new(client, request);

    kube_client_queue(client, call);
    return call;
}

void kube_cancel(struct kube_call *call)
{
    if (!call)
        return;
    if (call->is_reading)
        call->is_cancelled = true;
    else
        kube_call_free(call);
}
