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

static void slices_say_all_of_their_devices(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w,
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec:\n  driver: d\n"
        "  pool: {name: p, generation: 3, resourceSliceCount: 2}\n  perDeviceNodeSelection: true\n"
        "  devices:\n  - name: g0\n    attributes: {model: {string: H200}, index: {int: 7}, ok: {bool: true}, v: "
        "{version: "
        "1.2.3}}\n    capacity: {memory: {value: 1500m}}\n    consumesCounters: [{counterSet: c, counters: {memory: "
        "{value: 80Gi}}}]\n    taints: [{key: k, value: v, effect: NoExecute}, {key: other, effect: Unheard}]\n"
        "    nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}\n"
        "    bindingConditions: [ready]\n    bindingFailureConditions: [failed]\n    bindsToNode: true\n"
        "    allowMultipleAllocations: true\n---\n"
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: t}\nspec: {driver: d, allNodes: true, "
        "pool: "
        "{name: p, generation: 3, resourceSliceCount: 2}, sharedCounters: [{name: c, counters: {memory: {value: "
        "80Gi}}}]}\n"
        "---\n"
        "{apiVersion: resource.k8s.io/v1beta1, kind: ResourceSlice, metadata: {name: u}, spec: {driver: d, nodeName: "
        "n1, "
        "pool: {name: n1}, devices: [{name: g1, basic: {attributes: {model: {string: A100}}}}]}}\n");
    const struct slice *slice = &w.state->slices.items[0];
    assert_true(slice->generation == 3 && slice->slice_count == 2 && slice->has_device_nodes);
    const struct device_offer *offer = &slice->offers[0];
    assert_int_equal(offer->attribute_count, 4);
    assert_string_equal(offer->attributes[0].text, "H200");
    assert_true(offer->attributes[1].kind == ATTRIBUTE_INT && offer->attributes[1].integer == 7);
    assert_true(offer->attributes[2].kind == ATTRIBUTE_BOOL && offer->attributes[2].integer == 1);
    assert_int_equal(offer->attributes[3].kind, ATTRIBUTE_VERSION);
    assert_true(offer->capacity[0].whole == 1 && offer->capacity[0].nano == 500000000);
    assert_string_equal(offer->capacity[0].text, "1500m");
    assert_int_equal(offer->consumes[0].counters[0].whole, INT64_C(80) << 30);
    assert_int_equal(offer->taints[0].effect, DEVICE_EFFECT_NO_EXECUTE);
    assert_int_equal(offer->taints[1].effect, DEVICE_EFFECT_NONE);
    assert_int_equal(offer->reach.selector_count, 1);
    assert_true(offer->binds_to_node && offer->allows_multiple);
    assert_true(offer->condition_count == 1 && offer->failure_count == 1);
    assert_int_equal(w.state->slices.items[1].counter_count, 1);
    /* Equal texts are equal pointers. */
    assert_ptr_equal(w.state->slices.items[1].counters[0].name, offer->consumes[0].name);
    assert_string_equal(w.state->slices.items[2].offers[0].attributes[0].text, "A100");
    world_done(&w);
}

static void slices_say_how_devices_are_shared(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w,
               "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec:\n  driver: d\n"
               "  nodeName: n1\n  pool: {name: p}\n  devices:\n  - name: g0\n    allowMultipleAllocations: true\n"
               "    attributes: {numa: {ints: [0, 1]}, ok: {bools: [true]}}\n"
               "    capacity:\n      memory: {value: 80Gi, requestPolicy: {default: 1Gi, validRange: {min: 1Gi, max: "
               "40Gi, step: 500M}}}\n      cores: {value: 4, requestPolicy: {default: 1, validValues: [1, 2]}}\n"
               "      plain: {value: 1}\n");
    const struct device_offer *offer = &w.state->slices.items[0].offers[0];
    assert_int_equal(offer->capacity_count, 3);
    assert_int_equal(offer->policy_count, 2);
    assert_ptr_equal(offer->policies[0].name, offer->capacity[0].name);
    assert_int_equal(offer->policies[0].fallback.whole, INT64_C(1) << 30);
    assert_int_equal(offer->policies[0].max.whole, INT64_C(40) << 30);
    assert_int_equal(offer->policies[0].step.whole, 500000000);
    assert_int_equal(offer->policies[0].value_count, 0);
    assert_int_equal(offer->policies[1].value_count, 2);
    assert_int_equal(offer->policies[1].values[1].whole, 2);
    assert_string_equal(offer->policies[1].min.text, "");
    assert_int_equal(offer->attributes[0].kind, ATTRIBUTE_INT);
    assert_int_equal(offer->attributes[0].value_count, 2);
    assert_string_equal(offer->attributes[0].values[1], "1");
    assert_string_equal(offer->attributes[1].values[0], "true");
    world_done(&w);
}

