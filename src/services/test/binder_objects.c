/* SPDX-License-Identifier: Apache-2.0 */

/* What the binder knows of pods, and what it makes of claims and volumes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "services/binder/documents/claim.h"
#include "services/binder/documents/document.h"
#include "services/binder/documents/volume.h"
#include "services/binder/roster.h"
#include "text/json.h"

static yyjson_doc *parse(const char *text)
{
    yyjson_doc *doc = NULL;
    struct err err = {0};

    if (json_parse(text, strlen(text), "test", &doc, &err) < 0)
        fail_msg("%s", err.text);
    return doc;
}

struct pod_row {
    const char *namespace;
    const char *name;
    int version;
    const char *labels;
    const char *node;
    const char *phase;
};

static struct roster_pod *put(struct roster *roster, const struct pod_row *row)
{
    struct roster_change change = {0};
    char text[600];

    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"%s-uid\",\"resourceVersion\":\"%d\","
                   "\"labels\":{%s},\"annotations\":{\"run.ai/reserve_for_gpu_index\":\"GPU-1\"}},"
                   "\"spec\":{\"schedulerName\":\"kai-scheduler\"%s%s%s},\"status\":{\"phase\":\"%s\"}}",
                   row->namespace, row->name, row->name, row->version, row->labels ? row->labels : "",
                   row->node ? ",\"nodeName\":\"" : "", row->node ? row->node : "", row->node ? "\"" : "", row->phase);
    _cleanup_(json_doc_freep) yyjson_doc *doc = parse(text);
    struct roster_pod *pod = roster_put(roster, yyjson_doc_get_root(doc), &change);

    roster_change_done(&change);
    return pod;
}

static void take(struct roster *roster, const char *namespace, const char *name)
{
    struct roster_change change = {0};
    char uid[64];

    (void)snprintf(uid, sizeof uid, "%s-uid", name);
    roster_remove(roster, namespace, name, uid, &change);
    roster_change_done(&change);
}

#define ONE "\"runai-gpu-group\":\"g\""
#define SEVERAL "\"runai-gpu-group/g\":\"g\",\"runai-gpu-group/h\":\"h\""

static void only_pods_of_interest_are_known(void **state)
{
    struct roster roster;

    (void)state;
    roster_init(&roster, "reserved", "scaling", "kai-scheduler");
    assert_non_null(put(&roster, &(struct pod_row){"a", "waiting", 1, NULL, NULL, "Pending"}));
    assert_null(put(&roster, &(struct pod_row){"a", "running", 1, NULL, "n", "Running"}));
    assert_non_null(put(&roster, &(struct pod_row){"a", "sharing", 1, ONE, "n", "Running"}));
    assert_non_null(put(&roster, &(struct pod_row){"reserved", "keeper", 1, ONE, "n", "Running"}));
    assert_non_null(put(&roster, &(struct pod_row){"scaling", "scaler", 1, NULL, NULL, "Pending"}));
    assert_int_equal(roster.pods, 4);
    assert_int_equal(roster.scaling, 1);
    assert_string_equal(roster_reservation(roster_find_group(&roster, "g"))->gpu, "GPU-1");

    assert_null(put(&roster, &(struct pod_row){"a", "waiting", 2, NULL, "n", "Pending"}));
    assert_null(put(&roster, &(struct pod_row){"a", "sharing", 2, ONE, "n", "Succeeded"}));
    take(&roster, "scaling", "scaler");
    assert_int_equal(roster.pods, 1);
    assert_int_equal(roster.scaling, 0);
    take(&roster, "reserved", "keeper");
    assert_null(roster_find_group(&roster, "g"));
    assert_int_equal(roster.groups, 0);
    roster_done(&roster);
}

static void old_news_of_a_pod_is_not_believed(void **state)
{
    struct roster roster;

    (void)state;
    roster_init(&roster, "reserved", "scaling", "kai-scheduler");
    assert_int_equal(put(&roster, &(struct pod_row){"a", "p", 5, SEVERAL, NULL, "Pending"})->group_count, 2);
    assert_int_equal(put(&roster, &(struct pod_row){"a", "p", 4, NULL, NULL, "Pending"})->group_count, 2);
    assert_int_equal(put(&roster, &(struct pod_row){"a", "p", 6, ONE, NULL, "Pending"})->group_count, 1);
    assert_null(roster_find_group(&roster, "h"));
    take(&roster, "a", "p");
    assert_null(put(&roster, &(struct pod_row){"a", "p", 7, ONE, NULL, "Pending"}));
    assert_null(roster_find(&roster, "a", "p"));
    roster_done(&roster);
}

static void groups_are_given_back_or_ended(void **state)
{
    static const struct {
        const char *what;
        struct pod_row pods[3];
        bool is_wanted;
        enum group_action expected;
    } rows[] = {
        {"kept and used",
         {{"reserved", "k", 1, ONE, "n", "Running"}, {"a", "p", 1, ONE, "n", "Running"}},
         false,
         GROUP_FINE},
        {"kept for one of several",
         {{"reserved", "k", 1, ONE, "n", "Running"}, {"a", "p", 1, SEVERAL, "n", "Pending"}},
         false,
         GROUP_FINE},
        {"kept for nobody", {{"reserved", "k", 1, ONE, "n", "Running"}}, false, GROUP_RELEASE},
        {"kept for a request", {{"reserved", "k", 1, ONE, "n", "Running"}}, true, GROUP_FINE},
        {"used and not kept", {{"a", "p", 1, ONE, "n", "Running"}}, false, GROUP_ORPHANS},
        {"used and not kept, with a request", {{"a", "p", 1, ONE, "n", "Running"}}, true, GROUP_ORPHANS},
        {"about to be used and not kept", {{"a", "p", 1, ONE, "n", "Pending"}}, false, GROUP_FINE},
        {"not known how it is",
         {{"reserved", "k", 1, ONE, "n", "Running"}, {"a", "p", 1, ONE, "n", "Unknown"}},
         false,
         GROUP_RELEASE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct roster roster;

        roster_init(&roster, "reserved", "scaling", "kai-scheduler");
        for (size_t at = 0; at < 3 && rows[i].pods[at].name; at++)
            (void)put(&roster, &rows[i].pods[at]);
        struct roster_group *group = roster_find_group(&roster, "g");

        if (group_decide(group, rows[i].is_wanted) != rows[i].expected)
            fail_msg("%s", rows[i].what);
        assert_true(group_is_on(group, "n"));
        assert_false(group_is_on(group, "m"));
        roster_done(&roster);
    }
}

static void pods_of_other_schedulers_are_not_ended(void **state)
{
    struct roster roster;

    (void)state;
    roster_init(&roster, "reserved", "scaling", "another");
    (void)put(&roster, &(struct pod_row){"a", "p", 1, ONE, "n", "Running"});
    assert_int_equal(group_decide(roster_find_group(&roster, "g"), false), GROUP_FINE);
    roster_done(&roster);
}

static yyjson_mut_doc *parse_mut(const char *text)
{
    yyjson_doc *doc = parse(text);
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);

    yyjson_doc_free(doc);
    return copy;
}

static void the_claims_of_a_pod_are_found(void **state)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc =
        parse("{\"spec\":{\"resourceClaims\":[{\"name\":\"own\",\"resourceClaimName\":\"c\"},{\"name\":\"made\"},"
              "{\"name\":\"none\"},{\"name\":\"late\"}]},\"status\":{\"resourceClaimStatuses\":[{\"name\":\"made\","
              "\"resourceClaimName\":\"c-x\"},{\"name\":\"none\"}]}}");
    yyjson_val *pod = yyjson_doc_get_root(doc);
    yyjson_val *entries = yyjson_obj_get(yyjson_obj_get(pod, "spec"), "resourceClaims");
    const char *name = NULL;

    (void)state;
    assert_int_equal(claim_name(pod, yyjson_arr_get(entries, 0), &name, NULL), 0);
    assert_string_equal(name, "c");
    assert_int_equal(claim_name(pod, yyjson_arr_get(entries, 1), &name, NULL), 0);
    assert_string_equal(name, "c-x");
    assert_int_equal(claim_name(pod, yyjson_arr_get(entries, 2), &name, NULL), 0);
    assert_null(name);
    assert_int_equal(claim_name(pod, yyjson_arr_get(entries, 3), &name, NULL), -EAGAIN);
}

static void a_claim_is_reserved_once_and_released(void **state)
{
    _cleanup_(document_freep) yyjson_mut_doc *claim = parse_mut("{\"metadata\":{\"name\":\"c\"}}");
    _cleanup_(document_freep) yyjson_mut_doc *devices = parse_mut("{\"devices\":{}}");
    yyjson_mut_val *allocation = yyjson_mut_doc_get_root(devices);
    bool is_ours = false;

    (void)state;
    assert_true(claim_protect(claim));
    assert_false(claim_protect(claim));
    assert_int_equal(claim_reserve(claim, "p", "u", NULL, &is_ours, NULL), -EINVAL);
    assert_int_equal(claim_reserve(claim, "p", "u", allocation, &is_ours, NULL), 1);
    assert_true(is_ours);
    assert_int_equal(claim_reserve(claim, "p", "u", allocation, &is_ours, NULL), 0);
    is_ours = false;
    assert_int_equal(claim_reserve(claim, "q", "v", allocation, &is_ours, NULL), 1);
    assert_false(is_ours);

    yyjson_mut_val *status = yyjson_mut_obj_get(yyjson_mut_doc_get_root(claim), "status");

    assert_true(claim_release(claim, "u", true));
    assert_non_null(yyjson_mut_obj_get(status, "allocation"));
    assert_false(claim_release(claim, "u", false));
    assert_true(claim_release(claim, "v", true));
    assert_null(yyjson_mut_obj_get(status, "allocation"));
    assert_true(claim_unprotect(claim));
    assert_false(claim_unprotect(claim));
}

static void a_claim_that_is_full_or_going_is_refused(void **state)
{
    _cleanup_(document_freep) yyjson_mut_doc *going =
        parse_mut("{\"metadata\":{\"name\":\"c\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}");
    _cleanup_(document_freep) yyjson_mut_doc *full =
        parse_mut("{\"metadata\":{\"name\":\"c\"},\"status\":{\"allocation\":{}}}");
    bool is_ours = false;

    (void)state;
    assert_int_equal(claim_reserve(going, "p", "u", NULL, &is_ours, NULL), -ESTALE);
    for (int i = 0; i < 256; i++) {
        char uid[16];

        (void)snprintf(uid, sizeof uid, "u%d", i);
        assert_int_equal(claim_reserve(full, "p", uid, NULL, &is_ours, NULL), 1);
    }
    assert_int_equal(claim_reserve(full, "p", "more", NULL, &is_ours, NULL), -ENOSPC);
}

static void devices_are_waited_for_until_their_drivers_say_so(void **state)
{
    static const struct {
        const char *wanted;      // bindingConditions
        const char *conditions;  // of the device
        enum claim_state expected;
    } rows[] = {
        {"", "", CLAIM_READY},
        {"\"Attached\"", "", CLAIM_WAITS},
        {"\"Attached\"", "{\"type\":\"Attached\",\"status\":\"False\"}", CLAIM_WAITS},
        {"\"Attached\"", "{\"type\":\"Attached\",\"status\":\"True\"}", CLAIM_READY},
        {"\"Attached\",\"Ready\"", "{\"type\":\"Attached\",\"status\":\"True\"}", CLAIM_WAITS},
        {"\"Attached\"", "{\"type\":\"Broken\",\"status\":\"True\"}", CLAIM_BROKEN},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[600];

        (void)snprintf(text, sizeof text,
                       "{\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"driver\":\"d\",\"pool\":\"p\","
                       "\"device\":\"1\",\"bindingConditions\":[%s],\"bindingFailureConditions\":[\"Broken\"]}]}},"
                       "\"devices\":[{\"driver\":\"d\",\"pool\":\"p\",\"device\":\"0\"},{\"driver\":\"d\","
                       "\"pool\":\"p\",\"device\":\"1\",\"conditions\":[%s]}]}}",
                       rows[i].wanted, rows[i].conditions);
        _cleanup_(json_doc_freep) yyjson_doc *claim = parse(text);

        assert_int_equal(claim_state_of(yyjson_doc_get_root(claim)), rows[i].expected);
    }
}

static void what_a_claim_needs_is_decided(void **state)
{
    static const char waits[] = "{\"volumeBindingMode\":\"WaitForFirstConsumer\"}";
    static const struct {
        const char *claim;
        const char *class;
        int expected;
        enum volume_need need;
    } rows[] = {
        {"\"metadata\":{\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"}},\"spec\":{\"volumeName\":\"v\"}",
         NULL, 0, VOLUME_BOUND},
        {"\"metadata\":{},\"spec\":{\"volumeName\":\"v\"}", NULL, 0, VOLUME_WAIT},
        {"\"metadata\":{},\"spec\":{\"storageClassName\":\"c\"}", waits, 0, VOLUME_CHOOSE},
        {"\"metadata\":{\"annotations\":{\"volume.kubernetes.io/"
         "selected-node\":\"n\"}},\"spec\":{\"storageClassName\":\"c\"}",
         waits, 0, VOLUME_WAIT},
        {"\"metadata\":{\"annotations\":{\"volume.kubernetes.io/"
         "selected-node\":\"m\"}},\"spec\":{\"storageClassName\":\"c\"}",
         waits, -EXDEV, VOLUME_WAIT},
        {"\"metadata\":{},\"spec\":{\"storageClassName\":\"c\"}", NULL, -ENOENT, VOLUME_WAIT},
        {"\"metadata\":{},\"spec\":{\"storageClassName\":\"c\"}", "{}", -EAGAIN, VOLUME_WAIT},
        {"\"metadata\":{},\"spec\":{}", NULL, -EAGAIN, VOLUME_WAIT},
        {"\"metadata\":{\"deletionTimestamp\":\"x\"},\"spec\":{}", waits, -ESTALE, VOLUME_WAIT},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[400];
        enum volume_need need = VOLUME_BOUND;

        (void)snprintf(text, sizeof text, "{%s}", rows[i].claim);
        _cleanup_(json_doc_freep) yyjson_doc *claim = parse(text);
        _cleanup_(json_doc_freep) yyjson_doc *class = rows[i].class ? parse(rows[i].class) : NULL;

        assert_int_equal(volume_decide(yyjson_doc_get_root(claim), yyjson_doc_get_root(class), "n", &need, NULL),
                         rows[i].expected);
        if (rows[i].expected == 0)
            assert_int_equal(need, rows[i].need);
    }
}

static void volumes_fit_by_the_rules_of_kubernetes(void **state)
{
    static const char claim_text[] =
        "{\"metadata\":{\"name\":\"c\",\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":{\"storageClassName\":\"s\","
        "\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"10Gi\"}},"
        "\"selector\":{\"matchLabels\":{\"tier\":\"fast\"}}}}";
    static const struct {
        const char *change;  // over a volume that fits
        bool expected;
    } rows[] = {
        {"", true},
        {",\"storageClassName\":\"t\"", false},
        {",\"capacity\":{\"storage\":\"9Gi\"}", false},
        {",\"accessModes\":[\"ReadOnlyMany\"]", false},
        {",\"volumeMode\":\"Block\"", false},
        {",\"claimRef\":{\"name\":\"d\",\"namespace\":\"n\"}", false},
        {",\"claimRef\":{\"name\":\"c\",\"namespace\":\"n\"}", true},
        {",\"claimRef\":{\"name\":\"c\",\"namespace\":\"n\",\"uid\":\"other\"}", false},
        {",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
         "\"operator\":\"In\",\"values\":[\"a\"]}]}]}}",
         true},
        {",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
         "\"operator\":\"In\",\"values\":[\"b\"]}]}]}}",
         false},
    };
    _cleanup_(json_doc_freep) yyjson_doc *claim = parse(claim_text);
    _cleanup_(json_doc_freep) yyjson_doc *node = parse("{\"metadata\":{\"labels\":{\"zone\":\"a\"}}}");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[800];
        const char *plain = "\"storageClassName\":\"s\",\"capacity\":{\"storage\":\"10Gi\"},\"accessModes\":"
                            "[\"ReadWriteOnce\"]";

        /* The first of two members counts. */
        (void)snprintf(
            text, sizeof text,
            "{\"metadata\":{\"name\":\"v\",\"labels\":{\"tier\":\"fast\"}},\"spec\":{\"volumeMode2\":0%s,%s},"
            "\"status\":{\"phase\":\"Available\"}}",
            rows[i].change, plain);
        _cleanup_(json_doc_freep) yyjson_doc *volume = parse(text);

        if (volume_fits(yyjson_doc_get_root(volume), yyjson_doc_get_root(claim), yyjson_doc_get_root(node)) !=
            rows[i].expected)
            fail_msg("%s", rows[i].change);
    }
}

