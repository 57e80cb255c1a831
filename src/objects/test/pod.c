/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/test/world.h"

#include "base/macros.h"

#define POD(name, annotations, spec)                                                                               \
    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: " name "\n  namespace: team\n  annotations: {" annotations \
    "}\nspec:\n  schedulerName: kai-scheduler\n" spec

#define NODE                                                                                                \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, memory: 64Gi, " \
    "nvidia.com/gpu: 8, pods: 110}}}\n"

static void requests_are_summed_as_kubernetes_does(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, POD("p", "",
                       "  overhead: {cpu: 10m, memory: 1Ki}\n"
                       "  initContainers:\n"
                       "  - {name: a, resources: {requests: {cpu: 3}}}\n"
                       "  - {name: side, restartPolicy: Always, resources: {requests: {cpu: 500m, memory: 1Mi}}}\n"
                       "  - {name: b, resources: {requests: {cpu: 2, memory: 5Mi}}}\n"
                       "  containers:\n"
                       "  - {name: c, resources: {requests: {cpu: 1, memory: 2Mi}, limits: {nvidia.com/gpu: 2}}}\n"
                       "  - {name: d, resources: {requests: {cpu: 0.1, memory: 1Mi, example.com/x: 3}}}\n"));
    const struct request *request = world_request(&w, "team", "p");
    assert_int_equal(world_amount(&w, request, "cpu"), 3010);
    assert_int_equal(world_amount(&w, request, "memory"), (6 << 20) + 1024);
    assert_int_equal(world_amount(&w, request, "nvidia.com/gpu"), 2 * GPU_ONE);
    assert_int_equal(world_amount(&w, request, "example.com/x"), 3000);
    assert_int_equal(world_amount(&w, request, "pods"), 1);
    assert_int_equal(request->kind, REQUEST_REGULAR);
    assert_int_equal(request->qos, QOS_BURSTABLE);
    world_done(&w);
}

static void parts_of_gpus_are_asked_for_by_annotation(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w, POD("half", "gpu-fraction: \"0.5\"", "  containers: [{name: c}]\n")
                POD("two", "gpu-fraction: \"0.25\", gpu-fraction-num-devices: \"2\"", "  containers: [{name: c}]\n")
                    POD("mem", "gpu-memory: \"2000\"", "  containers: [{name: c}]\n")
                        POD("mig", "", "  containers: [{name: c, resources: {limits: {nvidia.com/mig-1g.5gb: 2}}}]\n")
                            POD("old", "nvidia.com/mig-2g.10gb: \"1\"", "  containers: [{name: c}]\n"));
    assert_int_equal(world_request(&w, "team", "half")->kind, REQUEST_FRACTION);
    assert_true(world_request(&w, "team", "half")->portion == 0.5);
    assert_int_equal(world_request(&w, "team", "half")->qos, QOS_BEST_EFFORT);
    assert_int_equal(world_request(&w, "team", "two")->devices, 2);
    assert_int_equal(world_request(&w, "team", "mem")->kind, REQUEST_GPU_MEMORY);
    assert_int_equal(world_request(&w, "team", "mem")->memory_mib, 2000);
    assert_int_equal(world_request(&w, "team", "mig")->kind, REQUEST_MIG);
    assert_int_equal(world_amount(&w, world_request(&w, "team", "mig"), "nvidia.com/mig-1g.5gb"), 2);
    assert_true(world_request(&w, "team", "old")->is_legacy_mig);
    world_done(&w);
}

