/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The service: what it is told, what it follows, how it ends.
 *
 * Nothing is followed before we lead, so that what is known is never older than what the last leader did. Requests are
 * listed before pods: a request that was not done when it was listed keeps the GPUs that its pod, listed later, may use.
 */
#include "services/binder/binder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "kube/client/resource.h"
#include "kube/follow/follow.h"
#include "objects/keys.h"
#include "services/binder/binder_internal.h"
#include "services/binder/meters.h"

/* How often to look whether everything can be listed anew. */
#define RENEWAL_STEP (20 * NSEC_PER_MSEC)

#define AT(member) FLAG_AT(struct binder_flags, member)

static const struct flag flags[] = {
    {"scheduler-name", FLAG_STRING, AT(scheduler_name), KEY_SCHEDULER_NAME, "manage pods with this spec.schedulerName",
     0, 0},
    {"resource-reservation-namespace", FLAG_STRING, AT(reservation_namespace), KEY_RESERVATION_NAMESPACE,
     "namespace of reservation pods", 0, 0},
    {"resource-reservation-service-account", FLAG_STRING, AT(reservation_service_account), "kai-resource-reservation",
     "service account of reservation pods", 0, 0},
    {"resource-reservation-pod-image", FLAG_STRING, AT(reservation_image), "muster:latest",
     "image of reservation pods, which holds the program muster", 0, 0},
    {"resource-reservation-app-label", FLAG_STRING, AT(reservation_app_label), KEY_APP_RESERVATION,
     "label 'app' of reservation pods", 0, 0},
    {"resource-reservation-allocation-timeout", FLAG_INT, AT(reservation_timeout_s), "40",
     "seconds to wait until a reservation pod reports its GPU", 1, 3600},
    {"resource-reservation-pod-resources", FLAG_JSON, AT(reservation_resources), "",
     "resources of reservation pods besides the GPU, as JSON", 0, 0},
    {"resource-reservation-pod-security-context", FLAG_JSON, AT(reservation_pod_security), "",
     "security context of reservation pods, as JSON", 0, 0},
    {"resource-reservation-container-security-context", FLAG_JSON, AT(reservation_container_security), "",
     "security context of the container of reservation pods, as JSON", 0, 0},
    {"runtime-class-name", FLAG_STRING, AT(runtime_class), "", "runtime class of reservation pods (empty: none)", 0, 0},
    {"scale-adjust-namespace", FLAG_STRING, AT(scaling_namespace), "kai-scale-adjust",
     "reserve no GPU while pods here wait for new nodes", 0, 0},
    {"max-concurrent-reconciles", FLAG_INT, AT(reconciles_max), "10", "requests processed at the same time", 1, 10000},
    {"rate-limiter-base-delay", FLAG_INT, AT(retry_first_s), "1",
     "first delay in seconds before a result that could not be written is retried", 1, 3600},
    {"rate-limiter-max-delay", FLAG_INT, AT(retry_max_s), "60", "longest delay in seconds; it doubles with each retry",
     1, 86400},
    {"fake-gpu-nodes", FLAG_BOOL, AT(has_fake_gpus), "false",
     "fake GPUs: reservation pods only sleep, another component reports them", 0, 0},
    {"gpu-fence", FLAG_BOOL, AT(has_fences), "false", "isolate pods with a fraction of a GPU (docs/gpu-sharing.md)", 0,
     0},
    {"plugins", FLAG_STRING, AT(plugins), "", "plugins as JSON, by name: enabled, priority, arguments (docs/binder.md)",
     0, 0},
    {"feature-gates", FLAG_IGNORED, 0, "", "accepted and ignored", 0, 0},
};

/* Nodes. */

const struct node_entry *binder_node(const struct binder *binder, const char *name)
{
    return strmap_get(&binder->nodes, "", name);
}

static void node_free(struct node_entry *node)
{
    if (!node)
        return;
    free(node->name);
    free(node->gpu_mib);
    free(node);
}

static void on_node(void *arg, const struct follow_event *event)
{
    struct binder *binder = arg;

    node_free(strmap_remove(&binder->nodes, "", event->name));
    if (event->change == FOLLOW_DELETED)
        return;
    struct node_entry *node = xcalloc(1, sizeof *node);

    *node = (struct node_entry){
        .name = xstrdup(event->name),
        .gpu_mib = xstrdup(label_of(event->object, KEY_NODE_GPU_MEMORY)),
    };
    (void)strmap_put(&binder->nodes, "", node->name, node);
}

static void nodes_done(struct binder *binder)
{
    struct node_entry *node;

    for (size_t cursor = 0; (node = strmap_next(&binder->nodes, &cursor));)
        node_free(node);
    strmap_done(&binder->nodes);
}

/* Pods. */

static void react(struct binder *binder, struct roster_change *change)
{
    vec_foreach (&change->groups, id) {
        if (change->is_reservation)
            binder_seat_changed(binder, *id);
        binder_sync_group(binder, *id);
    }
    roster_change_done(change);
}

