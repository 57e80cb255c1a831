/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/owner.h"

#include "objects/test/world.h"

#define QUEUE "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: q}\nspec: {resources: {}}\n"
#define CONTAINERS "{schedulerName: kai-scheduler, containers: [{name: c, image: i}]}"

/* "kind name: /path /path" of the owner behind the first PodGroup. */
static void owned_by(const char *yaml, const char *expected)
{
    struct pod_template templates[POD_TEMPLATES_MAX];
    struct world w;
    struct owner owner;
    struct strbuf text;

    world_init(&w);
    world_read(&w, yaml);
    const struct gang *gang = &w.state->gangs.items[0];
    assert_true(owner_find(&w.set, world_name(&w, gang->namespace), world_name(&w, gang->name), &owner));
    strbuf_init(&text, 4096);
    strbuf_addf(&text, "%s %s:", owner.kind, owner.name);
    size_t count = owner_templates(owner.object, templates, POD_TEMPLATES_MAX);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&text, " %s", *templates[i].path ? templates[i].path : "itself");
    assert_string_equal(text.text, expected);
    strbuf_done(&text);
    world_done(&w);
}

static void the_workload_behind_a_pod_group_is_found_with_its_templates(void **state)
{
    (void)state;
    owned_by("apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {kai.scheduler/queue: q}}\nspec: " CONTAINERS
             "\n" QUEUE,
             "Pod p: itself");
    owned_by("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {kai.scheduler/queue: q}}\n"
             "spec: {template: {spec: " CONTAINERS "}}\n" QUEUE,
             "Job j: /spec/template");
    owned_by("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: t, labels: {kai.scheduler/queue: q}}\n"
             "spec: {pytorchReplicaSpecs: {Master: {replicas: 1, template: {spec: " CONTAINERS "}}, Worker: {replicas: "
             "2, template: {spec: " CONTAINERS "}}}}\n" QUEUE,
             "PyTorchJob t: /spec/pytorchReplicaSpecs/Master/template /spec/pytorchReplicaSpecs/Worker/template");
    owned_by("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s, labels: {kai.scheduler/queue: q}}"
             "\nspec: {replicatedJobs: [{name: a, template: {spec: {template: {spec: " CONTAINERS "}}}}]}\n" QUEUE,
             "JobSet s: /spec/replicatedJobs/0/template/spec/template");
}

static void a_pod_group_that_was_written_has_no_owner(void **state)
{
    (void)state;
    struct world w;
    struct owner owner;

    world_init(&w);
    world_read(&w, "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g, namespace: lab}\n"
                   "spec: {queue: q, minMember: 1}\n" QUEUE);
    assert_false(owner_find(&w.set, "lab", "g", &owner));
    assert_false(owner_find(&w.set, "lab", "nobody", &owner));
    world_done(&w);
}

/* "kind name" of the workload above the pod of each PodGroup, "-" where there is none. */
static void replicas_of(const char *yaml, const char *expected)
{
    struct world w;
    struct owner owner;
    struct strbuf text;

    world_init(&w);
    world_read(&w, yaml);
    strbuf_init(&text, 4096);
    for (const struct object *group = object_set_first(&w.set, object_kind_of("scheduling.run.ai", "PodGroup")); group;
         group = group->next) {
        bool is_replica = owner_of_replica(&w.set, group, &owner);

        strbuf_addf(&text, "%s %s, ", is_replica ? owner.kind : "-", is_replica ? owner.name : "-");
    }
    assert_string_equal(text.text, expected);
    strbuf_done(&text);
    world_done(&w);
}

static void pods_that_are_groups_of_their_own_have_the_workload_that_was_written(void **state)
{
    (void)state;
    replicas_of("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, labels: {kai.scheduler/queue: q}}\n"
                "spec: {replicas: 2, template: {spec: " CONTAINERS "}}\n" QUEUE,
                "Deployment d, Deployment d, ");
    replicas_of("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {kai.scheduler/queue: q}}\n"
                "spec: {parallelism: 2, template: {spec: " CONTAINERS "}}\n" QUEUE,
                "- -, ");
    replicas_of("apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {kai.scheduler/queue: q}}\nspec: " CONTAINERS
                "\n" QUEUE,
                "- -, ");
    replicas_of(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: d-5f-x, labels: {kai.scheduler/queue: q}, ownerReferences: "
        "[{apiVersion: apps/v1, kind: ReplicaSet, name: d-5f, uid: u}]}\nspec: " CONTAINERS "\n" QUEUE,
        "ReplicaSet d-5f, ");
}

static void pointers_escape_what_means_something(void **state)
{
    (void)state;
    char path[24] = "/spec";
    char small[8] = "/spec";

    json_pointer_add(path, sizeof path, "nvidia.com/g~u");
    assert_string_equal(path, "/spec/nvidia.com~1g~0u");
    json_pointer_add(small, sizeof small, "a/b");
    assert_true(strlen(small) < sizeof small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_workload_behind_a_pod_group_is_found_with_its_templates),
        cmocka_unit_test(a_pod_group_that_was_written_has_no_owner),
        cmocka_unit_test(pods_that_are_groups_of_their_own_have_the_workload_that_was_written),
        cmocka_unit_test(pointers_escape_what_means_something),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
