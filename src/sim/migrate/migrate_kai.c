/* SPDX-License-Identifier: Apache-2.0 */

/* A cluster that KAI Scheduler runs: nearly everything stays; the Config and the SchedulingShards become values. */
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/action.h"
#include "engine/config.h"
#include "objects/kinds.h"
#include "sim/migrate/migrate_internal.h"

enum { LIST_MAX = 4096 };

static bool is_reservation(const struct migration *migration, const struct object *pod)
{
    const char *app = object_label(pod, "app");

    (void)migration;
    return app && strcmp(app, "kai-resource-reservation") == 0;
}

static bool is_of_kai(const struct migration *migration, const struct object *pod)
{
    return strcmp(PATH_TEXT(pod->root.val, "spec", "schedulerName"), "kai-scheduler") == 0 &&
           !is_reservation(migration, pod);
}

static bool is_waiting_request(const struct migration *migration, const struct object *request)
{
    const char *phase = PATH_TEXT(request->root.val, "status", "phase");

    (void)migration;
    return strcmp(phase, "Succeeded") != 0;
}

#define KAI(class_, code_) .system = SYSTEM_KAI, .class = (class_), .code = (code_)
#define SHARD .group = "kai.scheduler", .kind = "SchedulingShard"
#define CONFIG .group = "kai.scheduler", .kind = "Config"
#define POD .group = "", .kind = "Pod"

const struct check kai_checks[] = {
    {KAI(FINDING_SAME, "kai-queues"), .group = "scheduling.run.ai", .kind = "Queue",
     .text = "Queues are used as they are"},
    {KAI(FINDING_SAME, "kai-pod-groups"), .group = "scheduling.run.ai", .kind = "PodGroup",
     .text = "PodGroups are used as they are, and are kept up to date"},
    {KAI(FINDING_SAME, "kai-topologies"), .group = "kai.scheduler", .kind = "Topology",
     .text = "Topologies are used as they are"},
    {KAI(FINDING_SAME, "kai-pods"), POD, .is_so = is_of_kai,
     .text = "pods keep spec.schedulerName kai-scheduler; running ones are left where they are"},
    {KAI(FINDING_SAME, "kai-reservations"), POD, .is_so = is_reservation,
     .text = "reservation pods keep holding the GPUs that pods share"},
    {KAI(FINDING_TODO, "kai-bind-requests"), .group = "scheduling.run.ai", .kind = "BindRequest",
     .is_so = is_waiting_request, .text = "BindRequests are not executed yet",
     .action = "wait until KAI's binder is done with them, or let Muster's binder do it: both read the same requests"},
    {KAI(FINDING_SAME, "kai-shards"), SHARD, .text = "each SchedulingShard gets a scheduler of its own, as before"},
    {KAI(FINDING_UNSUPPORTED, "kai-csi-storage"), SHARD, .path = {"spec", "args", "schedule-csi-storage"},
     .value = "true",
     .text = "schedule-csi-storage has no effect: CSI capacity is always considered, but pods are not evicted for it",
     .action = "none: pods whose volume cannot be provisioned are scheduled again"},
    {KAI(FINDING_CHANGES, "kai-go-memory"), SHARD, .path = {"spec", "goMemLimit"},
     .text = "goMemLimit and goMemLimitRatio are accepted and have no effect: Muster is not written in Go"},
    {KAI(FINDING_CHANGES, "kai-profiler"), SHARD, .path = {"spec", "args", "enable-profiler"}, .value = "true",
     .text = "the profiler's flags are accepted and have no effect; use perf"},
    {KAI(FINDING_CHANGES, "kai-pyroscope"), SHARD, .path = {"spec", "args", "pyroscope-address"},
     .text = "pyroscope's flags are accepted and have no effect"},
    {KAI(FINDING_CHANGES, "kai-autoscaling"), CONFIG, .path = {"spec", "nodeScaleAdjuster", "service", "enabled"},
     .value = "true",
     .text = "with --cluster-autoscaling, pods that only their queue blocks no longer cause an autoscaler to add nodes",
     .action = "set scheduler.args.cluster-autoscaling to \"true\" if you want that"},
};
const size_t kai_check_count = ARRAY_LEN(kai_checks);

