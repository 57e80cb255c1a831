/* SPDX-License-Identifier: Apache-2.0 */

/* Callbacks that end what called them, at every moment; the server is our own, in the same loop. */
#include "kube/client/client.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kube/client/discovery.h"
#include "kube/client/modify.h"
#include "kube/client/verbs.h"
#include "kube/events/events.h"
#include "kube/follow/follow.h"
#include "kube/lease/lease.h"
#include "net/loop.h"
#include "net/rest/rest.h"

#include "kube/test/served.h"

#define POD(name, version) \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"" version "\"}}"

struct world {
    struct loop *loop;
    struct http_server *server;
    struct kube_client *client;
    struct follower *follower;
    struct lease *lease;
    struct kube_call *call;
    struct loop_timer timer;
    struct http_exchange *watch;
    int events, synced, problems, answers;
    int free_at;  // the event at which something is freed
    bool frees_client;
    bool cancels;
};

static void get_pods(void *arg, struct http_exchange *exchange)
{
    struct world *world = arg;
    const char *list = "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[" POD("a", "1") "," POD("b", "2") "]}";
    const char *events =
        "{\"type\":\"ADDED\",\"object\":" POD("c", "6") "}\n{\"type\":\"DELETED\",\"object\":" POD("a", "7") "}\n";

    if (!rest_query(exchange, "watch")) {
        http_reply(exchange, 200, "application/json", list, strlen(list));
        return;
    }
    http_reply_begin(exchange, 200, "application/json");
    http_reply_write(exchange, events, strlen(events));
    if (world->watch)
        http_reply_end(world->watch);
    world->watch = exchange;
}

static void get_object(void *arg, struct http_exchange *exchange)
{
    const char *object = POD("a", "1");

    (void)arg;
    http_reply(exchange, 200, "application/json", object, strlen(object));
}

static const struct rest_route routes[] = {
    REST_ROUTE("GET", "/api/v1/pods", get_pods), REST_ROUTE("GET", "/{path...}", get_object),
    REST_ROUTE("POST", "/{path...}", get_object), REST_ROUTE("PUT", "/{path...}", get_object),
    REST_ROUTE("PATCH", "/{path...}", get_object)};

static void on_late(void *arg)
{
    struct world *world = arg;

    fail_msg("%d events, %d answers", world->events, world->answers);
}

static void world_init(struct world *world)
{
    *world = (struct world){.loop = loop_new(), .free_at = -1};
    struct rest_set set = {routes, ARRAY_LEN(routes), world};
    world->client = served_client(world->loop, &set, &world->server);
    loop_timer_init(&world->timer, world->loop, on_late, world);
    loop_timer_start(&world->timer, 60 * NSEC_PER_SEC);
}

static void world_done(struct world *world)
{
    follower_free(world->follower);
    lease_free(world->lease);
    kube_client_free(world->client);
    if (world->watch)
        http_reply_end(world->watch);
    http_server_free(world->server);
    loop_timer_done(&world->timer);
    loop_free(world->loop);
}

/* Frees what the test asks for, and ends the loop a moment later so that anything left would still be called. */
static void on_moment(void *arg)
{
    loop_stop(((struct world *)arg)->loop);
}

static void end_all(struct world *world)
{
    follower_free(TAKE_PTR(world->follower));
    if (world->frees_client)
        kube_client_free(TAKE_PTR(world->client));
    world->timer.fn = on_moment;
    loop_timer_start(&world->timer, 20 * NSEC_PER_MSEC);
}

static void on_event(void *arg, const struct follow_event *event)
{
    struct world *world = arg;

    assert_non_null(event->name);
    if (world->events++ == world->free_at)
        end_all(world);
    else if (world->free_at < 0 && world->events == 4)
        loop_stop(world->loop);
    else
        assert_true(world->free_at < 0 || world->events <= world->free_at);
}

static void on_synced(void *arg, bool is_first)
{
    struct world *world = arg;

    assert_true(is_first);
    world->synced++;
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    (void)err;
    (void)wait;
    ((struct world *)arg)->problems++;
}

static void follow(struct world *world)
{
    world->follower = follower_new(world->client, &(struct follow_options){
                                                      .resource = kube_known(KUBE_PODS),
                                                      .on_event = on_event,
                                                      .on_synced = on_synced,
                                                      .on_problem = on_problem,
                                                      .arg = world,
                                                  });
    loop_run(world->loop);
}

