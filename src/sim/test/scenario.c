/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/scenario.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "model/state.h"

/* A scenario with its document, both gone after the test. */
struct read {
    yyjson_doc *doc;
    struct scenario s;
    struct err err;
    int r;
};

static struct read read_text(const char *text)
{
    struct read read = {0};
    struct json_at root;

    assert_int_equal(json_parse(text, strlen(text), "text", &read.doc, &read.err), 0);
    root = json_root(read.doc);
    read.r = scenario_read(&read.s, &root, &read.err);
    return read;
}

static void read_done(struct read *read)
{
    scenario_done(&read->s);
    yyjson_doc_free(read->doc);
}

#define QUEUE "\"queues\":[{\"name\":\"q\"}]"
#define NODE "\"nodes\":[{\"name\":\"n\",\"gpus\":8}]"
#define JOB(rest) "{\"topology\":{" QUEUE "," NODE ",\"jobs\":[{\"name\":\"j\",\"queue\":\"q\"," rest "}]}}"
#define TASK(rest) JOB("\"tasks\":[{" rest "}]")

static void a_short_scenario_gets_the_defaults(void **state)
{
    (void)state;
    _cleanup_(read_done) struct read read = read_text(TASK("\"request\":{\"gpus\":2}"));

    assert_int_equal(read.r, 0);
    assert_int_equal(read.s.config.action_count, _ACTION_MAX);
    assert_false(read.s.is_multi_round);
    assert_int_equal(read.s.pods.len, 1);

    const struct state *s = read.s.state;
    const struct pod *pod = &s->pods.items[read.s.pods.items[0]];
    const struct gang *gang = &s->gangs.items[read.s.jobs.items[0].gang];
    const struct queue *queue = &s->queues.items[read.s.queues.items[0]];
    assert_string_equal(state_name(s, pod->name), "j-0");
    assert_int_equal(pod->status, POD_PENDING);
    assert_int_equal(gang->priority, 50);
    assert_true(gang->is_preemptible);
    assert_int_equal(gang->created, SCENARIO_NOW - 60 * NSEC_PER_SEC);
    assert_int_equal(gang->last_start, 0);
    assert_int_equal(gang->group_count, 2);
    assert_int_equal(gang->groups[1].min, 1);
    assert_int_equal(queue->priority, 100);
    assert_true(queue->deserved[SHARE_GPU] == 0 && queue->deserved[SHARE_CPU] == UNLIMITED);
    assert_true(queue->weight[SHARE_GPU] == 0 && queue->weight[SHARE_MEMORY] == 1);
}

static void a_running_job_started_a_minute_ago_unless_told_otherwise(void **state)
{
    (void)state;
    _cleanup_(read_done) struct read plain = read_text(TASK("\"status\":\"running\",\"node\":\"n\""));
    _cleanup_(read_done) struct read never =
        read_text(JOB("\"last_start_age_seconds\":null,\"tasks\":[{\"status\":\"running\",\"node\":\"n\"}]"));
    _cleanup_(read_done) struct read given =
        read_text(JOB("\"last_start_age_seconds\":5,\"tasks\":[{\"status\":\"running\",\"node\":\"n\"}]"));

    assert_int_equal(plain.r | never.r | given.r, 0);
    assert_int_equal(plain.s.state->gangs.items[0].last_start, SCENARIO_NOW - 60 * NSEC_PER_SEC);
    assert_int_equal(never.s.state->gangs.items[0].last_start, 0);
    assert_int_equal(given.s.state->gangs.items[0].last_start, SCENARIO_NOW - 5 * NSEC_PER_SEC);
}

static void groups_come_before_the_pod_sets_beside_them(void **state)
{
    (void)state;
    _cleanup_(read_done) struct read read = read_text(
        JOB("\"root\":{\"min_subgroups\":1,\"pod_sets\":[{\"name\":\"b\",\"min_available\":2}],"
            "\"groups\":[{\"name\":\"g\",\"pod_sets\":[{\"name\":\"a\"}]}]},\"tasks\":[{\"pod_set\":\"a\"}]"));

    assert_int_equal(read.r, 0);
    const struct gang *gang = &read.s.state->gangs.items[0];
    assert_int_equal(gang->group_count, 4);
    assert_int_equal(gang->groups[0].min, 1);
    assert_string_equal(state_name(read.s.state, gang->groups[1].name), "g");
    assert_string_equal(state_name(read.s.state, gang->groups[2].name), "a");
    assert_string_equal(state_name(read.s.state, gang->groups[3].name), "b");
    assert_int_equal(gang->groups[2].parent, 1);
    assert_int_equal(gang->groups[3].parent, 0);
}

static void a_plugin_that_is_not_known_is_left_out_with_a_warning(void **state)
{
    (void)state;
    _cleanup_(read_done) struct read read =
        read_text("{\"config\":{\"plugins\":[{\"name\":\"proportion\"},{\"name\":\"magic\"}]},"
                  "\"topology\":{\"queues\":[],\"nodes\":[],\"jobs\":[]}}");

    assert_int_equal(read.r, 0);
    assert_true(read.s.config.has[PLUGIN_PROPORTION]);
    assert_false(read.s.config.has[PLUGIN_PREDICATES]);
    assert_non_null(strstr(read.s.warnings.text, "'magic'"));
}