static void claims_say_what_their_shares_take(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w,
               "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec:\n  devices: {requests: "
               "[{name: r, exactly: {deviceClassName: gpu, capacity: {requests: {memory: 9Gi}}}}]}\n"
               "status:\n  allocation: {devices: {results: [{request: r, driver: d, pool: p, device: whole}, {request: "
               "r, driver: d, pool: p, device: part, shareID: 12345678-1234-4234-8234-123456789012, "
               "consumedCapacity: {memory: 10Gi, cores: 500m}}]}}\n---\n"
               "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: kai-scheduler, "
               "resourceClaims: [{name: a, resourceClaimName: c}]}}\n");
    const struct claim *claim = claim_of(&w, "p", 0);
    assert_int_equal(claim->device_count, 2);
    assert_true(!claim->devices[0].is_share && claim->devices[1].is_share);
    assert_int_equal(claim->devices[1].amount_count, 2);
    const struct device_amount *amounts = &claim->amounts[claim->devices[1].first_amount];
    assert_int_equal(amounts[0].whole, INT64_C(10) << 30);
    assert_string_equal(amounts[1].name, "cores");
    assert_int_equal(amounts[1].nano, 500000000);
    /* It is no whole GPU. */
    assert_false(claim->is_gpu);
    world_done(&w);
}

static void parts_of_gpus_are_no_gpus(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w,
               "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1}}}\n---\n"
               "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: "
               "gpu.nvidia.com, nodeName: n1, pool: {name: n1}, devices: [{name: gpu-0, attributes: {type: {string: "
               "gpu}}}, {name: gpu-0-mig-0, attributes: {type: {string: mig}}}, {name: gpu-1}]}}\n");
    assert_int_equal(world_node(&w, "n1")->dra_gpus, 2);
    world_done(&w);
}