static void a_volume_is_given_to_one_claim(void **state)
{
    _cleanup_(json_doc_freep) yyjson_doc *one =
        parse("{\"metadata\":{\"name\":\"c\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"7\"}}");
    _cleanup_(json_doc_freep) yyjson_doc *other =
        parse("{\"metadata\":{\"name\":\"d\",\"namespace\":\"n\",\"uid\":\"v\"}}");
    _cleanup_(document_freep) yyjson_mut_doc *volume = parse_mut("{\"metadata\":{\"name\":\"pv\"},\"spec\":{}}");
    yyjson_mut_val *spec = yyjson_mut_obj_get(yyjson_mut_doc_get_root(volume), "spec");

    (void)state;
    assert_int_equal(volume_give(volume, yyjson_doc_get_root(one), NULL), 1);
    assert_int_equal(volume_give(volume, yyjson_doc_get_root(one), NULL), 0);
    assert_int_equal(volume_give(volume, yyjson_doc_get_root(other), NULL), -EBUSY);
    assert_false(volume_take_back(volume, "v"));
    assert_true(volume_take_back(volume, "u"));
    assert_null(yyjson_mut_obj_get(spec, "claimRef"));

    /* Kept for the claim by whoever made it: so it stays. */
    yyjson_mut_val *ref = document_member(volume, spec, "claimRef");
    document_set(volume, ref, "name", "c");
    document_set(volume, ref, "namespace", "n");
    assert_int_equal(volume_give(volume, yyjson_doc_get_root(one), NULL), 1);
    assert_true(volume_take_back(volume, "u"));
    assert_string_equal(document_text(yyjson_mut_obj_get(spec, "claimRef"), "name"), "c");
    assert_string_equal(document_text(yyjson_mut_obj_get(spec, "claimRef"), "uid"), "");
}