void binder_pod_seen(struct binder *binder, yyjson_val *pod)
{
    struct roster_change change = {0};
    const struct roster_pod *known = roster_put(&binder->roster, pod, &change);

    if (known && known->is_on_its_way)
        rush_note(&binder->rush, nsec_now_monotonic());
    react(binder, &change);
}

static void on_pod(void *arg, const struct follow_event *event)
{
    struct binder *binder = arg;
    struct roster_change change = {0};

    if (event->change != FOLLOW_DELETED) {
        binder_pod_seen(binder, event->object);
        return;
    }
    roster_remove(&binder->roster, event->namespace, event->name, event->uid, &change);
    react(binder, &change);
}

static void on_request(void *arg, const struct follow_event *event)
{
    struct binder *binder = arg;

    if (event->change == FOLLOW_DELETED)
        binder_request_gone(binder, event->namespace, event->name);
    else
        binder_request_seen(binder, event->object);
}

/* Watches that are cut, and servers that show an older state. */

bool binder_is_held(const struct binder *binder)
{
    return (binder->pause.is_paused || binder->is_renewing) && !binder->is_stopping;
}

static bool is_behind(void *arg)
{
    const struct binder *binder = arg;

    return binder->is_ready && (follower_standing(binder->follow_requests) != FOLLOW_CURRENT ||
                                follower_standing(binder->follow_pods) != FOLLOW_CURRENT);
}

static void on_pause(void *arg, bool is_paused)
{
    struct binder *binder = arg;

    binder->pauses += is_paused;
    if (is_paused || binder->is_renewing)
        return;
    binder_sync_all(binder);
    binder_resume_jobs(binder);
    loop_task_queue(&binder->pump);
}

static void on_standing(void *arg, enum follow_standing standing)
{
    struct binder *binder = arg;

    if (standing == FOLLOW_CUT && binder->is_ready && !binder->pause.is_paused)
        log_info(binder->log, "a watch is interrupted; binding pauses until it resumes");
    follow_pause_look(&binder->pause);
}

static void on_older(void *arg, const char *seen, const char *now)
{
    struct binder *binder = arg;

    log_fail(binder->log,
             "the API server shows an older state than before: it was restored from a backup, or a cache is stale; "
             "all objects are listed again",
             log_str("seen", seen), log_str("now", now));
    binder->is_renewing = true;
    if (!loop_timer_is_running(&binder->renewal))
        loop_timer_start(&binder->renewal, 0);
}

static void on_problem_requests(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((struct binder *)arg)->service, "BindRequest", err, wait);
}

static void on_problem_pods(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((struct binder *)arg)->service, "Pod", err, wait);
}

static void on_problem_nodes(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((struct binder *)arg)->service, "Node", err, wait);
}

static void on_pods_synced(void *arg, bool is_first)
{
    struct binder *binder = arg;

    if (!is_first)
        return;
    binder->is_ready = true;
    service_set_ready(binder->service, true);
    log_info(binder->log, "all objects have been listed", log_int("requests", (int64_t)binder->items.len),
             log_int("known_pods", (int64_t)binder->roster.pods),
             log_int("gpu_groups", (int64_t)binder->roster.groups));
    binder_sync_all(binder);
    binder_free_strays(binder);
    loop_task_queue(&binder->pump);
}

static void on_requests_synced(void *arg, bool is_first)
{
    struct binder *binder = arg;

    if (!is_first)
        return;
    binder->follow_pods =
        follower_new(binder->client, &(struct follow_options){
                                         .resource = kube_known(KUBE_PODS),
                                         .field_selector = "status.phase!=Succeeded,status.phase!=Failed",
                                         .on_event = on_pod,
                                         .on_synced = on_pods_synced,
                                         .on_problem = on_problem_pods,
                                         .on_standing = on_standing,
                                         .on_older = on_older,
                                         .arg = binder,
                                     });
}

/* The run. */

static void init_known(struct binder *binder)
{
    const struct binder_flags *values = binder->flags;

    roster_init(&binder->roster, values->reservation_namespace, values->scaling_namespace, values->scheduler_name);
    items_init(&binder->items);
    strmap_init(&binder->nodes);
}

/* Ends what goes on because of what is known, and forgets it. */
static void forget_known(struct binder *binder)
{
    follower_free(TAKE_PTR(binder->follow_requests));
    follower_free(TAKE_PTR(binder->follow_pods));
    follower_free(TAKE_PTR(binder->follow_nodes));
    binder_seats_drop(binder);
    binder_checks_drop(binder);
    binder_strays_drop(binder);
    items_done(&binder->items);
    roster_done(&binder->roster);
    nodes_done(binder);
}

static void binder_lead(struct service *service);

/* As after a start: nothing that was known counts any more, not even what the server has confirmed. */
static void renew(void *arg)
{
    struct binder *binder = arg;

    /* What becomes of a bind under way has to be known first. */
    if (binder_is_binding(binder)) {
        loop_timer_start(&binder->renewal, RENEWAL_STEP);
        return;
    }
    service_set_ready(binder->service, false);
    forget_known(binder);
    init_known(binder);
    binder->is_ready = binder->is_renewing = false;
    follow_pause_clear(&binder->pause);
    binder_lead(binder->service);
}

