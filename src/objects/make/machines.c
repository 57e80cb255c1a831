/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Workloads that describe a machine or a workspace rather than a pod: KubeVirt's virtual machines, DevWorkspaces,
 * SeldonDeployments.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/amounts.h"
#include "objects/make/maker.h"

/* What KubeVirt's own processes in a pod need, and what it adds for a device that is passed through, in bytes. */
#define MIB (INT64_C(1) << 20)
enum { KUBEVIRT_FIXED_MIB = 220 + 8 + 16, KUBEVIRT_PER_CPU_MIB = 8, KUBEVIRT_DEVICE_MIB = 1024 };

int make_virtual_machine(struct maker *maker, const struct object *owner, struct err *err)
{
    static const char *const started[] = {"Always", "RerunOnFailure", "Once"};
    struct json_at spec;
    struct json_at template;
    const char *strategy = NULL;
    bool runs = false;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "template", JSON_REQUIRED, &template, err));
    TRY(json_member_bool(&spec, "running", JSON_OPTIONAL, &runs, err));
    TRY(json_member_str(&spec, "runStrategy", JSON_OPTIONAL, &strategy, err));
    for (size_t i = 0; strategy && i < ARRAY_LEN(started); i++)
        runs |= strcmp(strategy, started[i]) == 0;
    if (!runs)
        return 0;
    return make_child(maker, owner,
                      &(struct child){
                          .api_version = owner->api_version,
                          .kind = "VirtualMachineInstance",
                          .name = owner->name,
                          .template = &template,
                      },
                      err);
}

/* How many virtual CPUs a machine has: what its topology multiplies to, else what it asks for, rounded up. */
static int machine_cpus(const struct json_at *domain, const struct json_at *requests, int64_t *ret_cpus,
                        struct err *err)
{
    static const char *const parts[] = {"cores", "sockets", "threads"};
    struct json_at cpu;
    struct json_at asked = json_member(requests, "cpu");
    int64_t milli = 0;

    *ret_cpus = 1;
    TRY(json_member_object(domain, "cpu", JSON_OPTIONAL, &cpu, err));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        int64_t part = 1;

        TRY(json_member_int64(&cpu, parts[i], JSON_OPTIONAL, 1, 4096, &part, err));
        *ret_cpus = MIN(*ret_cpus * part, INT64_C(1) << 20);
    }
    if (!cpu.val && asked.val) {
        TRY(amount_decode(&asked, "cpu", &milli, err));
        *ret_cpus = MAX((milli + 999) / 1000, INT64_C(1));
    }
    return 0;
}

static int machine_memory(const struct json_at *domain, const struct json_at *requests, int64_t *ret_bytes,
                          struct err *err)
{
    struct json_at asked = json_member(requests, "memory");
    struct json_at memory = json_member(domain, "memory");
    struct json_at guest = json_member(&memory, "guest");

    *ret_bytes = 0;
    if (!asked.val && !guest.val)
        return 0;
    return amount_decode(asked.val ? &asked : &guest, "memory", ret_bytes, err);
}

/* GPUs and other devices are resources of the node, by the names that its device plugin gives them. */
static int64_t put_devices(struct draft *draft, yyjson_mut_val *limits, const struct json_at *domain)
{
    static const char *const lists[] = {"gpus", "hostDevices"};
    struct json_at devices = json_member(domain, "devices");
    int64_t total = 0;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct json_at list = json_member(&devices, lists[i]);

        for (struct json_at item = {0}; json_next(&list, &item);) {
            const char *name = json_peek_str(&item, "deviceName");
            yyjson_mut_val *known = name ? yyjson_mut_obj_get(limits, name) : NULL;

            if (!name)
                continue;
            if (known)
                (void)yyjson_mut_set_sint(known, yyjson_mut_get_sint(known) + 1);
            else
                (void)yyjson_mut_obj_add(limits, yyjson_mut_strcpy(draft->doc, name), yyjson_mut_sint(draft->doc, 1));
            total++;
        }
    }
    return total;
}

