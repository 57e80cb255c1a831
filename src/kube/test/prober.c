/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What happens while a server is away, and in which order when it is back. The server is our own, in the same loop, and goes
 * by the number of probes; the backoffs of those who wait are so long that only the prober can end them.
 */
#include "kube/client/prober.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "kube/client/client.h"
#include "kube/follow/follow.h"
#include "kube/lease/lease.h"
#include "net/loop.h"
#include "net/rest/rest.h"

#include "kube/test/served.h"

enum { KINDS = 4 };

struct world {
    struct loop *loop;
    struct http_server *server;
    struct kube_client *client;
    struct follower *followers[KINDS];
    struct lease *lease;
    struct http_exchange *watches[KINDS];
    int watching;
    bool is_away;
    bool is_busy;         // asks for patience instead of saying that it is away
    const char *probes;   // "x": not ready, "s": the same, and the loop ends, "f": refused, "F": the same of a server
                          // that is back; else, and behind the end, ready
    struct strbuf asked;  // "p": a probe, "w": a watch, "l": a lease; in capitals while the server is away
    struct loop_timer timer;
};

static const enum kube_known kinds[KINDS] = {KUBE_PODS, KUBE_NODES, KUBE_NAMESPACES, KUBE_QUEUES};

static void refuse(struct http_exchange *exchange, int status)
{
    const char *body = "{\"kind\":\"Status\",\"message\":\"no\"}";

    http_reply(exchange, status, "application/json", body, strlen(body));
}

static void get_readyz(void *arg, struct http_exchange *exchange)
{
    struct world *world = arg;
    char letter = *world->probes ? *world->probes++ : 'o';

    world->is_away &= letter == 'x' || letter == 's' || letter == 'f';
    if (letter == 's')
        loop_stop(world->loop);
    strbuf_addstr(&world->asked, world->is_away ? "P" : "p");
    if (letter == 'o')
        http_reply(exchange, 200, "text/plain", "ok", 2);
    else
        refuse(exchange, letter == 'f' || letter == 'F' ? 403 : 500);
}

static void get_kind(void *arg, struct http_exchange *exchange)
{
    const char *list = "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}";
    const char *event = "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"6\"}}}\n";
    struct world *world = arg;

    if (!rest_query(exchange, "watch")) {
        http_reply(exchange, 200, "application/json", list, strlen(list));
        return;
    }
    strbuf_addstr(&world->asked, world->is_away ? "W" : "w");
    if (world->is_away) {
        refuse(exchange, 503);
        return;
    }
    http_reply_begin(exchange, 200, "application/json");
    http_reply_write(exchange, event, strlen(event));
    assert_true(world->watching < KINDS);
    world->watches[world->watching++] = exchange;
    if (world->watching == KINDS)
        loop_stop(world->loop);
}

static void get_lease(void *arg, struct http_exchange *exchange)
{
    struct world *world = arg;

    strbuf_addstr(&world->asked, world->is_away ? "L" : "l");
    if (world->is_away && world->is_busy) {
        http_reply_header(exchange, "Retry-After", "60");
        refuse(exchange, 429);
        return;
    }
    refuse(exchange, world->is_away ? 503 : 404);
}

static void make_lease(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply(exchange, 201, "application/json", "{}", 2);
}

static const struct rest_route routes[] = {
    REST_ROUTE("GET", "/readyz", get_readyz),
    REST_ROUTE("GET", "/apis/coordination.k8s.io/{path...}", get_lease),
    REST_ROUTE("POST", "/apis/coordination.k8s.io/{path...}", make_lease),
    REST_ROUTE("GET", "/{path...}", get_kind),
};

static void on_late(void *arg)
{
    const struct world *world = arg;

    fail_msg("asked so far: %s", world->asked.text);
}

static void world_init(struct world *world, const char *probes)
{
    *world = (struct world){.loop = loop_new(), .probes = probes};
    strbuf_init(&world->asked, 1000);
    struct rest_set set = {routes, ARRAY_LEN(routes), world};
    world->client = served_client(world->loop, &set, &world->server);
    loop_timer_init(&world->timer, world->loop, on_late, world);
    loop_timer_start(&world->timer, 120 * NSEC_PER_SEC);
}

static void end_watches(struct world *world)
{
    while (world->watching > 0)
        http_reply_end(world->watches[--world->watching]);
}

static void world_done(struct world *world)
{
    for (int i = 0; i < KINDS; i++)
        follower_free(world->followers[i]);
    lease_free(world->lease);
    kube_client_free(world->client);
    end_watches(world);
    http_server_free(world->server);
    loop_timer_done(&world->timer);
    strbuf_done(&world->asked);
    loop_free(world->loop);
}

static void on_event(void *arg, const struct follow_event *event)
{
    (void)arg;
    (void)event;
}

static void follow_all(struct world *world)
{
    for (int i = 0; i < KINDS; i++)
        world->followers[i] = follower_new(world->client, &(struct follow_options){
                                                              .resource = kube_known(kinds[i]),
                                                              .backoff_first = NSEC_PER_HOUR,
                                                              .backoff_max = NSEC_PER_HOUR,
                                                              .on_event = on_event,
                                                              .arg = world,
                                                          });
    loop_run(world->loop);
    assert_string_equal(world->asked.text, "wwww");
}

/* The server goes away; runs until all watches are open again, and leaves in `asked` what was asked meanwhile. */
static void lose_server(struct world *world)
{
    strbuf_clear(&world->asked);
    world->is_away = true;
    end_watches(world);
    loop_run(world->loop);
}