/* Names that are members of an object and mean nothing to Muster. */
static void find_unknown(struct migration *migration, const char *code, const char *member, const char *what,
                         bool (*is_known)(const char *name))
{
    const struct object *shard = object_set_first(migration->set, object_kind_of("kai.scheduler", "SchedulingShard"));
    struct strbuf names;
    uint32_t found = 0;

    strbuf_init(&names, LIST_MAX);
    for (; shard; shard = shard->next) {
        size_t i, count;
        yyjson_val *key, *item;

        yyjson_obj_foreach(PATH_GET(shard->root.val, "spec", member), i, count, key, item)
        {
            if (is_known(yyjson_get_str(key)) || path_leads(item, (const char *const[]){"enabled", NULL}, "false"))
                continue;
            strbuf_addf(&names, "%s%s: %s", found++ ? ", " : "", shard->name, yyjson_get_str(key));
        }
    }
    if (found > 0)
        migration_add(migration, &(struct finding){
                                     .system = SYSTEM_KAI,
                                     .class = FINDING_UNSUPPORTED,
                                     .code = code,
                                     .count = found,
                                     .objects = migration_text(migration, "%s", names.text),
                                     .text = what,
                                     .action = "remove it from the SchedulingShard, or write it as a filter, score or "
                                               "order (CONTRIBUTING.md)",
                                 });
    strbuf_done(&names);
}

static bool is_known_plugin(const char *name)
{
    struct config config;

    config_init(&config);
    return config_add_plugin(&config, name, NULL, 0, NULL) >= 0;
}

static bool is_known_action(const char *name)
{
    enum action action;

    return action_find(name, &action);
}

/* Members of the Config, and where the chart has them. */
static const struct moved {
    const char *from[5];
    const char *to[4];
} config_values[] = {
    {{"global", "openshift"}, {"openshift"}},
    {{"global", "securityContext"}, {"global", "securityContext"}},
    {{"global", "nodeSelector"}, {"global", "nodeSelector"}},
    {{"global", "affinity"}, {"global", "affinity"}},
    {{"global", "tolerations"}, {"global", "tolerations"}},
    {{"global", "priorityClassName"}, {"global", "priorityClassName"}},
    {{"global", "requireDefaultPodAntiAffinityTerm"}, {"global", "requireDefaultPodAntiAffinityTerm"}},
    {{"global", "namespaceLabelSelector"}, {"global", "namespaceLabelSelector"}},
    {{"global", "podLabelSelector"}, {"global", "podLabelSelector"}},
    {{"global", "nodePoolLabelKey"}, {"global", "nodePoolLabelKey"}},
    {{"global", "jsonLog"}, {"global", "jsonLog"}},
    {{"global", "vpa"}, {"global", "vpa"}},
    {{"global", "replicaCount"}, {"operator", "replicaCount"}},
    {{"global", "queueLabelKey"}, {"podgrouper", "queueLabelKey"}},
    {{"admission", "gpuSharing"}, {"global", "gpuSharing"}},
    {{"admission", "blockNvidiaVisibleDevices"}, {"global", "blockNvidiaVisibleDevices"}},
    {{"admission", "gpuFractionRuntimeClassName"}, {"admission", "gpuFractionRuntimeClassName"}},
    {{"nodeScaleAdjuster", "service", "enabled"}, {"global", "clusterAutoscaling"}},
    {{"podGrouper", "service", "resources"}, {"podgrouper", "resources"}},
    {{"podGrouper", "args", "genericKartaFallback"}, {"podgrouper", "genericKartaFallback"}},
    {{"binder", "service", "resources"}, {"binder", "resources"}},
    {{"binder", "plugins"}, {"binder", "plugins"}},
    {{"binder", "cdiEnabled"}, {"binder", "cdiEnabled"}},
    {{"binder", "resourceReservation", "runtimeClassName"}, {"binder", "runtimeClassName"}},
    {{"binder", "resourceReservation", "podResources"}, {"binder", "resourceReservationPodResources"}},
    {{"binder", "resourceReservation", "namespace"}, {"global", "resourceReservation", "namespace"}},
    {{"binder", "resourceReservation", "serviceAccountName"}, {"global", "resourceReservation", "serviceAccount"}},
    {{"binder", "resourceReservation", "appLabel"}, {"global", "resourceReservation", "appLabel"}},
    {{"scheduler", "service", "resources"}, {"scheduler", "resources"}},
    {{"queueController", "service", "resources"}, {"queuecontroller", "resources"}},
    {{"podGroupController", "service", "resources"}, {"podgroupcontroller", "resources"}},
    {{"admission", "service", "resources"}, {"admission", "resources"}},
    {{"prometheus", "enabled"}, {"prometheus", "enabled"}},
    {{"prometheus", "externalPrometheusUrl"}, {"prometheus", "externalPrometheusUrl"}},
};

