/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One look at everything: what the Config and the shards stand for is compared with what is there. All of it is a few
 * dozen objects, so nothing is remembered from one look to the next but what was last written.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "services/operator/conf.h"
#include "services/operator/merge.h"
#include "services/operator/operator_internal.h"

#define LOOK_MAX (600 * NSEC_PER_SEC)

static yyjson_val *spec_of(const struct source *source)
{
    return conf_at(yyjson_doc_get_root(source->doc), "spec");
}

static struct leader find_leader(const struct operator* operator, const struct source * shard)
{
    char lease[LEASE_NAME_MAX];
    char pod_name[256] = "";

    if (!shard_lease(spec_of(operator->config), spec_of(shard), lease))
        return (struct leader){0};
    const struct lease_holder *holder = strmap_get(&operator->leases, "", lease);

    /* "<pod>_<uuid>" */
    if (holder)
        (void)snprintf(pod_name, sizeof pod_name, "%.*s", (int)strcspn(holder->holder, "_"), holder->holder);
    const struct pod_place *pod = strmap_get(&operator->pods, "", pod_name);

    if (!pod || pod->is_going || !pod->address[0])
        return (struct leader){0};
    return (struct leader){.pod = pod->name, .uid = pod->uid, .address = pod->address};
}

static bool shard_wants_numa(const struct source *shard)
{
    return conf_bool(spec_of(shard), "plugins.numa.enabled", false);
}

static bool shard_always_requests(const struct source *shard)
{
    return strcmp(conf_text(spec_of(shard), "args.bind-requests", ""), "always") == 0;
}

static bool is_ours(const struct operator* operator, const struct owned * owned)
{
    bool is_found = owned->owner[0] && strcmp(owned->owner, operator->config->uid) == 0;

    vec_foreach (&operator->shards, shard)
        is_found = is_found || (owned->owner[0] && strcmp(owned->owner, (*shard)->uid) == 0);
    return is_found;
}

static struct prometheus_seen see_prometheus(const struct operator* operator)
{
    const struct owned *owned =
        owned_find(operator, OWNED_PROMETHEUS, operator->flags->namespace, prometheus_name(spec_of(operator->config)));

    if (!owned || !owned->is_there || !is_ours(operator, owned))
        return (struct prometheus_seen){0};
    return (struct prometheus_seen){
        .is_there = true, .switched_off = owned->switched_off, .retention = owned->retention};
}

static void look_around(struct operator* operator)
{
    struct surroundings *around = &operator->around;

    around->now = nsec_now_wall();
    around->prometheus = see_prometheus(operator);
    around->has_fake_gpus = operator->fake_nodes> 0;
    around->has_cdi = operator->cdi_policies.len> 0;
    around->has_numa_shard = around->has_request_shard = false;
    vec_foreach (&operator->shards, shard) {
        around->has_numa_shard |= shard_wants_numa(*shard);
        around->has_request_shard |= shard_always_requests(*shard);
    }
}

/* It stands for a service in this process. */
static bool is_hosted(const struct operator* operator, const struct owned * owned)
{
    return operator->is_hosting && owned->kind == OWNED_DEPLOYMENT;
}

static void want(struct operator* operator, struct source * source)
{
    vec_foreach (&source->desired.objects, wanted) {
        struct owned *owned = owned_get(operator, wanted->kind, wanted->namespace, wanted->name);

        owned->source = source;
        owned->operand = wanted->operand;
        owned->object = wanted->object;
        owned->wanted = digest_wanted(is_hosted(operator, owned) ? hosting_args(wanted->object) : wanted->object);
    }
}

static void report_problem(struct operator* operator, struct source * source, const struct err *err)
{
    if (err->code < 0 && strcmp(err->text, source->err.text) != 0)
        log_warn(operator->service->log, "settings cannot be applied", log_str("object", source->name), log_error(err));
}

static void derive(struct operator* operator, struct source * source)
{
    yyjson_val *config = spec_of(operator->config);
    struct err err = {0};
    int r;

    desired_done(&source->desired);
    desired_init(&source->desired);
    if (source->is_config) {
        r = desired_for_config(&source->desired, config, &operator->around, &err);
    } else {
        const struct shard shard = {
            .name = source->name, .object = yyjson_doc_get_root(source->doc), .leader = find_leader(operator, source)};

        r = desired_for_shard(&source->desired, &shard, config, &operator->around, &err);
    }
    report_problem(operator, source, &err);
    source->err = err;
    if (r >= 0)
        want(operator, source);
}

static void derive_all(struct operator* operator)
{
    struct owned *owned;

    for (size_t kind = 0; kind < _OWNED_KIND_MAX; kind++)
        for (size_t cursor = 0; (owned = strmap_next(&operator->owned[kind], &cursor));) {
            owned->source = NULL;
            owned->object = NULL;
        }
    derive(operator, operator->config);
    /* Without a Config that makes sense nobody knows where shards belong. */
    vec_foreach (&operator->shards, shard)
        if (operator->config->err.code == 0)
            derive(operator, * shard);
        else
            (*shard)->err = operator->config->err;
}

