/* SPDX-License-Identifier: Apache-2.0 */

/* The binder's parts that need no server: names, requests, what is written, options. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "services/binder/documents/document.h"
#include "services/binder/documents/names.h"
#include "services/binder/documents/request.h"
#include "services/binder/documents/write.h"
#include "services/binder/extract.h"
#include "services/binder/options.h"
#include "text/json.h"

static yyjson_doc *parse(const char *text)
{
    yyjson_doc *doc = NULL;

    assert_int_equal(json_parse(text, strlen(text), "test", &doc, NULL), 0);
    return doc;
}

/* The document as text; frees both. */
static void assert_written(yyjson_mut_doc *doc, const char *expected)
{
    _cleanup_(freep) char *text = yyjson_mut_write(doc, 0, NULL);

    assert_string_equal(text, expected);
    yyjson_mut_doc_free(doc);
}

static void names_follow_from_what_they_stand_for(void **state)
{
    char name[RESERVATION_NAME_MAX];
    char claim[EXTENDED_NAME_MAX];
    char again[EXTENDED_NAME_MAX];
    char pod[300];

    (void)state;
    /* printf node-1/group-1 | sha256sum */
    assert_string_equal(reservation_name("node-1", "group-1", name), "gpu-reservation-ca239632e9e20d1c");
    (void)extended_claim_name("trainer", "uid-1", claim);
    assert_int_equal(strncmp(claim, "trainer-extended-resources-", 27), 0);
    assert_string_equal(extended_claim_name("trainer", "uid-1", again), claim);
    assert_string_not_equal(extended_claim_name("trainer", "uid-2", again), claim);
    memset(pod, 'a', sizeof pod - 1);
    pod[sizeof pod - 1] = '\0';
    assert_int_equal(strlen(extended_claim_name(pod, "uid-1", claim)), 63);
}

static void the_container_that_shares_is_found(void **state)
{
    static const struct {
        const char *named;
        const char *capabilities;  // NULL: an error
        const char *direct;
    } rows[] = {
        {"", "cm-0", "cm-0-evar"},
        {"second", "cm-1", "cm-1-evar"},
        {"prepare", "cm-i0", "cm-i0-evar"},
        {"nobody", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[600];
        struct sharing_container container;
        struct sharing_names names;
        struct err err = {0};

        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"annotations\":{\"runai/shared-gpu-configmap\":\"cm\","
                       "\"gpu-fraction-container-name\":\"%s\"}},\"spec\":{\"initContainers\":[{\"name\":\"prepare\"}],"
                       "\"containers\":[{\"name\":\"first\"},{\"name\":\"second\"}]}}",
                       rows[i].named);
        _cleanup_(json_doc_freep) yyjson_doc *doc = parse(text);
        yyjson_val *pod = yyjson_doc_get_root(doc);

        if (!rows[i].capabilities) {
            assert_int_equal(sharing_container(pod, &container, &err), -ENOENT);
            assert_non_null(strstr(err.text, "no container 'nobody'"));
            continue;
        }
        assert_int_equal(sharing_container(pod, &container, &err), 0);
        assert_int_equal(sharing_names(pod, &container, &names, &err), 0);
        assert_string_equal(names.capabilities, rows[i].capabilities);
        assert_string_equal(names.direct, rows[i].direct);
    }
}