static void a_class_serves_the_nodes_of_its_topology(void **state)
{
    static const struct {
        const char *class;
        int expected;
    } rows[] = {
        {"{\"provisioner\":\"x\"}", 0},
        {"{\"provisioner\":\"kubernetes.io/no-provisioner\"}", -ENOTSUP},
        {"{\"provisioner\":\"x\",\"allowedTopologies\":[{\"matchLabelExpressions\":[{\"key\":\"zone\",\"values\":["
         "\"b\"]}]},"
         "{\"matchLabelExpressions\":[{\"key\":\"zone\",\"values\":[\"a\",\"c\"]}]}]}",
         0},
        {"{\"provisioner\":\"x\",\"allowedTopologies\":[{\"matchLabelExpressions\":[{\"key\":\"zone\",\"values\":["
         "\"b\"]}]}]}",
         -EXDEV},
    };
    _cleanup_(json_doc_freep) yyjson_doc *node = parse("{\"metadata\":{\"labels\":{\"zone\":\"a\"}}}");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_(json_doc_freep) yyjson_doc *class = parse(rows[i].class);

        assert_int_equal(volume_class_serves(yyjson_doc_get_root(class), yyjson_doc_get_root(node), NULL),
                         rows[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_pods_of_interest_are_known),
        cmocka_unit_test(old_news_of_a_pod_is_not_believed),
        cmocka_unit_test(groups_are_given_back_or_ended),
        cmocka_unit_test(pods_of_other_schedulers_are_not_ended),
        cmocka_unit_test(the_claims_of_a_pod_are_found),
        cmocka_unit_test(a_claim_is_reserved_once_and_released),
        cmocka_unit_test(a_claim_that_is_full_or_going_is_refused),
        cmocka_unit_test(devices_are_waited_for_until_their_drivers_say_so),
        cmocka_unit_test(what_a_claim_needs_is_decided),
        cmocka_unit_test(volumes_fit_by_the_rules_of_kubernetes),
        cmocka_unit_test(a_volume_is_given_to_one_claim),
        cmocka_unit_test(a_class_serves_the_nodes_of_its_topology),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
