/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The Kubernetes client, driven by tests: does one thing and says what came of it, one JSON object a line.
 *
 *     kube-probe KUBECONFIG [--OPTION VALUE]... COMMAND ARGUMENT...
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "kube/access/config.h"
#include "kube/client/client.h"
#include "kube/client/discovery.h"
#include "kube/client/meta.h"
#include "kube/client/modify.h"
#include "kube/client/verbs.h"
#include "kube/events/events.h"
#include "kube/follow/follow.h"
#include "kube/follow/list.h"
#include "kube/lease/lease.h"
#include "net/loop.h"

struct probe {
    struct loop *loop;
    struct kube_client *client;
    const char *command;
    char **arguments;
    int argument_count;
    /* Options. */
    double qps, burst, page, timeout_ms, times, watch_s, backoff_ms, streams, retry_ms, grace_s, metadata;
    const char *context, *label_selector, *field_selector, *body;
    /* What is under way. */
    struct follower *follower;
    struct lease *lease;
    struct recorder *recorder;
    struct discovery *discovery;
    struct loop_timer timer;
    int waiting;
    int failed;
    uint64_t counted;
    bool is_releasing;
};

static const char *argument(const struct probe *probe, int i)
{
    return i < probe->argument_count ? probe->arguments[i] : "";
}

static const struct kube_resource *resource_of(const char *plural)
{
    for (int i = 0; i < _KUBE_KNOWN_MAX; i++) {
        if (strcmp(kube_known((enum kube_known)i)->plural, plural) == 0)
            return kube_known((enum kube_known)i);
    }
    (void)fprintf(stderr, "no resource named %s\n", plural);
    exit(2);
}

static void say(yyjson_mut_doc *doc)
{
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);

    puts(text);
    (void)fflush(stdout);
    free(text);
    yyjson_mut_doc_free(doc);
}

/* A line {"is": ...}, to which more is added. */
static yyjson_mut_doc *line_of(const char *is)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
    (void)yyjson_mut_obj_add_str(doc, doc->root, "is", is);
    return doc;
}

static void say_problem(const struct err *err, nsec_t wait)
{
    yyjson_mut_doc *doc = line_of("problem");

    (void)yyjson_mut_obj_add_int(doc, doc->root, "code", err->code);
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "text", err->text);
    (void)yyjson_mut_obj_add_int(doc, doc->root, "wait_ms", wait / NSEC_PER_MSEC);
    say(doc);
}

static void done_one(struct probe *probe)
{
    if (--probe->waiting == 0)
        loop_stop(probe->loop);
}

static void on_answer(void *arg, const struct kube_answer *answer)
{
    struct probe *probe = arg;
    yyjson_mut_doc *doc = line_of("answer");
    yyjson_val *object = NULL;

    (void)yyjson_mut_obj_add_int(doc, doc->root, "status", answer->status);
    (void)yyjson_mut_obj_add_int(doc, doc->root, "code", answer->err.code);
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "text", answer->err.code ? answer->err.text : "");
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "reason", answer->reason);
    (void)yyjson_mut_obj_add_bool(doc, doc->root, "unsent", answer->is_unsent);
    if (answer->err.code == 0 && answer->body_len && kube_answer_object(answer, &object, NULL) == 0)
        (void)yyjson_mut_obj_add_val(doc, doc->root, "object", yyjson_val_mut_copy(doc, object));
    say(doc);
    probe->failed += answer->err.code < 0;
    done_one(probe);
}

static void send_one(struct probe *probe, enum kube_verb verb)
{
    probe->waiting++;
    (void)kube_send(probe->client, &(struct kube_request){
                                       .verb = verb,
                                       .resource = resource_of(argument(probe, 0)),
                                       .namespace = argument(probe, 1),
                                       .name = argument(probe, 2),
                                       .subresource = argument(probe, 3),
                                       .body = probe->body,
                                       .body_len = probe->body ? strlen(probe->body) : 0,
                                       .is_metadata_only = probe->metadata > 0,
                                       .is_forced = true,
                                       .on_done = on_answer,
                                       .arg = probe,
                                   });
}

static void do_get(struct probe *probe)
{
    for (int i = 0; i < probe->times; i++)
        send_one(probe, KUBE_GET);
}