static void what_cannot_be_is_refused_with_its_path(void **state)
{
    static const struct {
        const char *text;
        const char *says;
    } rows[] = {
        {"[]", "expected an object"},
        {"{}", "topology: is missing"},
        {"{\"topology\":{}}", "topology.queues: is missing"},
        {"{\"kind\":{\"actions\":[\"fly\"]},\"topology\":{}}", "kind.actions[0]: there is no action 'fly'"},
        {"{\"kind\":{\"mode\":\"x\"},\"topology\":{}}", "kind.mode: expected single_session or multi_round, found 'x'"},
        {"{\"topology\":{\"queues\":[{\"name\":\"a\",\"parent\":\"b\"},{\"name\":\"b\",\"parent\":\"a\"}]}}",
         "topology.queues[1]: "},
        {"{\"topology\":{\"queues\":[{\"name\":\"a\",\"parent\":\"b\"}]}}",
         "topology.queues[0].parent: there is no queue called 'b'"},
        {"{\"topology\":{\"queues\":[{\"name\":\"a\"},{\"name\":\"a\"}]}}",
         "topology.queues[1].name: queue 'a' is defined twice"},
        {"{\"topology\":{\"queues\":[{\"name\":\"a\",\"gpu\":{\"quota\":-2}}]}}", "topology.queues[0].gpu.quota"},
        {"{\"topology\":{" QUEUE ",\"nodes\":[{\"name\":\"n\"},{\"name\":\"n\"}]}}",
         "nodes[1].name: node 'n' is defined twice"},
        {"{\"topology\":{" QUEUE ",\"nodes\":[{\"name\":\"n\",\"gpus\":-1}]}}", "topology.nodes[0].gpus"},
        {"{\"topology\":{" QUEUE ",\"nodes\":[{\"name\":\"n\",\"mig_strategy\":\"x\"}]}}",
         "mig_strategy: expected none, single or mixed, found 'x'"},
        {"{\"topology\":{\"topologies\":[{\"name\":\"t\",\"levels\":[]},{\"name\":\"t\",\"levels\":[]}]}}",
         "topology.topologies[1].name: topology 't' is defined twice"},
        {"{\"topology\":{" QUEUE ",\"nodes\":[{\"name\":\"n\",\"numa\":{\"zones\":[{\"id\":\"z\"},{\"id\":\"z\"}]}}]}}",
         "numa.zones[1].id: zone 'z' is defined twice"},
        {"{\"topology\":{" QUEUE "," NODE ",\"dra\":{\"resource_slices\":[{\"name\":\"s\",\"device_count\":1},"
         "{\"name\":\"s\",\"device_count\":1}]},\"jobs\":[]}}",
         "resource_slices[1].name: resource slice 's' is defined twice"},
        {"{\"topology\":{" QUEUE "," NODE ",\"dra\":{\"resource_claims\":[{\"name\":\"c\",\"device_class\":\"x\"},"
         "{\"name\":\"c\",\"device_class\":\"x\"}]},\"jobs\":[]}}",
         "resource_claims[1].name: resource claim 'c' is defined twice"},
        {"{\"config\":{\"search_budgets\":{\"generator_seconds\":{\"other\":-1}}},\"topology\":{}}",
         "generator_seconds.other: expected a number"},
        {"{\"topology\":{" QUEUE ",\"nodes\":[{\"name\":\"\"}]}}", "topology.nodes[0].name: is empty"},
        {"{\"topology\":{" QUEUE "," NODE ",\"jobs\":[{\"name\":\"j\",\"queue\":\"x\",\"tasks\":[]}]}}",
         "topology.jobs[0].queue: there is no queue called 'x'"},
        {TASK("\"status\":\"dancing\""), "topology.jobs[0].tasks[0].status: expected pending, gated"},
        {TASK("\"status\":\"running\""), "topology.jobs[0].tasks[0].node: is missing, since the task is running"},
        {TASK("\"status\":\"running\",\"node\":\"x\""), "tasks[0].node: there is no node called 'x'"},
        {TASK("\"pod_set\":\"x\""), "tasks[0].pod_set: the job j has none called 'x'"},
        {TASK("\"request\":{\"gpus\":1,\"gpu_fraction\":0.5}"), "only one of"},
        {TASK("\"request\":{\"gpu_fraction\":1.5}"), "topology.jobs[0].tasks[0].request.gpu_fraction"},
        {TASK("\"request\":{\"cpu_milli\":-1}"), "topology.jobs[0].tasks[0].request.cpu_milli"},
        {TASK("\"request\":{\"gpu_fraction\":0.5},\"status\":\"running\",\"node\":\"n\",\"gpu_groups\":[\"a\",\"b\"]"),
         "expected one for each of the 1 devices, found 2"},
        {JOB("\"tasks\":[{\"name\":\"a\"},{\"name\":\"a\"}]"), "tasks[1].name: task 'a' is defined twice"},
        {TASK("\"request\":{\"memory_bytes\":1e18}"), "topology.jobs[0].tasks[0].request.memory_bytes"},
        {JOB("\"age_seconds\":1e300,\"tasks\":[]"), "topology.jobs[0].age_seconds"},
        {JOB("\"root\":{},\"tasks\":[]"), "topology.jobs[0]: "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_(read_done) struct read read = read_text(rows[i].text);

        if (read.r != -EINVAL || !strstr(read.err.text, rows[i].says))
            fail_msg("%s\n  gives %d: %s\n  expected: %s", rows[i].text, read.r, read.err.text, rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_scenario_gets_the_defaults),
        cmocka_unit_test(a_running_job_started_a_minute_ago_unless_told_otherwise),
        cmocka_unit_test(groups_come_before_the_pod_sets_beside_them),
        cmocka_unit_test(a_plugin_that_is_not_known_is_left_out_with_a_warning),
        cmocka_unit_test(what_cannot_be_is_refused_with_its_path),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