static void what_admission_refuses_is_named(void **state)
{
    (void)state;
    world_fails(POD("p", "gpu-fraction: \"1.5\"", "  containers: [{name: c}]\n"),
                "a.yaml:7:31: Pod team/p: metadata.annotations.gpu-fraction: expected a number above 0 and below 1, "
                "found '1.5'");
    world_fails(
        POD("p", "gpu-memory: \"0\"", "  containers: [{name: c}]\n"),
        "a.yaml:7:29: Pod team/p: metadata.annotations.gpu-memory: expected a whole number of MiB above 0, found '0'");
    world_fails(
        POD("p", "gpu-fraction: \"0.5\"", "  containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]\n"),
        "a.yaml:7:16: Pod team/p: metadata.annotations: expected a part of a GPU or a limit of whole "
        "GPUs, found both: leave one out");
    world_fails(
        POD("p", "", "  containers:\n  - {name: c, resources: {requests: {cpu: 0.1x}}}\n"),
        "a.yaml:11:43: Pod team/p: spec.containers[0].resources.requests.cpu: expected a quantity such as 2, 500m, "
        "1.5 or 64Gi, found '0.1x'");
    world_fails(POD("p", "", "  containers:\n  - {name: c, resources: {requests: {memory: 1e400}}}\n"),
                "a.yaml:11:46: Pod team/p: spec.containers[0].resources.requests.memory: '1e400' is too large");
    world_fails(
        POD("p", "", "  containers:\n  - {name: c, resources: {limits: {nvidia.com/gpu: 0.5}}}\n"),
        "a.yaml:11:52: Pod team/p: spec.containers[0].resources.limits[\"nvidia.com/gpu\"]: expected a whole number "
        "of devices; request a part of a GPU by the annotation gpu-fraction");
}

static void a_snapshot_is_read_past_what_admission_refuses(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    w.options.is_strict = false;
    world_read(&w, POD("p", "gpu-fraction: \"1.5\"", "  containers: [{name: c}]\n"));
    assert_int_equal(world_request(&w, "team", "p")->kind, REQUEST_REGULAR);
    assert_string_equal(w.notes.warnings.items[1],
                        "Pod team/p: metadata.annotations.gpu-fraction: expected a number above "
                        "0 and below 1, found '1.5'");
    world_done(&w);
}

static void statuses_follow_phase_deletion_and_bind_requests(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum pod_status status;
    } cases[] = {
        {"running", POD_RUNNING}, {"leaving", POD_RELEASING}, {"stuck", POD_STUCK},     {"bound", POD_BOUND},
        {"gated", POD_GATED},     {"waiting", POD_PENDING},   {"binding", POD_BINDING}, {"failed-bind", POD_PENDING},
        {"done", POD_SUCCEEDED},  {"lost", POD_UNKNOWN},      {"nowhere", POD_PENDING},
    };
    struct world w;

    world_init(&w);
    assert_int_equal(time_parse("2026-03-01T12:10:00Z", &w.options.now, NULL), 0);
    world_read(
        &w, NODE
        "---\napiVersion: v1\nkind: PodList\nitems:\n"
        "- {metadata: {name: running}, spec: {schedulerName: kai-scheduler, nodeName: n1}, status: {phase: Running}}\n"
        "- {metadata: {name: leaving, deletionTimestamp: 2026-03-01T12:09:00Z}, spec: {schedulerName: kai-scheduler, "
        "nodeName: n1}, status: {phase: Running}}\n"
        "- {metadata: {name: stuck, deletionTimestamp: 2026-03-01T12:00:00Z}, spec: {schedulerName: kai-scheduler, "
        "nodeName: n1}, status: {phase: Running}}\n"
        "- {metadata: {name: bound}, spec: {schedulerName: kai-scheduler, nodeName: n1}, status: {phase: Pending}}\n"
        "- {metadata: {name: gated}, spec: {schedulerName: kai-scheduler, schedulingGates: [{name: x}]}}\n"
        "- {metadata: {name: waiting}, spec: {schedulerName: kai-scheduler}}\n"
        "- {metadata: {name: binding}, spec: {schedulerName: kai-scheduler}}\n"
        "- {metadata: {name: failed-bind}, spec: {schedulerName: kai-scheduler}}\n"
        "- {metadata: {name: nowhere}, spec: {schedulerName: kai-scheduler}}\n"
        "- {metadata: {name: done, annotations: {pod-group-name: g}}, spec: {schedulerName: kai-scheduler}, status: "
        "{phase: Succeeded}}\n"
        "- {metadata: {name: broken}, spec: {schedulerName: kai-scheduler}, status: {phase: Failed}}\n"
        "- {metadata: {name: lost}, spec: {schedulerName: kai-scheduler, nodeName: n1}, status: {phase: Unknown}}\n"
        "---\napiVersion: scheduling.run.ai/v1alpha2\nkind: BindRequestList\nitems:\n"
        "- {metadata: {name: binding}, spec: {podName: binding, selectedNode: n1, selectedGPUGroups: [g-1]}}\n"
        "- {metadata: {name: failed-bind}, spec: {selectedNode: n1}, status: {phase: Failed, failedAttempts: 1}}\n"
        "- {metadata: {name: nowhere}, spec: {selectedNode: n2}}\n");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct pod *pod = world_pod(&w, "default", cases[i].name);
        if (pod->status != (uint32_t)cases[i].status)
            fail_msg("%s is %s", cases[i].name, pod_status_name((enum pod_status)pod->status));
    }
    assert_int_equal(state_find_pod(w.state, "default", "broken"), NO_ID);
    const struct pod *binding = world_pod(&w, "default", "binding");
    assert_int_equal(binding->node, state_find_node(w.state, "n1"));
    assert_int_equal(binding->groups.count, 1);
    assert_string_equal(world_name(&w, (name_id)binding->groups.one), "g-1");
    world_done(&w);
}