static void do_create(struct probe *probe)
{
    for (int i = 0; i < probe->times; i++)
        send_one(probe, KUBE_CREATE);
}

static void do_merge(struct probe *probe)
{
    send_one(probe, KUBE_PATCH_MERGE);
}

static void do_strategic(struct probe *probe)
{
    send_one(probe, KUBE_PATCH_STRATEGIC);
}

static void do_json_patch(struct probe *probe)
{
    send_one(probe, KUBE_PATCH_JSON);
}

static void do_apply(struct probe *probe)
{
    send_one(probe, KUBE_APPLY);
}

static void do_version(struct probe *probe)
{
    probe->waiting++;
    (void)kube_send(probe->client,
                    &(struct kube_request){.verb = KUBE_GET, .path = "/version", .on_done = on_answer, .arg = probe});
}

static struct kube_delete_request delete_request(struct probe *probe)
{
    return (struct kube_delete_request){
        .resource = resource_of(argument(probe, 0)),
        .namespace = argument(probe, 1),
        .name = argument(probe, 2),
        .uid = argument(probe, 3),
        .grace_s = (int64_t)probe->grace_s,
        .on_done = on_answer,
        .arg = probe,
    };
}

static void do_delete(struct probe *probe)
{
    struct kube_delete_request request = delete_request(probe);

    probe->waiting++;
    (void)kube_delete(probe->client, &request);
}

static void do_evict(struct probe *probe)
{
    struct kube_delete_request request = delete_request(probe);

    probe->waiting++;
    (void)kube_evict(probe->client, &request);
}

static void on_unknown(void *arg, const struct err *err)
{
    yyjson_mut_doc *doc = line_of("unknown");

    (void)arg;
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "text", err->text);
    say(doc);
}

static void do_remove(struct probe *probe)
{
    struct kube_delete_request request = delete_request(probe);

    probe->waiting++;
    (void)kube_removal_start(probe->client, &request, on_unknown);
}

static void do_bind(struct probe *probe)
{
    probe->waiting++;
    (void)kube_bind_start(probe->client, &(struct kube_bind_request){
                                             .namespace = argument(probe, 0),
                                             .pod = argument(probe, 1),
                                             .uid = argument(probe, 2),
                                             .node = argument(probe, 3),
                                             .on_unknown = on_unknown,
                                             .on_done = on_answer,
                                             .arg = probe,
                                         });
}

/* Adds one to data.count, many at the same time. */
static int count_up(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    yyjson_mut_val *data = yyjson_mut_obj_get(object, "data");
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(data, "count"));
    char next[24];

    (void)arg;
    if (!text)
        return err_set(err, -EINVAL, "there is no count");
    (void)snprintf(next, sizeof next, "%ld", strtol(text, NULL, 10) + 1);
    return yyjson_mut_obj_put(data, yyjson_mut_str(doc, "count"), yyjson_mut_strcpy(doc, next)) ? 1 : -ENOMEM;
}

static void do_modify(struct probe *probe)
{
    for (int i = 0; i < probe->times; i++) {
        probe->waiting++;
        (void)kube_modify_start(probe->client, &(struct kube_modify_request){
                                                   .resource = resource_of(argument(probe, 0)),
                                                   .namespace = argument(probe, 1),
                                                   .name = argument(probe, 2),
                                                   .tries = 100,
                                                   .change = count_up,
                                                   .on_done = on_answer,
                                                   .arg = probe,
                                               });
    }
}

static int on_object(void *arg, yyjson_val *object)
{
    struct probe *probe = arg;
    struct kube_meta meta;
    yyjson_mut_doc *doc = line_of("item");

    (void)kube_meta_read(object, &meta);
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "name", meta.name);
    probe->counted++;
    if (probe->times > 1)
        yyjson_mut_doc_free(doc);
    else
        say(doc);
    return 0;
}

static void on_left_out(void *arg, const struct err *err)
{
    (void)arg;
    say_problem(err, 0);
}

static void on_listed(void *arg, const struct kube_answer *answer, const char *resource_version)
{
    struct probe *probe = arg;
    yyjson_mut_doc *doc = line_of("listed");

    (void)yyjson_mut_obj_add_int(doc, doc->root, "code", answer->err.code);
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "text", answer->err.code ? answer->err.text : "");
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "version", resource_version);
    (void)yyjson_mut_obj_add_uint(doc, doc->root, "count", probe->counted);
    say(doc);
    probe->failed += answer->err.code < 0;
    done_one(probe);
}