static bool has_problem(const struct operator* operator)
{
    bool is_bad = operator->config->err.code<0;

    vec_foreach (&operator->shards, shard)
        is_bad = is_bad || (*shard)->err.code < 0;
    return is_bad;
}

static bool is_as_wanted(const struct operator* operator, const struct owned * owned)
{
    return owned->is_there && owned->done_wanted == owned->wanted && owned->done_seen == owned->seen &&
           strcmp(owned->owner, operator->config->uid) == 0;
}

static bool is_running(const struct operator* operator, size_t operand)
{
    struct owned *owned;

    for (size_t cursor = 0; (owned = strmap_next(&operator->owned[OWNED_DEPLOYMENT], &cursor));)
        if (owned->operand == operand && owned->is_there && owned->is_available)
            return true;
    return false;
}

/*
 * Of several replicas that run the services themselves, those that do not lead run what all of them run. Webhooks are asked
 * for from the moment they are written, and refuse what nobody answers for.
 */
static bool may_settle(const struct operator* operator, const struct owned * owned)
{
    if (is_hosted(operator, owned) && operand_is_shared(owned->operand))
        return true;
    return service_is_leading(operator->service) &&
           (!operator->is_hosting || is_hosted(operator, owned) || !owned->source || operand_is_apart(owned->operand) ||
            is_running(operator, owned->operand));
}

/* Does what has to be done about one object. */
static void settle(struct operator* operator, struct owned * owned, bool may_delete, nsec_t now, nsec_t *next)
{
    if (owned->write || (owned->source && is_as_wanted(operator, owned)) || !may_settle(operator, owned))
        return;
    if (!owned->source && !(may_delete && owned->is_there && is_ours(operator, owned)))
        return;
    if (owned->due > now) {
        *next = *next == 0 || owned->due < *next ? owned->due : *next;
        return;
    }
    if (is_hosted(operator, owned))
        hosting_settle(operator, owned);
    else if (owned->source)
        owned_write(operator, owned);
    else
        owned_remove(operator, owned);
}

static void settle_all(struct operator* operator)
{
    bool may_delete = !has_problem(operator);
    nsec_t now = nsec_now_monotonic();
    nsec_t next = 0;
    struct owned *owned;

    for (size_t kind = 0; kind < _OWNED_KIND_MAX; kind++)
        for (size_t cursor = 0; (owned = strmap_next(&operator->owned[kind], &cursor));)
            settle(operator, owned, may_delete, now, &next);
    nsec_t ends = prometheus_ends(&operator->around.prometheus);

    /* By the wall clock, which may be set meanwhile. */
    if (ends > operator->around.now) {
        nsec_t look = now + MIN(ends - operator->around.now, LOOK_MAX);

        next = next == 0 || look < next ? look : next;
    }
    if (next)
        loop_timer_start(&operator->later, next - now);
}

static bool is_busy(const struct operator* operator, const struct source * source)
{
    struct owned *owned;

    for (size_t kind = 0; kind < _OWNED_KIND_MAX; kind++)
        for (size_t cursor = 0; (owned = strmap_next(&operator->owned[kind], &cursor));)
            if (owned->source == source && !is_as_wanted(operator, owned))
                return true;
    return false;
}

static bool is_installed(const struct operator* operator)
{
    return service_is_leading(operator->service) && install_is_done(operator->install);
}

/*
 * Ready is who has run once what it has to: others must not wait for a service that starts anew. Of several replicas this
 * is what all of them run: API servers reach the webhooks of a replica that is ready alone, which do not need the services
 * that it starts because it leads.
 */
static bool counts_for_readiness(const struct operator* operator, const struct owned * owned)
{
    return operator->service->settings.wants_lease ? operand_is_shared(owned->operand) : may_settle(operator, owned);
}

static void look_whether_all_run(struct operator* operator)
{
    struct owned *owned;

    for (size_t cursor = 0; (owned = strmap_next(&operator->owned[OWNED_DEPLOYMENT], &cursor));) {
        if (owned->source && counts_for_readiness(operator, owned) && !(owned->is_there && owned->is_available))
            return;
    }
    service_set_ready(operator->service, true);
}

static void report(struct operator* operator, struct source * source)
{
    if (!source->is_assumed && service_is_leading(operator->service))
        operator_report(operator, source, is_busy(operator, source));
}

void operator_reconcile(void *arg)
{
    struct operator* operator= arg;

    if (operator->is_stopping || !(operator->is_hosting || is_installed(operator)) || !watches_are_synced(operator))
        return;
    if (operator->is_hosting) {
        hosting_assume(operator);
    } else {
        service_set_ready(operator->service, true);
        /* The values may have come before the Config was looked for. */
        install_check(operator->install);
    }
    if (!operator->config)
        return;
    watches_adapt(operator);
    if (!watches_are_synced(operator))
        return;
    look_around(operator);
    derive_all(operator);
    settle_all(operator);
    report(operator, operator->config);
    vec_foreach (&operator->shards, shard)
        report(operator, * shard);
    if (operator->is_hosting)
        look_whether_all_run(operator);
}