static void claims_say_all_that_they_ask_for(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w,
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec:\n  devices:\n    requests:\n"
        "    - {name: a, firstAvailable: [{name: big, deviceClassName: gpu, count: 2, selectors: [{cel: {expression: "
        "'device.driver == \"d\"'}}]}, {name: small, deviceClassName: gpu, allocationMode: All}]}\n"
        "    - {name: b, exactly: {deviceClassName: nic, adminAccess: true, tolerations: [{key: k, operator: Exists, "
        "tolerationSeconds: 60}], "
        "capacity: {requests: {memory: 1Gi}}}}\n"
        "    constraints: [{requests: [a/big, b], matchAttribute: d/numa}, {distinctAttribute: d/id}]\n"
        "    config: [{requests: [b], opaque: {driver: d, parameters: {kind: X}}}]\n---\n"
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: kai-scheduler, resourceClaims: [{name: "
        "a, resourceClaimName: c}]}}\n");
    const struct claim_ask *ask = &claim_of(&w, "p", 0)->ask;
    /* A list counts with the least that it can be met with. */
    assert_int_equal(claim_of(&w, "p", 0)->count, 1);
    assert_string_equal(world_name(&w, claim_of(&w, "p", 0)->device_class), "gpu");
    assert_int_equal(ask->request_count, 2);
    assert_int_equal(ask->requests[0].ask_count, 2);
    assert_string_equal(ask->requests[0].asks[0].name, "big");
    assert_string_equal(ask->requests[0].asks[0].selectors[0], "device.driver == \"d\"");
    assert_int_equal(ask->requests[0].asks[0].count, 2);
    assert_true(ask->requests[0].asks[1].is_all);
    const struct device_ask *admin = &ask->requests[1].asks[0];
    assert_true(admin->is_admin && admin->tolerations[0].exists && admin->tolerations[0].any_effect);
    assert_true(admin->tolerations[0].has_seconds && admin->tolerations[0].seconds == 60);
    assert_int_equal(admin->capacity[0].whole, INT64_C(1) << 30);
    assert_true(!ask->constraints[0].is_distinct && ask->constraints[0].request_count == 2);
    assert_true(ask->constraints[1].is_distinct && ask->constraints[1].request_count == 0);
    assert_string_equal(ask->configs[0].text, "{\"opaque\":{\"driver\":\"d\",\"parameters\":{\"kind\":\"X\"}}}");
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

static void new_volumes_are_made_as_class_and_driver_say(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    w.options.is_whole = true;
    world_read(
        &w,
        "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: disks}, spec: {storageCapacity: "
        "true}}\n---\n"
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, volumeBindingMode: "
        "WaitForFirstConsumer, provisioner: disks, allowedTopologies: [{matchLabelExpressions: [{key: zone, values: "
        "[a, b]}, {key: rack, values: [r]}]}, {}]}\n---\n"
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: plain}, volumeBindingMode: "
        "WaitForFirstConsumer, provisioner: files}\n---\n"
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default, annotations: "
        "{volume.kubernetes.io/selected-node: n1}}, spec: {accessModes: [ReadWriteOncePod], storageClassName: fast, "
        "resources: {requests: {storage: 5Gi}}}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d, namespace: default}, spec: {accessModes: "
        "[ReadWriteOnce], storageClassName: plain}}\n---\n"
        "{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: s, namespace: ns}, "
        "storageClassName: fast, capacity: 100Gi, maximumVolumeSize: 40Gi, nodeTopology: {matchLabels: {zone: "
        "a}}}\n---\n"
        "{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: nowhere, namespace: ns}, "
        "storageClassName: fast, capacity: 100Gi}\n");
    const struct volume *c = &w.state->volumes.items[0];
    const struct volume *d = &w.state->volumes.items[1];

    assert_string_equal(world_name(&w, c->class), "fast");
    assert_string_equal(world_name(&w, c->driver), "disks");
    assert_string_equal(world_name(&w, c->made_for), "n1");
    assert_true(c->needs_storage && c->is_for_one_pod && c->handle == 0);
    assert_int_equal(c->bytes, INT64_C(5) << 30);
    assert_int_equal(c->made_term_count, 2);
    assert_int_equal(c->made_terms[0].count, 2);
    assert_int_equal(c->made_terms[0].all[0].value_count, 2);
    assert_int_equal(c->made_terms[1].all[0].value_count, 0);
    assert_string_equal(world_name(&w, d->class), "plain");
    assert_true(!d->needs_storage && !d->is_for_one_pod && d->made_for == 0 && d->made_term_count == 0);
    assert_int_equal(w.state->storages.len, 2);
    assert_int_equal(w.state->storages.items[0].bytes, INT64_C(40) << 30);
    assert_int_equal(w.state->storages.items[0].nodes->count, 1);
    /* Without a topology it is for no node. */
    assert_int_equal(w.state->storages.items[1].nodes->all[0].value_count, 0);
    world_done(&w);
}

static void nodes_have_the_limits_of_their_drivers(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1}}}\n---\n"
                   "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: free, "
                   "nodeID: x, topologyKeys: []}, {name: disks, nodeID: x, allocatable: {count: 3}}]}}\n---\n"
                   "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {csi: {driver: disks, "
                   "volumeHandle: v-1}}}\n---\n"
                   "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {volumeName: pv}, status: "
                   "{phase: Bound}}\n");
    const struct node *node = &w.state->nodes.items[state_find_node(w.state, "n1")];

    assert_int_equal(node->attach_limit_count, 1);
    assert_string_equal(world_name(&w, node->attach_limits[0].driver), "disks");
    assert_int_equal(node->attach_limits[0].count, 3);
    assert_string_equal(world_name(&w, w.state->volumes.items[0].driver), "disks");
    assert_string_equal(world_name(&w, w.state->volumes.items[0].handle), "v-1");
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
        cmocka_unit_test(slices_say_all_of_their_devices),
        cmocka_unit_test(slices_say_how_devices_are_shared),
        cmocka_unit_test(claims_say_what_their_shares_take),
        cmocka_unit_test(parts_of_gpus_are_no_gpus),
        cmocka_unit_test(claims_say_all_that_they_ask_for),
        cmocka_unit_test(volume_claims_know_where_their_volumes_are),
        cmocka_unit_test(open_claims_go_where_a_volume_is_free),
        cmocka_unit_test(new_volumes_are_made_as_class_and_driver_say),
        cmocka_unit_test(nodes_have_the_limits_of_their_drivers),
        cmocka_unit_test(classes_say_what_they_serve_and_of_which_driver_they_are),
        cmocka_unit_test(gpus_asked_for_as_a_resource_are_claimed),
        cmocka_unit_test(devices_of_bind_requests_are_taken_before_claims_show_them),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