/* The same for the default shard. Others are objects of their own, and stay. */
static const struct moved shard_values[] = {
    {{"args"}, {"scheduler", "args"}},
    {{"plugins"}, {"scheduler", "plugins"}},
    {{"actions"}, {"scheduler", "actions"}},
    {{"scenarioSearchBudgets"}, {"scheduler", "scenarioSearchBudgets"}},
};

static void move_values(struct migration *migration, const struct object *object, const struct moved *rows,
                        size_t count)
{
    yyjson_val *spec = object ? yyjson_obj_get(object->root.val, "spec") : NULL;

    for (size_t i = 0; spec && i < count; i++)
        values_set(migration, rows[i].to, path_get(spec, rows[i].from));
}

/* The chart has one word for what the shard says for GPUs and for CPUs. */
static void move_placement(struct migration *migration, const struct object *shard)
{
    const char *gpu = shard ? PATH_TEXT(shard->root.val, "spec", "placementStrategy", "gpu") : "";
    const char *cpu = shard ? PATH_TEXT(shard->root.val, "spec", "placementStrategy", "cpu") : "";

    if (*gpu)
        values_set_text(migration, VALUES_PATH("scheduler", "placementStrategy"), gpu);
    if (!*gpu || !*cpu || strcmp(gpu, cpu) == 0)
        return;
    values_set_text(migration, VALUES_PATH("scheduler", "plugins", "nodeplacement", "arguments", "gpu"), gpu);
    values_set_text(migration, VALUES_PATH("scheduler", "plugins", "nodeplacement", "arguments", "cpu"), cpu);
}

void kai_survey(struct migration *migration)
{
    const struct object_kind *shards = object_kind_of("kai.scheduler", "SchedulingShard");
    const struct object_kind *configs = object_kind_of("kai.scheduler", "Config");
    const struct object *config = object_set_find(migration->set, configs, "", "kai-config");
    const struct object *shard = object_set_find(migration->set, shards, "", "default");

    find_unknown(migration, "kai-unknown-plugins", "plugins", "plugins that Muster does not have are left out",
                 is_known_plugin);
    find_unknown(migration, "kai-unknown-actions", "actions", "actions that Muster does not have stop the scheduler",
                 is_known_action);
    move_values(migration, config, config_values, ARRAY_LEN(config_values));
    move_values(migration, shard, shard_values, ARRAY_LEN(shard_values));
    move_placement(migration, shard);
    migration_add(migration,
                  &(struct finding){
                      .system = SYSTEM_KAI,
                      .class = FINDING_CHANGES,
                      .code = "kai-direct-binds",
                      .count = 1,
                      .objects = "",
                      .text = "pods that need no preparation are bound without a BindRequest, and do not get the "
                              "condition PodBound",
                      .action = "if tools wait for them, set scheduler.args.mark-bound-pods or "
                                "scheduler.args.bind-requests to \"true\" or \"always\"",
                  });
}