/* The container in which the machine runs. Without a request, a virtual CPU is a tenth of one. */
static int put_machine(struct draft *draft, const struct json_at *domain, struct err *err)
{
    struct json_at nothing = {0};
    struct json_at resources = json_member(domain, "resources");
    struct json_at asked = json_member(&resources, "requests");
    struct json_at limited = json_member(&resources, "limits");
    struct json_at cpu = json_member(domain, "cpu");
    struct json_at dedicated = json_member(&cpu, "dedicatedCpuPlacement");
    struct json_at asked_cpu = json_member(&asked, "cpu");
    int64_t cpus = 1;
    int64_t memory = 0;

    TRY(machine_cpus(domain, &asked, &cpus, err));
    TRY(machine_memory(domain, &asked, &memory, err));
    yyjson_mut_val *made = yyjson_mut_obj_add_obj(draft->doc, draft_container(draft, "compute", &nothing), "resources");
    yyjson_mut_val *requests = yyjson_mut_obj_add_obj(draft->doc, made, "requests");
    yyjson_mut_val *limits = yyjson_mut_obj_add_obj(draft->doc, made, "limits");
    draft_put_all(draft, requests, &asked);
    draft_put_all(draft, limits, &limited);
    int64_t devices = put_devices(draft, limits, domain);
    int64_t overhead = (KUBEVIRT_FIXED_MIB + KUBEVIRT_PER_CPU_MIB * cpus + (devices ? KUBEVIRT_DEVICE_MIB : 0)) * MIB;
    if (!asked_cpu.val)
        (void)yyjson_mut_obj_add_real(draft->doc, requests, "cpu",
                                      (double)cpus / (yyjson_get_bool(dedicated.val) ? 1 : 10));
    (void)yyjson_mut_obj_remove_str(requests, "memory");
    (void)yyjson_mut_obj_add_sint(draft->doc, requests, "memory",
                                  memory < INT64_MAX / 2 ? memory + memory / 512 + overhead : memory);
    return 0;
}

int make_virtual_machine_instance(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at meta = json_member(&owner->root, "metadata");
    struct json_at status = json_member(&owner->root, "status");
    const char *phase = json_peek_str(&status, "phase");
    struct json_at spec;
    struct json_at domain;
    struct draft draft;
    struct child child = {
        .name = arena_printf(maker->arena, "virt-launcher-%s-0", owner->name),
        .metadata = &meta,
        .labels = {{"kubevirt.io", "virt-launcher"}, {"vm.kubevirt.io/name", owner->name}},
    };

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "domain", JSON_REQUIRED, &domain, err));
    if (phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0))
        return 0;
    draft_init(&draft);
    draft_put_placement(&draft, &spec);
    /* A machine's volumes are disks; those that are claims are a pod's as well. */
    yyjson_mut_val *volumes = yyjson_mut_obj_get(draft.spec, "volumes");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(volumes);
    for (yyjson_mut_val *volume; (volume = yyjson_mut_arr_iter_next(&iter)) != NULL;) {
        if (!yyjson_mut_obj_get(volume, "persistentVolumeClaim"))
            (void)yyjson_mut_arr_iter_remove(&iter);
    }
    int r = put_machine(&draft, &domain, err);
    if (r < 0) {
        yyjson_mut_doc_free(draft.doc);
        return r;
    }
    return make_drafted(maker, owner, &child, &draft, err);
}