static void do_list(struct probe *probe)
{
    probe->waiting++;
    (void)kube_list_start(probe->client, &(struct kube_list_request){
                                             .resource = resource_of(argument(probe, 0)),
                                             .namespace = argument(probe, 1),
                                             .label_selector = probe->label_selector,
                                             .field_selector = probe->field_selector,
                                             .page_size = (uint32_t)probe->page,
                                             .is_metadata_only = probe->metadata > 0,
                                             .on_object = on_object,
                                             .on_problem = on_left_out,
                                             .on_done = on_listed,
                                             .arg = probe,
                                         });
}

static void on_event(void *arg, const struct follow_event *event)
{
    static const char *const names[] = {"added", "changed", "deleted"};
    yyjson_mut_doc *doc = line_of(names[event->change]);

    (void)arg;
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "namespace", event->namespace);
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "name", event->name);
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "uid", event->uid);
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "version", kube_text(event->object, "metadata", "resourceVersion"));
    (void)yyjson_mut_obj_add_bool(doc, doc->root, "object", event->object != NULL);
    say(doc);
}

static void on_synced(void *arg, bool is_first)
{
    struct probe *probe = arg;
    yyjson_mut_doc *doc = line_of("synced");

    (void)yyjson_mut_obj_add_bool(doc, doc->root, "first", is_first);
    (void)yyjson_mut_obj_add_uint(doc, doc->root, "len", follower_len(probe->follower));
    (void)yyjson_mut_obj_add_uint(doc, doc->root, "bytes", follower_bytes(probe->follower));
    (void)yyjson_mut_obj_add_uint(doc, doc->root, "lists", follower_lists(probe->follower));
    say(doc);
}

static void on_follow_problem(void *arg, const struct err *err, nsec_t wait)
{
    (void)arg;
    say_problem(err, wait);
}

static void on_standing(void *arg, enum follow_standing standing)
{
    static const char *const names[] = {"current", "renewing", "cut"};
    yyjson_mut_doc *doc = line_of("standing");

    (void)arg;
    (void)yyjson_mut_obj_add_str(doc, doc->root, "standing", names[standing]);
    say(doc);
}

static void on_older(void *arg, const char *seen, const char *now)
{
    yyjson_mut_doc *doc = line_of("older");

    (void)arg;
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "seen", seen);
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "now", now);
    say(doc);
}

static void do_follow(struct probe *probe)
{
    probe->waiting++;
    probe->follower = follower_new(
        probe->client, &(struct follow_options){
                           .resource = resource_of(argument(probe, 0)),
                           .namespace = argument(probe, 1),
                           .label_selector = probe->label_selector,
                           .field_selector = probe->field_selector,
                           .page_size = (uint32_t)probe->page,
                           .streams_lists = probe->streams > 0,
                           .watch_s = (uint32_t)probe->watch_s,
                           .is_metadata_only = probe->metadata > 0,
                           .backoff_first = (nsec_t)(probe->backoff_ms > 0 ? probe->backoff_ms : 20) * NSEC_PER_MSEC,
                           .backoff_max = (nsec_t)(probe->backoff_ms > 0 ? probe->backoff_ms : 500) * NSEC_PER_MSEC,
                           .on_event = on_event,
                           .on_synced = on_synced,
                           .on_problem = on_follow_problem,
                           .on_standing = on_standing,
                           .on_older = on_older,
                           .arg = probe,
                       });
}

static void on_held(void *arg)
{
    (void)arg;
    say(line_of("held"));
}

static void on_lost(void *arg, const struct err *err)
{
    struct probe *probe = arg;
    yyjson_mut_doc *doc = line_of("lost");

    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "text", err->text);
    say(doc);
    loop_stop(probe->loop);
}

static void on_leader(void *arg, const char *identity)
{
    yyjson_mut_doc *doc = line_of("leader");

    (void)arg;
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "identity", identity);
    say(doc);
}

static void on_lease_problem(void *arg, const struct err *err)
{
    (void)arg;
    say_problem(err, 0);
}

