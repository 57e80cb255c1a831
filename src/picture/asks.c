/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/asks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/rest/rest.h"
#include "picture/asks_internal.h"
#include "picture/picture.h"

struct wait {
    struct list_link in_asks;
    struct asks *asks;
    struct http_exchange *exchange;
    asks_ready_fn fn;
    void *arg;
};

struct asks *asks_new(struct service *service, struct picture *picture)
{
    struct asks *asks = xcalloc(1, sizeof *asks);

    *asks = (struct asks){.service = service, .picture = picture};
    return asks;
}

static void wait_end(struct wait *wait)
{
    list_remove(&wait->asks->waits, &wait->in_asks);
    picture_release(wait->asks->picture);
    free(wait);
}

void asks_when_ready(struct asks *asks, struct http_exchange *exchange, asks_ready_fn fn, void *arg)
{
    picture_hold(asks->picture);
    if (picture_is_ready(asks->picture)) {
        fn(arg, exchange);
        picture_release(asks->picture);
        return;
    }
    struct wait *wait = xcalloc(1, sizeof *wait);

    *wait = (struct wait){.asks = asks, .exchange = exchange, .fn = fn, .arg = arg};
    list_push(&asks->waits, &wait->in_asks);
}

void asks_wake(struct asks *asks)
{
    if (!picture_is_ready(asks->picture))
        return;
    for (struct list_link *link = asks->waits.first, *next; link; link = next) {
        struct wait *wait = list_item(link, struct wait, in_asks);

        next = link->next;
        wait->fn(wait->arg, wait->exchange);
        wait_end(wait);
    }
}

static void waits_end(struct asks *asks)
{
    for (struct list_link *link = asks->waits.first, *next; link; link = next) {
        struct wait *wait = list_item(link, struct wait, in_asks);

        next = link->next;
        rest_fail(wait->exchange, -ESHUTDOWN, "Muster is stopping");
        wait_end(wait);
    }
}

void asks_end(struct asks *asks)
{
    waits_end(asks);
    programs_end(asks);
    readings_end(asks);
}

void asks_free(struct asks *asks)
{
    if (!asks)
        return;
    asks_end(asks);
    free(asks);
}
