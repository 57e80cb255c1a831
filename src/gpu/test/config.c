/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/daemon/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "text/json.h"

static int parse(struct gpud_config *config, const char *text, struct err *err)
{
    gpud_config_init(config);
    return gpud_config_parse(config, text, strlen(text), "gpud.yaml", err);
}

static void everything_can_be_set(void **state)
{
    static const char text[] =
        "folder: /tmp/x\n"
        "gpus: [{uuid: GPU-1, memory: 80Gi, name: H200}]\n"
        "memory: {reserve: 1Gi, credit: 32Mi, reclaim: {deadline: 3s, action: kill}}\n"
        "park: {host: 8Gi, timeout: 5s}\n"
        "mig: {keep: 7s}\n"
        "compute: {quantum: 10ms, plan: 200ms, drainBound: 2s, backlog: 1ms, idle: 100us}\n"
        "watch: {interval: 500ms, unregistered: kill, overuse: notice, stuck: kill}\n"
        "metrics: {address: 0.0.0.0, port: 9470}\n"
        "groups:\n"
        "- {name: a, gpus: [GPU-1], parkable: true, memory: {limit: 20Gi}, compute: {share: 0.5}}\n";
    struct gpud_config config;
    struct err err = {0};

    (void)state;
    assert_int_equal(parse(&config, text, &err), 0);
    assert_int_equal(config.host_bytes, INT64_C(8) << 30);
    assert_int_equal(config.park_timeout, 5 * NSEC_PER_SEC);
    assert_int_equal(config.mig_keep, 7 * NSEC_PER_SEC);
    assert_true(config.groups.len == 1 && config.groups.items[0].is_parkable);
    assert_string_equal(config.folder, "/tmp/x");
    assert_int_equal(config.gpus.len, 1);
    assert_int_equal(config.gpus.items[0].memory_bytes, INT64_C(80) << 30);
    assert_int_equal(config.reserve_bytes, 1 << 30);
    assert_int_equal(config.credit_bytes, 32 << 20);
    assert_int_equal(config.reclaim_deadline, 3 * NSEC_PER_SEC);
    assert_int_equal(config.reclaim_action, RECLAIM_BY_KILL);
    assert_int_equal(config.compute.quantum, 10 * NSEC_PER_MSEC);
    assert_int_equal(config.compute.drain_bound, 2 * NSEC_PER_SEC);
    assert_int_equal(config.idle, 100 * NSEC_PER_USEC);
    assert_int_equal(config.unregistered, ACTION_KILL);
    assert_int_equal(config.overuse, ACTION_NOTICE);
    assert_int_equal(config.metrics_port, 9470);
    assert_int_equal(config.groups.len, 1);
    assert_int_equal(config.groups.items[0].request_bytes, INT64_C(20) << 30);
    assert_int_equal(config.groups.items[0].share, 500000);
    assert_int_equal(config.groups.items[0].cap, ARBITER_WHOLE);
    gpud_config_done(&config);
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"memory: {reserve: lots}\n", "memory.reserve"},
        {"memory: {deadline: 3s}\n", "memory.deadline: is not known"},
        {"reclaim: {deadline: 3s}\n", "reclaim: is not known"},
        {"compute: {quantum: -1s}\n", "not a duration"},
        {"compute: {quantum: 20}\n", "compute.quantum"},
        {"watch: {stuck: explode}\n", "neither notice"},
        {"memory: {reclaim: {action: notice}}\n", "none of deny, park and kill"},
        {"metrics: {port: 70000}\n", "metrics.port"},
        {"colour: red\n", "colour: is not known"},
        {"gpus: [{memory: 1Gi}]\n", "gpus[0]"},
        {"groups: [{name: a/b, gpus: [0], memory: {limit: 1}}]\n", "name"},
        {"groups: [{name: a, gpus: [], memory: {limit: 1}}]\n", "at least one GPU"},
        {"groups: [{name: a, gpus: [0], memory: {}}]\n", "request or a limit"},
        {"groups: [{name: a, gpus: [0], memory: {limit: 1}, compute: {mode: odd}}]\n", "strict, fair or time"},
        {"groups: [{name: a, gpus: [0], memory: {limit: 1}, compute: {share: 0.5, limit: 0.4}}]\n", "less than"},
        {"groups: [{name: a, gpus: [0], memory: {limit: 1}, cgroup: x}]\n", "cgroup"},
        {"groups: [{name: a, gpus: [0], mig: 1g.18gb, memory: {limit: 1}}]\n", "mig"},
        {"groups: [{name: a, gpus: [0], mig: 1g.18gb, compute: {share: 0.5}}]\n", "mig"},
        {"groups: [{name: a, gpus: [0, 1], mig: 1g.18gb}]\n", "one GPU"},
        {"groups: [{name: a, gpus: [0], mig: '1g 18gb'}]\n", "1g.10gb"},
        {"groups: [{name: a, gpus: [0], mig: 1g.18gb-and-far-more-than-any-profile}]\n", "mig"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gpud_config config;
        struct err err = {0};

        assert_true(parse(&config, cases[i].text, &err) < 0);
        if (!strstr(err.text, cases[i].part) || strncmp(err.text, "gpud.yaml", 9) != 0)
            fail_msg("%s says '%s'", cases[i].text, err.text);
        gpud_config_done(&config);
    }
}

static void check_written(const char *text)
{
    struct gpud_config config;
    struct err err = {0};
    struct strbuf written;
    yyjson_doc *doc;
    struct group_spec back;

    assert_int_equal(parse(&config, text, &err), 0);
    strbuf_init(&written, 10000);
    group_spec_encode(&config.groups.items[0], &written);
    assert_int_equal(json_parse(written.text, written.len, "x", &doc, &err), 0);
    struct json_at root = json_root(doc);
    assert_int_equal(group_spec_decode(&root, &back, &err), 0);
    assert_memory_equal(&back, &config.groups.items[0], sizeof back);
    yyjson_doc_free(doc);
    strbuf_done(&written);
    gpud_config_done(&config);
}

static void a_group_survives_being_written(void **state)
{
    static const char sharing[] =
        "groups: [{name: a.b_c-1, gpus: [GPU-1, 3], memory: {request: 1Gi, limit: 2Gi}, uid: 7, "
        "cgroup: /x/y, compute: {mode: fair, share: 0.25, limit: 0.5}, "
        "labels: {namespace: ns, pod: po, container: co}}]\n";

    (void)state;
    check_written(sharing);
    check_written("groups: [{name: a, gpus: [0], mig: 1g.10gb+me, uid: 7, labels: {pod: po}}]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_can_be_set),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_group_survives_being_written),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