/* One container of a workspace. What the attribute container-overrides says of resources comes before its own words. */
static void put_component(struct draft *draft, const struct json_at *component)
{
    static const struct {
        const char *key;
        const char *part;
        const char *resource;
    } amounts[] = {{"memoryRequest", "requests", "memory"},
                   {"cpuRequest", "requests", "cpu"},
                   {"memoryLimit", "limits", "memory"},
                   {"cpuLimit", "limits", "cpu"}};
    struct json_at container = json_member(component, "container");
    struct json_at attributes = json_member(component, "attributes");
    struct json_at overrides = json_member(&attributes, "container-overrides");
    struct json_at over = json_member(&overrides, "resources");
    struct json_at nothing = {0};

    yyjson_mut_val *made = draft_container(draft, json_peek_str(component, "name"), &nothing);
    yyjson_mut_val *resources = yyjson_mut_obj_add_obj(draft->doc, made, "resources");
    yyjson_mut_val *requests = yyjson_mut_obj_add_obj(draft->doc, resources, "requests");
    yyjson_mut_val *limits = yyjson_mut_obj_add_obj(draft->doc, resources, "limits");
    draft_put_str(draft, requests, "memory", "64Mi");
    for (size_t i = 0; i < ARRAY_LEN(amounts); i++) {
        struct json_at amount = json_member(&container, amounts[i].key);

        draft_put(draft, yyjson_mut_obj_get(resources, amounts[i].part), amounts[i].resource, &amount);
    }
    struct json_at over_requests = json_member(&over, "requests");
    struct json_at over_limits = json_member(&over, "limits");
    draft_put_all(draft, requests, &over_requests);
    draft_put_all(draft, limits, &over_limits);
}

/* A workspace that is started is a Deployment of one pod. */
int make_dev_workspace(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at template;
    struct json_at components;
    bool is_started = false;
    struct draft draft;
    struct child child = {.name = arena_printf(maker->arena, "%s-0", owner->name),
                          .labels = {{"controller.devfile.io/devworkspace_name", owner->name}}};

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_bool(&spec, "started", JSON_OPTIONAL, &is_started, err));
    TRY(json_member_object(&spec, "template", JSON_OPTIONAL, &template, err));
    TRY(json_member_array(&template, "components", JSON_OPTIONAL, &components, err));
    if (!is_started)
        return 0;
    struct json_at attributes = json_member(&template, "attributes");
    struct json_at overrides = json_member(&attributes, "pod-overrides");
    struct json_at over_spec = json_member(&overrides, "spec");
    struct json_at over_meta = json_member(&overrides, "metadata");
    struct json_at labels = json_member(&over_meta, "labels");
    struct json_at annotations = json_member(&over_meta, "annotations");
    draft_init(&draft);
    draft_put_placement(&draft, &over_spec);
    draft_put_all(&draft, draft.labels, &labels);
    draft_put_all(&draft, draft.annotations, &annotations);
    for (struct json_at item = {0}; json_next(&components, &item);) {
        struct json_at container = json_member(&item, "container");

        if (container.val)
            put_component(&draft, &item);
    }
    return make_drafted(maker, owner, &child, &draft, err);
}

/* The pods of one part of a predictor are a Deployment, called <deployment>-<predictor>-<index of the part>. */
static int make_part(struct maker *maker, const struct object *owner, const struct json_at *part, const char *name,
                     int64_t replicas, struct err *err)
{
    struct child child = {.api_version = "apps/v1", .kind = "Deployment", .name = name};
    struct json_at nothing = {0};
    struct draft draft;

    TRY(json_member_int64(part, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &replicas, err));
    draft_init(&draft);
    (void)yyjson_mut_obj_add_int(draft.doc, draft.spec, "replicas", replicas);
    draft_put(&draft, draft.spec, "template", part);
    child.metadata = &nothing;
    return make_drafted(maker, owner, &child, &draft, err);
}

int make_seldon(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at predictors;
    int64_t replicas = 1;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_array(&spec, "predictors", JSON_REQUIRED, &predictors, err));
    TRY(json_member_int64(&spec, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &replicas, err));
    for (struct json_at predictor = {0}; json_next(&predictors, &predictor);) {
        const char *name = NULL;
        int64_t of_predictor = replicas;
        struct json_at parts;
        long long index = 0;

        TRY(json_member_str(&predictor, "name", JSON_REQUIRED, &name, err));
        TRY(json_member_int64(&predictor, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &of_predictor, err));
        TRY(json_member_array(&predictor, "componentSpecs", JSON_OPTIONAL, &parts, err));
        for (struct json_at part = {0}; json_next(&parts, &part); index++) {
            const char *called = arena_printf(maker->arena, "%s-%s-%lld", owner->name, name, index);

            TRY(make_part(maker, owner, &part, called, of_predictor, err));
        }
    }
    return 0;
}