static void shared_gpus_are_read_from_both_kinds_of_labels(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, NODE "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels: {runai-gpu-group/a: a, "
                        "runai-gpu-group/b: b}\n  annotations: {gpu-fraction: '0.5', gpu-fraction-num-devices: '2'}\n"
                        "spec: {schedulerName: kai-scheduler, nodeName: n1}\nstatus: {phase: Running}\n");
    assert_int_equal(world_pod(&w, "default", "p")->groups.count, 2);
    world_done(&w);
}

static void pods_of_other_schedulers_count_only_where_they_take_room(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, NODE
               "---\n{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n1}, status: {phase: Running}}\n"
               "---\n{apiVersion: v1, kind: Pod, metadata: {name: b}}\n"
               "---\n{apiVersion: v1, kind: Pod, metadata: {name: r, labels: {app: kai-resource-reservation}}, spec: "
               "{nodeName: n1}, status: {phase: Running}}\n");
    assert_true(world_pod(&w, "default", "a")->is_foreign);
    assert_true(world_pod(&w, "default", "a")->gang == NO_ID);
    assert_int_equal(state_find_pod(w.state, "default", "b"), NO_ID);
    assert_true(world_pod(&w, "default", "r")->is_reservation);
    assert_true(world_pod(&w, "default", "r")->is_utility);
    world_done(&w);
}

static void labels_tell_a_pods_part_in_its_gang(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {training.kubeflow.org/job-role: master, "
                   "kai.scheduler/task-priority: '7'}}, spec: {schedulerName: kai-scheduler}}\n"
                   "---\n{apiVersion: v1, kind: Pod, metadata: {name: b, labels: {ray.io/node-type: head, "
                   "kai.scheduler/task-priority: high}}, spec: {schedulerName: kai-scheduler}}\n");
    const struct pod *a = world_pod(&w, "default", "a");
    const struct pod *b = world_pod(&w, "default", "b");
    assert_int_equal(a->roles, POD_ROLE_LEADER);
    assert_true(a->has_task_priority && !a->is_task_priority_bad);
    assert_int_equal(a->task_priority, 7);
    assert_int_equal(b->roles, POD_ROLE_HEAD);
    assert_true(b->is_task_priority_bad);
    world_done(&w);
}

static void quality_of_service_is_classed_as_the_kubelet_does(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, POD("g", "", "  containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Gi}}}]\n")
                       POD("b", "", "  containers: [{name: c, resources: {limits: {cpu: 1}}}]\n"));
    assert_int_equal(world_request(&w, "team", "g")->qos, QOS_GUARANTEED);
    assert_int_equal(world_request(&w, "team", "b")->qos, QOS_BURSTABLE);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_summed_as_kubernetes_does),
        cmocka_unit_test(parts_of_gpus_are_asked_for_by_annotation),
        cmocka_unit_test(what_admission_refuses_is_named),
        cmocka_unit_test(a_snapshot_is_read_past_what_admission_refuses),
        cmocka_unit_test(statuses_follow_phase_deletion_and_bind_requests),
        cmocka_unit_test(shared_gpus_are_read_from_both_kinds_of_labels),
        cmocka_unit_test(pods_of_other_schedulers_count_only_where_they_take_room),
        cmocka_unit_test(labels_tell_a_pods_part_in_its_gang),
        cmocka_unit_test(quality_of_service_is_classed_as_the_kubelet_does),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