static void a_request_is_read(void **state)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = parse(
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"42\","
        "\"ownerReferences\":"
        "[{\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"owner\"}]},\"spec\":{\"podName\":\"p\",\"selectedNode\":\"node\","
        "\"receivedResourceType\":\"Fraction\",\"receivedGPU\":{\"count\":1,\"portion\":\"0.50\"},"
        "\"selectedGPUGroups\":[\"a\",\"b\",\"a\"],\"backoffLimit\":3,\"predictedNUMAZones\":[{\"zone\":\"z\"}]},"
        "\"status\":{\"phase\":\"Failed\",\"failedAttempts\":1}}");
    struct request *request = request_new(yyjson_doc_get_root(doc));

    (void)state;
    assert_string_equal(request->pod_uid, "owner");
    assert_string_equal(request->node, "node");
    assert_string_equal(request->portion, "0.50");
    assert_int_equal(request->groups.len, 2);
    assert_true(request_has_group(request, "b"));
    assert_false(request_has_group(request, "c"));
    assert_int_equal(request->version, 42);
    assert_int_equal(request->phase, REQUEST_FAILED);
    assert_int_equal(request_retry_after(request), 2 * NSEC_PER_SEC);
    assert_non_null(request_plan(request, "predictedNUMAZones"));
    assert_null(request_plan(request, "resourceClaimAllocations"));
    assert_true(request_is_fraction(request));
    assert_false(request_is_corrupt(request));
    request_free(request);
}

static void an_empty_request_is_harmless(void **state)
{
    _cleanup_(json_doc_freep) yyjson_doc *bare = parse("{\"metadata\":{\"name\":\"p\"}}");
    _cleanup_(json_doc_freep) yyjson_doc *nameless = parse("{\"spec\":{\"podName\":\"p\"}}");
    _cleanup_(json_doc_freep) yyjson_doc *corrupt =
        parse("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"receivedResourceType\":\"Fraction\"}}");
    struct request *request = request_new(yyjson_doc_get_root(bare));

    (void)state;
    assert_int_equal(request->phase, REQUEST_ACTIVE);
    assert_int_equal(request->backoff_limit, -1);
    request_free(request);
    assert_null(request_new(yyjson_doc_get_root(nameless)));
    request = request_new(yyjson_doc_get_root(corrupt));
    assert_true(request_is_corrupt(request));
    request_free(request);
}