static void do_lease(struct probe *probe)
{
    nsec_t period = (nsec_t)(probe->retry_ms > 0 ? probe->retry_ms : 2000) * NSEC_PER_MSEC;

    probe->waiting++;
    probe->lease = lease_new(probe->client, &(struct lease_options){
                                                .namespace = argument(probe, 0),
                                                .name = argument(probe, 1),
                                                .identity = argument(probe, 2),
                                                .duration = 6 * period,
                                                .renew_deadline = 4 * period,
                                                .retry_period = period,
                                                .on_held = on_held,
                                                .on_lost = on_lost,
                                                .on_leader = on_leader,
                                                .on_problem = on_lease_problem,
                                                .arg = probe,
                                            });
}

static void look_at_events(void *arg)
{
    struct probe *probe = arg;

    if (recorder_waiting(probe->recorder) > 0) {
        loop_timer_start(&probe->timer, 5 * NSEC_PER_MSEC);
        return;
    }
    struct recorder_counts counts = recorder_counts(probe->recorder);
    yyjson_mut_doc *doc = line_of("recorded");

    (void)yyjson_mut_obj_add_uint(doc, doc->root, "recorded", counts.recorded);
    (void)yyjson_mut_obj_add_uint(doc, doc->root, "written", counts.written);
    (void)yyjson_mut_obj_add_uint(doc, doc->root, "spared", counts.spared);
    (void)yyjson_mut_obj_add_uint(doc, doc->root, "quieted", counts.quieted);
    (void)yyjson_mut_obj_add_uint(doc, doc->root, "failed", counts.failed);
    say(doc);
    done_one(probe);
}

static void do_event(struct probe *probe)
{
    probe->waiting++;
    probe->recorder = recorder_new(probe->client, &(struct recorder_options){.component = "probe"});
    for (int i = 0; i < probe->times; i++) {
        char message[256];

        /* A per cent sign in the message makes each one different. */
        (void)snprintf(message, sizeof message, "%s", argument(probe, 3));
        char *mark = strchr(message, '%');
        if (mark)
            (void)snprintf(mark, sizeof message - (size_t)(mark - message), "%d", i);
        recorder_record(probe->recorder, &(struct event){
                                             .api_version = "v1",
                                             .kind = "Pod",
                                             .namespace = argument(probe, 0),
                                             .name = argument(probe, 1),
                                             .uid = "uid",
                                             .type = "Normal",
                                             .reason = argument(probe, 2),
                                             .message = message,
                                         });
    }
    loop_timer_init(&probe->timer, probe->loop, look_at_events, probe);
    loop_timer_start(&probe->timer, 0);
}

static void on_found(void *arg, const struct kube_resource *resource, const struct err *err)
{
    struct probe *probe = arg;
    yyjson_mut_doc *doc = line_of("found");

    (void)yyjson_mut_obj_add_int(doc, doc->root, "code", err->code);
    (void)yyjson_mut_obj_add_strcpy(doc, doc->root, "plural", resource ? resource->plural : "");
    (void)yyjson_mut_obj_add_bool(doc, doc->root, "namespaced", resource && resource->is_namespaced);
    say(doc);
    done_one(probe);
}

static void do_discover(struct probe *probe)
{
    probe->discovery = discovery_new(probe->client);
    for (int i = 0; i + 1 < probe->argument_count; i += 2) {
        probe->waiting++;
        discovery_find(probe->discovery, argument(probe, i), argument(probe, i + 1), on_found, probe);
    }
}

/* Binds pods p-0, p-1, ... to one node, as many at once as the client lets through. */
static void on_bound(void *arg, const struct kube_answer *answer)
{
    struct probe *probe = arg;

    probe->counted += answer->err.code == 0;
    probe->failed += answer->err.code < 0;
    if (answer->err.code < 0)
        say_problem(&answer->err, 0);
    done_one(probe);
}

static void do_bind_many(struct probe *probe)
{
    for (int i = 0; i < probe->times; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "p-%d", i);
        probe->waiting++;
        (void)kube_bind_start(probe->client, &(struct kube_bind_request){
                                                 .namespace = argument(probe, 0),
                                                 .pod = name,
                                                 .node = argument(probe, 1),
                                                 .on_done = on_bound,
                                                 .arg = probe,
                                             });
    }
}