static int binder_configure(struct service *service, struct err *err)
{
    const struct binder_flags *values = service->values;
    struct plugin_options plugins;
    const struct {
        const char *name;
        yyjson_doc *doc;
    } objects[] = {
        {"resource-reservation-pod-resources", values->reservation_resources},
        {"resource-reservation-pod-security-context", values->reservation_pod_security},
        {"resource-reservation-container-security-context", values->reservation_container_security},
    };

    for (size_t i = 0; i < ARRAY_LEN(objects); i++)
        if (objects[i].doc && !yyjson_is_obj(yyjson_doc_get_root(objects[i].doc)))
            return err_set(err, -EINVAL, "--%s: expected a JSON object", objects[i].name);
    service->settings.lease_name = "2ad35f9c.kai.scheduler";
    service->settings.component = "binder";
    int r = plugin_options_parse(values->plugins, &plugins, err);

    /* A name of CDI beside ids that are none would be taken for an id. */
    if (r >= 0 && values->has_fences && !(plugins.is_enabled[BINDER_PLUGIN_SHARING] && plugins.is_cdi))
        return err_set(err, -EINVAL,
                       "--gpu-fence: needs the plugin gpusharing with CDI: "
                       "--plugins='{\"gpusharing\": {\"arguments\": {\"cdiEnabled\": \"true\"}}}'");
    return r;
}

static int binder_open(struct service *service, struct err *err)
{
    const struct binder_flags *values = service->values;
    struct binder *binder = xcalloc(1, sizeof *binder);

    *binder = (struct binder){
        .service = service,
        .loop = service->loop,
        .client = service->client,
        .log = service->log,
        .recorder = service->recorder,
        .flags = values,
        .reservation =
            {
                .namespace = values->reservation_namespace,
                .service_account = values->reservation_service_account,
                .image = values->reservation_image,
                .app_label = values->reservation_app_label,
                .runtime_class = values->runtime_class,
                .timeout = values->reservation_timeout_s * NSEC_PER_SEC,
                .is_fake = values->has_fake_gpus,
                .resources = values->reservation_resources,
                .pod_security = values->reservation_pod_security,
                .container_security = values->reservation_container_security,
            },
    };
    int r = plugin_options_parse(values->plugins, &binder->plugins, err);
    if (r < 0) {
        free(binder);
        return r;
    }
    attempts_init(&binder->attempts, binder->client);
    init_known(binder);
    binder->pause = (struct follow_pause){.is_behind = is_behind, .on_change = on_pause, .arg = binder};
    follow_pause_init(&binder->pause, binder->loop);
    loop_timer_init(&binder->renewal, binder->loop, renew, binder);
    binder_groups_init(binder);
    loop_task_init(&binder->pump, binder->loop, binder_pump, binder);
    loop_timer_init(&binder->later_timer, binder->loop, binder_pump, binder);
    binder->meters = meters_new(binder);
    service->state = binder;
    /* Without a lease to wait for, it is ready when it has seen everything. */
    service_set_ready(service, service->settings.wants_lease);
    return 0;
}

static void binder_lead(struct service *service)
{
    struct binder *binder = service->state;

    binder->follow_nodes = follower_new(binder->client, &(struct follow_options){
                                                            .resource = kube_known(KUBE_NODES),
                                                            .is_metadata_only = true,
                                                            .on_event = on_node,
                                                            .on_problem = on_problem_nodes,
                                                            .arg = binder,
                                                        });
    binder->follow_requests = follower_new(binder->client, &(struct follow_options){
                                                               .resource = kube_known(KUBE_BIND_REQUESTS),
                                                               .on_event = on_request,
                                                               .on_synced = on_requests_synced,
                                                               .on_problem = on_problem_requests,
                                                               .on_standing = on_standing,
                                                               .on_older = on_older,
                                                               .arg = binder,
                                                           });
}

void binder_check_stopped(void *arg)
{
    struct binder *binder = arg;

    if (binder->is_stopping && binder->items.running == binder->items.stuck && binder->attempts.under_way.len == 0)
        service_stopped(binder->service);
}

static void binder_stop(struct service *service)
{
    struct binder *binder = service->state;

    binder->is_stopping = true;
    binder_resume_jobs(binder);
    binder_pump(binder);
}

static void binder_close(struct service *service)
{
    struct binder *binder = service->state;

    loop_task_cancel(&binder->pump);
    loop_timer_done(&binder->later_timer);
    loop_timer_done(&binder->renewal);
    loop_timer_done(&binder->groups_timer);
    follow_pause_done(&binder->pause);
    forget_known(binder);
    attempts_done(&binder->attempts);
    meters_free(binder->meters);
    free(binder);
}

const struct service_kind binder_service = {
    .name = "binder",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct binder_flags),
    .has_api = true,
    .can_elect = true,
    .configure = binder_configure,
    .open = binder_open,
    .lead = binder_lead,
    .stop = binder_stop,
    .close = binder_close,
};