static void a_follower_follows(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    follow(&world);
    assert_int_equal(world.events, 4);
    assert_int_equal(world.synced, 1);
    assert_int_equal(world.problems, 0);
    assert_int_equal(follower_len(world.follower), 2);
    assert_string_equal(follower_version(world.follower), "7");
    world_done(&world);
}

static void a_follower_can_be_freed_at_every_event(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct world world;

        world_init(&world);
        world.free_at = i % 4;
        world.frees_client = i >= 4;
        follow(&world);
        assert_int_equal(world.events, i % 4 + 1);
        world_done(&world);
    }
}

static void on_answer(void *arg, const struct kube_answer *answer)
{
    struct world *world = arg;
    yyjson_val *object = NULL;

    assert_int_equal(answer->err.code, 0);
    assert_int_equal(kube_answer_object(answer, &object, NULL), 0);
    world->answers++;
    end_all(world);
}

static int on_item(void *arg, const char *text, size_t len)
{
    struct world *world = arg;

    assert_non_null(text);
    assert_true(len > 0);
    world->events++;
    if (world->cancels)
        kube_cancel(TAKE_PTR(world->call));
    end_all(world);
    return 0;
}

static void send_list(struct world *world, kube_item_fn item)
{
    world->call = kube_send(world->client, &(struct kube_request){
                                               .verb = KUBE_LIST,
                                               .resource = kube_known(KUBE_PODS),
                                               .on_item = item,
                                               .on_done = on_answer,
                                               .arg = world,
                                           });
    loop_run(world->loop);
}

static void a_call_can_be_cancelled_by_its_items(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world;

        world_init(&world);
        world.cancels = true;
        world.frees_client = i == 1;
        send_list(&world, on_item);
        assert_int_equal(world.events, 1);
        assert_int_equal(world.answers, 0);
        if (world.client)
            assert_int_equal(kube_client_in_flight(world.client), 0);
        world_done(&world);
    }
}

static void the_client_can_be_freed_by_items_and_answers(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world;

        world_init(&world);
        world.frees_client = true;
        send_list(&world, i == 0 ? on_item : NULL);
        assert_int_equal(world.events + world.answers, 1);
        world_done(&world);
    }
}

static int change(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    (void)arg;
    (void)err;
    return yyjson_mut_obj_add_str(doc, object, "changed", "yes") ? 1 : -ENOMEM;
}

static void what_is_under_way_can_be_dropped(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    struct kube_modify_request modify = {.resource = kube_known(KUBE_PODS),
                                         .namespace = "n",
                                         .name = "a",
                                         .change = change,
                                         .on_done = on_answer,
                                         .arg = &world};
    struct kube_bind_request bind = {.namespace = "n", .pod = "a", .node = "x", .on_done = on_answer, .arg = &world};
    kube_modify_cancel(kube_modify_start(world.client, &modify));
    kube_bind_cancel(kube_bind_start(world.client, &bind));
    struct discovery *discovery = discovery_new(world.client);
    discovery_find(discovery, "v1", "Pod", NULL, NULL);
    discovery_free(discovery);
    struct recorder *recorder = recorder_new(world.client, &(struct recorder_options){.component = "test"});
    recorder_record(recorder, &(struct event){.api_version = "v1",
                                              .kind = "Pod",
                                              .namespace = "n",
                                              .name = "a",
                                              .uid = "u",
                                              .type = "Normal",
                                              .reason = "R",
                                              .message = "m"});
    assert_int_equal(recorder_waiting(recorder), 1);
    recorder_free(recorder);
    assert_int_equal(kube_client_waiting(world.client), 0);

    /* And in the end one that is carried out. */
    (void)kube_modify_start(world.client, &modify);
    loop_run(world.loop);
    assert_int_equal(world.answers, 1);
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_follower_follows),
        cmocka_unit_test(a_follower_can_be_freed_at_every_event),
        cmocka_unit_test(a_call_can_be_cancelled_by_its_items),
        cmocka_unit_test(the_client_can_be_freed_by_items_and_answers),
        cmocka_unit_test(what_is_under_way_can_be_dropped),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
