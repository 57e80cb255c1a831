/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/test/world.h"

static const struct claim *claim_of(const struct world *w, const char *pod, uint32_t i)
{
    const struct pod *found = world_pod(w, "default", pod);

    assert_true(i < found->claim_count);
    assert_true(found->claims[i].claim != NO_ID);
    return &w->state->claims.items[found->claims[i].claim];
}

static void claims_sum_up_their_gpus(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w,
        "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu.nvidia.com}}\n---\n"
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: two, labels: {kai.scheduler/queue: q}}\n"
        "spec: {devices: {requests: [{name: a, exactly: {deviceClassName: nic}}, {name: b, exactly: {deviceClassName: "
        "gpu.nvidia.com, count: 2}}, {name: c, exactly: {deviceClassName: other-GPU, allocationMode: All}}]}}\n"
        "status: {allocation: {devices: {results: [{driver: d, pool: p, device: '3', request: b}]}}, reservedFor: "
        "[{resource: "
        "pods, name: x}, {resource: pods, name: y, uid: u-1}]}\n---\n"
        "{apiVersion: resource.k8s.io/v1beta1, kind: ResourceClaim, metadata: {name: old}, spec: {devices: {requests: "
        "[{name: "
        "a, deviceClassName: gpu.nvidia.com, count: 4}]}}}\n---\n"
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: kai-scheduler, resourceClaims: [{name: "
        "a, "
        "resourceClaimName: two}, {name: b, resourceClaimName: old}]}}\n");
    const struct claim *two = claim_of(&w, "p", 0);
    assert_int_equal(two->count, 3);
    assert_string_equal(world_name(&w, two->device_class), "gpu.nvidia.com");
    assert_true(two->is_allocated && two->device_count == 1);
    assert_int_equal(two->reserved_count, 2);
    assert_string_equal(world_name(&w, two->reserved_for[0]), "default/x");
    assert_string_equal(world_name(&w, two->reserved_for[1]), "u-1");
    assert_int_equal(claim_of(&w, "p", 1)->count, 4);
    world_done(&w);
}

static void claims_of_templates_are_made(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w,
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t}, spec: {spec: {devices: "
        "{requests: [{name: a, exactly: {deviceClassName: gpu, count: 2}}]}}}}\n---\n"
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: kai-scheduler, resourceClaims: [{name: "
        "gpus, resourceClaimTemplateName: t}, {name: x, resourceClaimTemplateName: gone}]}}\n");
    assert_int_equal(claim_of(&w, "p", 0)->count, 2);
    assert_string_equal(world_name(&w, claim_of(&w, "p", 0)->name), "p-gpus");
    assert_true(world_pod(&w, "default", "p")->claims[0].is_from_template);
    assert_string_equal(w.notes.warnings.items[1],
                        "Pod default/p: ResourceClaimTemplate gone does not exist; the pod waits for it");
    world_done(&w);
}

static void slices_offer_devices(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1}}}\n---\n"
                   "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: "
                   "gpu.nvidia.com, nodeName: "
                   "n1, pool: {name: n1}, devices: [{name: gpu-0}, {name: gpu-1}]}}\n");
    assert_int_equal(w.state->slices.len, 1);
    assert_int_equal(w.state->slices.items[0].device_count, 2);
    assert_true(w.state->slices.items[0].is_gpu);
    assert_int_equal(world_node(&w, "n1")->dra_gpus, 2);
    world_done(&w);
}

static void volume_claims_know_where_their_volumes_are(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w,
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {nodeAffinity: {required: "
        "{nodeSelectorTerms: "
        "[{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}}}\n---\n"
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: late, annotations: "
        "{storageclass.kubernetes.io/is-default-class: 'true'}}, volumeBindingMode: WaitForFirstConsumer}\n---\n"
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: now}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: bound}, spec: {volumeName: pv}, status: "
        "{phase: Bound}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: open}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: stuck}, spec: {storageClassName: now}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: lost}, status: {phase: Lost}}\n");
    assert_int_equal(w.state->volumes.len, 4);
    assert_true(w.state->volumes.items[0].is_bound);
    assert_int_equal(w.state->volumes.items[0].node_term_count, 1);
    assert_true(w.state->volumes.items[1].waits_for_consumer);
    assert_false(w.state->volumes.items[2].waits_for_consumer);
    assert_true(w.state->volumes.items[3].is_lost);
    world_done(&w);
}