static const struct {
    const char *name;
    void (*run)(struct probe *probe);
} commands[] = {
    {"get", do_get},         {"create", do_create},       {"merge", do_merge},     {"strategic", do_strategic},
    {"json", do_json_patch}, {"apply", do_apply},         {"version", do_version}, {"delete", do_delete},
    {"remove", do_remove},   {"evict", do_evict},         {"bind", do_bind},       {"modify", do_modify},
    {"list", do_list},       {"bind-many", do_bind_many}, {"follow", do_follow},   {"lease", do_lease},
    {"event", do_event},     {"discover", do_discover},
};

static void on_released(void *arg)
{
    struct probe *probe = arg;

    say(line_of("released"));
    loop_stop(probe->loop);
}

static void on_signal(void *arg, int number)
{
    struct probe *probe = arg;

    (void)number;
    if (probe->lease) {
        lease_release(TAKE_PTR(probe->lease), on_released, probe);
        probe->is_releasing = true;
    } else if (!probe->is_releasing) {
        loop_stop(probe->loop);
    }
}

/* Reads the options before the command; returns where that is. */
static int read_options(struct probe *probe, int argc, char **argv)
{
    const struct {
        const char *name;
        double *number;
        const char **text;
    } options[] = {
        {"--qps", &probe->qps, NULL},
        {"--burst", &probe->burst, NULL},
        {"--page", &probe->page, NULL},
        {"--timeout-ms", &probe->timeout_ms, NULL},
        {"--times", &probe->times, NULL},
        {"--watch-s", &probe->watch_s, NULL},
        {"--backoff-ms", &probe->backoff_ms, NULL},
        {"--streams", &probe->streams, NULL},
        {"--retry-ms", &probe->retry_ms, NULL},
        {"--grace", &probe->grace_s, NULL},
        {"--metadata", &probe->metadata, NULL},
        {"--context", NULL, &probe->context},
        {"--labels", NULL, &probe->label_selector},
        {"--body", NULL, &probe->body},
        {"--fields", NULL, &probe->field_selector},
    };
    int at = 2;

    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        for (size_t i = 0; i < ARRAY_LEN(options); i++) {
            if (strcmp(options[i].name, argv[at]) != 0)
                continue;
            if (options[i].number)
                *options[i].number = strtod(argv[at + 1], NULL);
            else
                *options[i].text = argv[at + 1];
        }
    }
    return at;
}

static int run_command(struct probe *probe)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].name, probe->command) != 0)
            continue;
        commands[i].run(probe);
        loop_run(probe->loop);
        return probe->failed ? 1 : 0;
    }
    (void)fprintf(stderr, "no command named %s\n", probe->command);
    return 2;
}

int main(int argc, char **argv)
{
    struct probe probe = {.times = 1, .grace_s = -1};
    struct kube_config *config = NULL;
    struct err err = {0};
    int at = read_options(&probe, argc, argv);

    if (at >= argc) {
        (void)fprintf(stderr, "usage: kube-probe KUBECONFIG [--OPTION VALUE]... COMMAND ARGUMENT...\n");
        return 2;
    }
    if (kube_config_load(argv[1], probe.context, &config, &err) < 0) {
        say_problem(&err, 0);
        return 1;
    }
    probe.command = argv[at];
    probe.arguments = argv + at + 1;
    probe.argument_count = argc - at - 1;
    probe.loop = loop_new();
    probe.client = kube_client_new(probe.loop, config,
                                   &(struct kube_client_options){
                                       .qps = probe.qps,
                                       .burst = probe.burst,
                                       .timeout = (nsec_t)probe.timeout_ms * NSEC_PER_MSEC,
                                       .user_agent = "kube-probe",
                                   });
    if (loop_on_signal(probe.loop, SIGTERM, on_signal, &probe, &err) < 0)
        return 2;
    int status = run_command(&probe);

    follower_free(probe.follower);
    lease_free(probe.lease);
    recorder_free(probe.recorder);
    discovery_free(probe.discovery);
    loop_timer_done(&probe.timer);
    kube_client_free(probe.client);
    loop_free(probe.loop);
    return status;
}