static void outcomes_follow_from_the_limit(void **state)
{
    static const struct {
        bool has_failed;
        int64_t limit, attempts;
        struct request_outcome expected;
    } rows[] = {
        {false, -1, 0, {REQUEST_SUCCEEDED, 0, 0}},
        {false, 3, 2, {REQUEST_SUCCEEDED, 2, 0}},
        {true, -1, 0, {REQUEST_FAILED, 0, 0}},
        {true, 0, 0, {REQUEST_FAILED, 0, 0}},
        {true, 1, 0, {REQUEST_FAILED, 1, 2 * NSEC_PER_SEC}},
        {true, 5, 2, {REQUEST_FAILED, 3, 8 * NSEC_PER_SEC}},
        {true, 5, 5, {REQUEST_FAILED, 5, 0}},
        {true, INT32_MAX, 1000, {REQUEST_FAILED, 1001, 4096 * NSEC_PER_SEC}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request_outcome found = request_outcome_of(rows[i].has_failed, rows[i].limit, rows[i].attempts);

        assert_int_equal(found.phase, rows[i].expected.phase);
        assert_int_equal(found.failed_attempts, rows[i].expected.failed_attempts);
        assert_int_equal(found.retry_after, rows[i].expected.retry_after);
    }
}

static void patches_name_the_object_that_they_mean(void **state)
{
    char one_group[] = "a";
    char other_group[] = "b";
    char *groups[] = {one_group, other_group};
    struct request_groups one = {.items = groups, .len = 1, .cap = 1};
    struct request_groups two = {.items = groups, .len = 2, .cap = 2};

    (void)state;
    assert_written(write_labels("u", &one, true),
                   "{\"metadata\":{\"uid\":\"u\",\"labels\":{\"runai-gpu-group\":\"a\"}}}");
    assert_written(write_labels("u", &one, false),
                   "{\"metadata\":{\"uid\":\"u\",\"labels\":{\"runai-gpu-group\":null}}}");
    assert_written(write_labels("u", &two, true),
                   "{\"metadata\":{\"uid\":\"u\",\"labels\":{\"runai-gpu-group/a\":\"a\","
                   "\"runai-gpu-group/b\":\"b\"}}}");
    assert_written(write_status("u", &(struct request_outcome){.phase = REQUEST_FAILED, .failed_attempts = 2}, "why"),
                   "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"phase\":\"Failed\",\"reason\":\"why\","
                   "\"failedAttempts\":2}}");
    assert_written(write_status("u", &(struct request_outcome){.phase = REQUEST_SUCCEEDED}, NULL),
                   "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"phase\":\"Succeeded\",\"reason\":null}}");
    assert_written(
        write_condition("u", true, "done", 1500 * NSEC_PER_MSEC),
        "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"conditions\":[{\"type\":\"PodBound\",\"status\":\"True\","
        "\"reason\":\"Bound\",\"message\":\"done\",\"lastTransitionTime\":\"1970-01-01T00:00:01Z\"}]}}");
}

static void a_reservation_pod_asks_for_one_gpu(void **state)
{
    struct reservation_options options = {
        .namespace = "reserved",
        .service_account = "keeper",
        .image = "image",
        .app_label = "app",
        .runtime_class = "nvidia",
        .resources = parse("{\"requests\":{\"cpu\":\"1m\"}}"),
        .pod_security = parse("{\"runAsUser\":1}"),
    };
    _cleanup_(json_doc_freep) yyjson_doc *tolerations = parse("[{\"operator\":\"Exists\"}]");

    (void)state;
    assert_written(
        write_reservation(&options, "node-1", "group-1", yyjson_doc_get_root(tolerations)),
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"gpu-reservation-ca239632e9e20d1c\","
        "\"namespace\":\"reserved\",\"labels\":{\"app\":\"app\",\"runai-gpu-group\":\"group-1\"},\"annotations\":{"
        "\"karpenter.sh/"
        "do-not-disrupt\":\"true\",\"cluster-autoscaler.kubernetes.io/"
        "safe-to-evict\":\"false\"}},\"spec\":{\"nodeName\":\"node-1\",\"schedulerName\":\"default-scheduler\","
        "\"serviceAccountName\":\"keeper\","
        "\"runtimeClassName\":\"nvidia\",\"securityContext\":{\"runAsUser\":1},\"tolerations\":[{\"operator\":"
        "\"Exists\"}],"
        "\"containers\":[{\"name\":\"resource-reservation\",\"image\":\"image\",\"imagePullPolicy\":\"IfNotPresent\","
        "\"command\":[\"muster\"],\"args\":[\"reservation\"],\"resources\":{\"requests\":{\"cpu\":\"1m\",\"nvidia.com/"
        "gpu\":\"1\"},"
        "\"limits\":{\"nvidia.com/gpu\":\"1\"}},\"env\":[{\"name\":\"POD_NAME\",\"valueFrom\":{\"fieldRef\":{"
        "\"fieldPath\":\"metadata.name\"}}},{\"name\":\"POD_NAMESPACE\",\"valueFrom\":{\"fieldRef\":{"
        "\"fieldPath\":\"metadata.namespace\"}}}]}]}}");
    options.is_fake = true;
    yyjson_mut_doc *fake = write_reservation(&options, "node-1", "group-1", NULL);
    _cleanup_(freep) char *text = yyjson_mut_write(fake, 0, NULL);

    assert_non_null(strstr(text, "\"image\":\"ubuntu\""));
    assert_non_null(strstr(text, "\"args\":[\"sleep\",\"infinity\"]"));
    assert_null(strstr(text, "tolerations"));
    yyjson_mut_doc_free(fake);
    yyjson_doc_free(options.resources);
    yyjson_doc_free(options.pod_security);
}

static void config_maps_hold_what_a_container_needs(void **state)
{
    struct sharing_data data = {.devices = "GPU-1,GPU-2", .portion = "0.50", .is_direct = true};

    (void)state;
    assert_written(write_sharing(&data, false, "n", "cm-0", "p", "u"),
                   "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"cm-0\",\"namespace\":\"n\","
                   "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u\"}]},"
                   "\"data\":{\"GPU_PORTION\":\"0.50\",\"RUNAI_NUM_OF_GPUS\":\"0.50\"}}");
    data.is_direct = false;
    yyjson_mut_doc *own = write_sharing(&data, false, "n", "cm-0", "p", "u");

    assert_false(sharing_merge(&data, false, "p", "u", own));
    data.devices = "GPU-3";
    document_set(own, document_member(own, yyjson_mut_doc_get_root(own), "data"), "RUNAI-VISIBLE-DEVICES", "old");
    document_set(own, document_member(own, yyjson_mut_doc_get_root(own), "data"), "mine", "stays");
    assert_true(sharing_merge(&data, false, "p", "u", own));
    yyjson_mut_val *values = yyjson_mut_obj_get(yyjson_mut_doc_get_root(own), "data");

    assert_string_equal(document_text(values, "NVIDIA_VISIBLE_DEVICES"), "GPU-3");
    assert_string_equal(document_text(values, "RUNAI-VISIBLE-DEVICES"), "GPU-3");
    assert_string_equal(document_text(values, "mine"), "stays");
    assert_true(sharing_merge(&data, false, "other", "u2", own));
    values = yyjson_mut_obj_get(yyjson_mut_doc_get_root(own), "data");
    assert_string_equal(document_text(values, "mine"), "");
    yyjson_mut_doc_free(own);
}

static void devices_are_named_as_the_runtime_wants_them(void **state)
{
    const char *gpus[] = {"GPU-1", "GPU-2"};
    _cleanup_(freep) char *plain = sharing_devices(gpus, 2, false, NULL);
    _cleanup_(freep) char *cdi = sharing_devices(gpus, 2, true, NULL);
    _cleanup_(freep) char *fenced = sharing_devices(gpus, 1, true, "pod-1");

    (void)state;
    assert_string_equal(plain, "GPU-1,GPU-2");
    assert_string_equal(cdi, "k8s.device-plugin.nvidia.com/gpu=GPU-1,k8s.device-plugin.nvidia.com/gpu=GPU-2");
    assert_string_equal(fenced, "k8s.device-plugin.nvidia.com/gpu=GPU-1,muster.scheduler/gpu=pod-1");
}

static void memory_limits_need_figures_that_make_sense(void **state)
{
    static const struct {
        const char *mib, *portion, *expected;  // NULL: none
    } rows[] = {
        {"81559", "0.50", "40779m"}, {"100", "1.00", "100m"}, {"", "0.50", NULL},   {"x", "0.50", NULL},
        {"100", "", NULL},           {"100", "1.01", NULL},   {"-5", "0.50", NULL}, {"nan", "0.5", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[32] = "";

        assert_int_equal(memory_limit(rows[i].mib, rows[i].portion, text, sizeof text), rows[i].expected != NULL);
        assert_string_equal(text, rows[i].expected ? rows[i].expected : "");
    }
}

static void plugins_are_sorted_and_checked(void **state)
{
    static const struct {
        const char *json;
        const char *order;  // first letters; NULL: an error
        const char *error;
    } rows[] = {
        {"", "vdg", NULL},
        {"{}", "vdg", NULL},
        {"{\"hamicore\":{\"enabled\":true}}", "vdgh", NULL},
        {"{\"gpusharing\":{\"priority\":400,\"arguments\":{\"cdiEnabled\":\"true\"}}}", "gvd", NULL},
        {"{\"volumebinding\":{\"enabled\":false},\"other\":{\"enabled\":false}}", "dg", NULL},
        {"{\"dynamicresources\":{\"priority\":300,\"arguments\":{\"bindTimeoutSeconds\":\"5\"}}}", "dvg", NULL},
        {"{\"other\":{\"enabled\":true}}", NULL, "unknown plugin"},
        {"{\"volumebinding\":{\"enabled\":true}}", NULL, "bindTimeoutSeconds is missing"},
        {"{\"volumebinding\":{\"arguments\":{\"bindTimeoutSeconds\":\"0\"}}}", NULL, "expected seconds"},
        {"{\"gpusharing\":{\"arguments\":{\"cdiEnabled\":\"yes\"}}}", NULL, "'true' or 'false'"},
        {"{\"gpusharing\":{\"enabled\":false},\"hamicore\":{\"enabled\":true}}", NULL, "hamicore needs gpusharing"},
        {"{\"hamicore\":{\"enabled\":true,\"priority\":100}}", NULL, "hamicore needs gpusharing"},
        {"[]", NULL, "expected an object"},
        {"{", NULL, "plugins"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct plugin_options options = {0};
        struct err err = {0};
        char order[_BINDER_PLUGIN_MAX + 1] = "";
        int r = plugin_options_parse(rows[i].json, &options, &err);

        if (!rows[i].order) {
            assert_int_equal(r, -EINVAL);
            if (!strstr(err.text, rows[i].error))
                fail_msg("%s: %s", rows[i].json, err.text);
            continue;
        }
        assert_int_equal(r, 0);
        for (size_t at = 0; at < options.count; at++)
            order[at] = binder_plugin_name(options.order[at])[0];
        assert_string_equal(order, rows[i].order);
    }
}

static void of_a_pod_on_a_shared_gpu_the_bind_keeps_what_it_looks_at(void **state)
{
    static const char text[] =
        "{\"metadata\":{\"annotations\":{\"gpu-fraction\":\"0.5\",\"runai/shared-gpu-configmap\":\"cm\",\"x\":\"y\"}},"
        "\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"i\",\"env\":[{\"name\":\"A\",\"value\":\"b\"},{"
        "\"name\":"
        "\"NVIDIA_VISIBLE_DEVICES\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"cm-0\"}}}],\"envFrom\":[{"
        "\"configMapRef\":"
        "{\"name\":\"cm-0-evar\",\"optional\":true}}]}],\"tolerations\":[{\"operator\":\"Exists\"}]}}";
    struct sharing_container container;
    struct sharing_names names;

    (void)state;
    yyjson_doc *pod = parse(text);
    _cleanup_(freep) char *kept = extract_sharer(yyjson_doc_get_root(pod));
    yyjson_doc_free(pod);
    assert_non_null(kept);
    assert_null(strstr(kept, "\"x\""));
    assert_null(strstr(kept, "\"A\""));
    assert_non_null(strstr(kept, "\"tolerations\":[{\"operator\":\"Exists\"}]"));
    pod = parse(kept);
    assert_int_equal(sharing_container(yyjson_doc_get_root(pod), &container, NULL), 0);
    assert_int_equal(sharing_names(yyjson_doc_get_root(pod), &container, &names, NULL), 0);
    assert_string_equal(names.direct, "cm-0-evar");
    assert_false(sharing_is_direct(container.container));
    assert_true(sharing_is_optional(container.container, "cm-0-evar"));
    assert_false(sharing_is_optional(container.container, "other"));
    yyjson_doc_free(pod);
    pod = parse("{\"metadata\":{\"annotations\":{}},\"spec\":{}}");
    assert_null(extract_sharer(yyjson_doc_get_root(pod)));
    yyjson_doc_free(pod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_pod_on_a_shared_gpu_the_bind_keeps_what_it_looks_at),
        cmocka_unit_test(names_follow_from_what_they_stand_for),
        cmocka_unit_test(the_container_that_shares_is_found),
        cmocka_unit_test(a_request_is_read),
        cmocka_unit_test(an_empty_request_is_harmless),
        cmocka_unit_test(outcomes_follow_from_the_limit),
        cmocka_unit_test(patches_name_the_object_that_they_mean),
        cmocka_unit_test(a_reservation_pod_asks_for_one_gpu),
        cmocka_unit_test(config_maps_hold_what_a_container_needs),
        cmocka_unit_test(devices_are_named_as_the_runtime_wants_them),
        cmocka_unit_test(memory_limits_need_figures_that_make_sense),
        cmocka_unit_test(plugins_are_sorted_and_checked),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