/* Volumes of one class: of 10 GiB in zone a and in zone b, and of 40 GiB in zone c. */
static void open_claims_go_where_a_volume_is_free(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    w.options.is_whole = true;
    world_read(
        &w,
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: disk}, volumeBindingMode: "
        "WaitForFirstConsumer, provisioner: kubernetes.io/no-provisioner}\n---\n"
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {storageClassName: disk, capacity: "
        "{storage: 10Gi}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, "
        "values: [a]}]}]}}}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: b}, spec: {storageClassName: disk, capacity: "
        "{storage: 10Gi}, claimRef: {namespace: default, name: small}, nodeAffinity: {required: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: zone, operator: In, values: [b]}]}]}}}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: c}, spec: {storageClassName: disk, capacity: "
        "{storage: 40Gi}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, "
        "values: [c]}]}]}}}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: small, namespace: default}, spec: "
        "{storageClassName: disk, resources: {requests: {storage: 5Gi}}}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: large, namespace: default}, spec: "
        "{storageClassName: disk, resources: {requests: {storage: 20Gi}}}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: huge, namespace: default}, spec: "
        "{storageClassName: disk, resources: {requests: {storage: 1Ti}}}}\n");
    assert_int_equal(w.state->volumes.len, 3);
    assert_true(w.state->volumes.items[0].waits_for_consumer);
    assert_int_equal(w.state->volumes.items[0].node_term_count, 3);
    assert_int_equal(w.state->volumes.items[1].node_term_count, 1);
    assert_false(w.state->volumes.items[2].waits_for_consumer);
    world_done(&w);
}

static void classes_say_what_they_serve_and_of_which_driver_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        const char *driver;  // NULL: any
    } rows[] = {
        {"device.driver == \"a.com\"", "a.com"},
        {" device.driver=='a.com' && device.attributes['a.com'].type == 'gpu || x'", "a.com"},
        {"device.attributes['x'].y in ['a', 'b'] && device.driver == 'a.com'", "a.com"},
        {"device.driver == 'a.com' || device.driver == 'b.com'", NULL},
        {"device.driver == 'a.com' && true || true", NULL},
        {"true ? device.driver == 'a.com' : true", NULL},
        {"(device.driver == 'a.com' || true) && true", NULL},
        {"!(device.driver == 'a.com')", NULL},
        {"device.driver == 'a.com' + 'b'", NULL},
        {"device.driver == 'a\\\\.com'", NULL},
        {"device.driver == ''", NULL},
        {"device.driver != 'a.com'", NULL},
        {"device.driver == 'a.com", NULL},
        {"device.driver == ", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world w;
        char text[512];

        world_init(&w);
        (void)snprintf(text, sizeof text,
                       "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: "
                       "{extendedResourceName: r.com/gpu, selectors: [{cel: {expression: \"%s\"}}]}}\n",
                       i == 0 ? "device.driver == \\\"a.com\\\"" : rows[i].expression);
        world_read(&w, text);
        const struct device_class *class = &w.state->device_classes.items[0];
        assert_string_equal(world_name(&w, class->resource), "r.com/gpu");
        assert_string_equal(world_name(&w, class->driver), rows[i].driver ? rows[i].driver : "");
        world_done(&w);
    }
}

#define SERVED                                                                                               \
    "{apiVersion: v1, kind: Node, metadata: {name: box}, status: {allocatable: {cpu: 8}}}\n---\n"            \
    "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: {extendedResourceName: " \
    "nvidia.com/gpu}}\n---\n"