/* How often a letter was asked; all of them are taken out, since their place between others is a matter of speed. */
static int take_out(struct strbuf *asked, char letter)
{
    struct strbuf rest;
    int count = 0;

    strbuf_init(&rest, 1000);
    for (size_t i = 0; i < asked->len; i++) {
        if (asked->text[i] == letter)
            count++;
        else
            strbuf_add(&rest, &asked->text[i], 1);
    }
    strbuf_done(asked);
    *asked = rest;
    return count;
}

static void all_go_on_together_when_the_server_is_ready(void **arg)
{
    struct world world;

    (void)arg;
    world_init(&world, "xxxxxfff");
    follow_all(&world);
    lose_server(&world);
    assert_int_equal(take_out(&world.asked, 'W'), KINDS);  // once each, and not again before it is ready
    assert_string_equal(world.asked.text, "PPPPPPPPpwwww");
    world_done(&world);
}

static void another_outage_is_another_wait(void **arg)
{
    struct world world;

    (void)arg;
    world_init(&world, "xxox");
    follow_all(&world);
    lose_server(&world);
    assert_int_equal(take_out(&world.asked, 'W'), KINDS);
    assert_string_equal(world.asked.text, "PPpwwww");
    lose_server(&world);
    assert_int_equal(take_out(&world.asked, 'W'), KINDS);
    assert_string_equal(world.asked.text, "Ppwwww");
    world_done(&world);
}

static void a_server_that_never_shows_whether_it_is_ready_is_tried_after_some_refusals(void **arg)
{
    struct world world;

    (void)arg;
    world_init(&world, "xxffFFFFFFFF");
    follow_all(&world);
    lose_server(&world);
    assert_int_equal(take_out(&world.asked, 'W'), KINDS);
    assert_string_equal(world.asked.text, "PPPPppwwww");
    world_done(&world);
}

static void on_held(void *arg)
{
    loop_stop(((struct world *)arg)->loop);
}

static void on_lost(void *arg, const struct err *err)
{
    (void)arg;
    fail_msg("%s", err->text);
}

static void a_lease_is_sought_again_as_soon_as_the_server_is_ready(void **arg)
{
    struct world world;

    (void)arg;
    world_init(&world, "xf");
    world.is_away = true;
    world.lease = lease_new(world.client, &(struct lease_options){
                                              .namespace = "n",
                                              .name = "l",
                                              .identity = "me",
                                              .duration = 3 * NSEC_PER_HOUR,
                                              .renew_deadline = 2 * NSEC_PER_HOUR,
                                              .retry_period = NSEC_PER_HOUR,
                                              .on_held = on_held,
                                              .on_lost = on_lost,
                                              .arg = &world,
                                          });
    loop_run(world.loop);
    assert_string_equal(world.asked.text, "LPPpl");
    world_done(&world);
}

static void on_answer(void *arg, const struct kube_answer *answer)
{
    (void)arg;
    fail_msg("an answer: %d", answer->status);
}

static void whoever_waits_can_be_freed(void **arg)
{
    struct world world;

    (void)arg;
    world_init(&world, "xxs");
    follow_all(&world);
    (void)kube_send(world.client, &(struct kube_request){.verb = KUBE_GET,
                                                         .resource = kube_known(KUBE_LEASES),
                                                         .namespace = "n",
                                                         .name = "l",
                                                         .tries = 100,
                                                         .on_done = on_answer});
    lose_server(&world);
    assert_int_equal(take_out(&world.asked, 'W'), KINDS);
    assert_true(take_out(&world.asked, 'L') > 0);
    assert_string_equal(world.asked.text, "PPP");
    world_done(&world);
}

static void on_found(void *arg, const struct kube_answer *answer)
{
    struct world *world = arg;

    assert_int_equal(answer->status, 404);
    loop_stop(world->loop);
}

static void ask_busy_server(struct world *world)
{
    world->is_away = world->is_busy = true;
    (void)kube_send(world->client, &(struct kube_request){.verb = KUBE_GET,
                                                          .resource = kube_known(KUBE_LEASES),
                                                          .namespace = "n",
                                                          .name = "l",
                                                          .on_done = on_found,
                                                          .arg = world});
}

static void a_server_that_asks_for_patience_while_it_starts_is_asked_again_when_it_is_ready(void **arg)
{
    struct world world;

    (void)arg;
    world_init(&world, "xx");
    ask_busy_server(&world);
    loop_run(world.loop);
    assert_string_equal(world.asked.text, "LPPpl");
    world_done(&world);
}

static void a_server_that_is_ready_and_asks_for_patience_gets_it(void **arg)
{
    struct world world;
    struct loop_timer enough;

    (void)arg;
    world_init(&world, "");
    ask_busy_server(&world);
    loop_timer_init(&enough, world.loop, on_held, &world);
    loop_timer_start(&enough, NSEC_PER_SEC);
    loop_run(world.loop);
    assert_string_equal(world.asked.text, "Lp");
    loop_timer_done(&enough);
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_go_on_together_when_the_server_is_ready),
        cmocka_unit_test(another_outage_is_another_wait),
        cmocka_unit_test(a_server_that_never_shows_whether_it_is_ready_is_tried_after_some_refusals),
        cmocka_unit_test(a_lease_is_sought_again_as_soon_as_the_server_is_ready),
        cmocka_unit_test(whoever_waits_can_be_freed),
        cmocka_unit_test(a_server_that_asks_for_patience_while_it_starts_is_asked_again_when_it_is_ready),
        cmocka_unit_test(a_server_that_is_ready_and_asks_for_patience_gets_it),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