static void gpus_asked_for_as_a_resource_are_claimed(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w,
               SERVED "{apiVersion: v1, kind: Pod, metadata: {name: p, uid: u-1}, spec: {schedulerName: "
                      "kai-scheduler, containers: [{name: a, resources: {limits: {nvidia.com/gpu: 2}}}]}}\n---\n"
                      "{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {schedulerName: kai-scheduler, "
                      "nodeName: box, containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]}, status: "
                      "{extendedResourceClaimStatus: {resourceClaimName: made}}}\n---\n"
                      "{apiVersion: v1, kind: Pod, metadata: {name: r}, spec: {schedulerName: kai-scheduler, "
                      "containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1, amd.com/gpu: 1}}}]}}\n---\n"
                      "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: made, annotations: "
                      "{resource.kubernetes.io/extended-resource-claim: 'true'}}, spec: {devices: {requests: [{name: "
                      "a, exactly: {deviceClassName: gpu}}]}}}\n---\n"
                      "{apiVersion: scheduling.run.ai/v1alpha2, kind: BindRequest, metadata: {name: p}, spec: "
                      "{podName: p, selectedNode: box, extendedResourceClaimAllocation: {allocation: {devices: "
                      "{results: [{driver: d, pool: box, device: w, request: a}, {driver: d, pool: box, device: z, "
                      "request: a}]}}}}}\n");
    assert_true(claim_of(&w, "p", 0)->is_plan && claim_of(&w, "p", 0)->is_allocated);
    assert_int_equal(claim_of(&w, "p", 0)->device_count, 2);
    assert_string_equal(world_name(&w, claim_of(&w, "p", 0)->devices[1].name), "z");
    assert_string_equal(world_name(&w, claim_of(&w, "p", 0)->reserved_for[0]), "u-1");
    assert_string_equal(world_name(&w, claim_of(&w, "q", 0)->name), "made");
    assert_false(claim_of(&w, "q", 0)->is_plan || claim_of(&w, "q", 0)->is_gpu);
    assert_int_equal(world_pod(&w, "default", "r")->claim_count, 0);
    world_done(&w);
}

static void devices_of_bind_requests_are_taken_before_claims_show_them(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w, SERVED
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: one, labels: {a: b, "
        "kai.scheduler/queue: "
        "q}}, spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}]}}}\n---\n"
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: made}, spec: {devices: {requests: "
        "[{name: a, exactly: {deviceClassName: c}}]}}, status: {allocation: {devices: {results: [{driver: d, pool: "
        "box, device: kept, request: a}]}}}}\n---\n"
        "{apiVersion: v1, kind: Pod, metadata: {name: p, uid: u-1}, spec: {schedulerName: kai-scheduler, "
        "resourceClaims: [{name: x, resourceClaimName: one}, {name: z, resourceClaimTemplateName: t}]}, status: "
        "{resourceClaimStatuses: [{name: z, resourceClaimName: made}]}}\n---\n"
        "{apiVersion: scheduling.run.ai/v1alpha2, kind: BindRequest, metadata: {name: p}, spec: {podName: p, "
        "selectedNode: box, resourceClaimAllocations: [{name: x, allocation: {devices: {results: [{driver: d, "
        "pool: box, device: v, request: a}]}}}, {name: z, allocation: {devices: {results: [{driver: d, pool: box, "
        "device: w, request: a}]}}}, {name: never, allocation: {}}, {name: x}]}}\n");
    assert_true(claim_of(&w, "p", 0)->is_allocated);
    assert_string_equal(world_name(&w, claim_of(&w, "p", 0)->devices[0].name), "v");
    assert_string_equal(world_name(&w, claim_of(&w, "p", 0)->reserved_for[0]), "u-1");
    assert_int_equal(state_labels(w.state, claim_of(&w, "p", 0)->labels).count, 1);
    /* What the claim itself says counts. */
    assert_string_equal(world_name(&w, claim_of(&w, "p", 1)->devices[0].name), "kept");
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_sum_up_their_gpus),
        cmocka_unit_test(claims_of_templates_are_made),
        cmocka_unit_test(slices_offer_devices),
        cmocka_unit_test(volume_claims_know_where_their_volumes_are),
        cmocka_unit_test(open_claims_go_where_a_volume_is_free),
        cmocka_unit_test(classes_say_what_they_serve_and_of_which_driver_they_are),
        cmocka_unit_test(gpus_asked_for_as_a_resource_are_claimed),
        cmocka_unit_test(devices_of_bind_requests_are_taken_before_claims_show_them),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
