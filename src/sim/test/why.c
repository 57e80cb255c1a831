/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/why/why.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/scenario/scenario.h"
#include "sim/why/why_find.h"
#include "text/json.h"
#include "text/table.h"

/* A scenario with its document, and an answer about one of its jobs. */
struct asked {
    yyjson_doc *doc;
    struct scenario s;
    struct why why;
};

static void read_scenario(struct asked *a, const char *text)
{
    struct err err = {0};
    struct json_at root;

    if (json_parse(text, strlen(text), "text", &a->doc, &err) < 0)
        fail_msg("%s", err.text);
    root = json_root(a->doc);
    if (scenario_read(&a->s, &root, &err) < 0)
        fail_msg("%s", err.text);
}

static void ask(struct asked *a, const char *text, const char *workload)
{
    struct why_target target;

    read_scenario(a, text);
    assert_int_equal(why_find(&(struct why_input){.state = a->s.state}, workload, &target, NULL), 0);
    why_ask(&a->why, a->s.state, NULL, &a->s.config, SCENARIO_NOW, target.gang);
}

static void asked_done(struct asked *a)
{
    why_done(&a->why);
    scenario_done(&a->s);
    yyjson_doc_free(a->doc);
}

static const struct why_remedy *remedy_of(const struct asked *a, enum why_remedy_kind kind)
{
    for (uint32_t i = 0; i < a->why.remedies.len; i++) {
        if (a->why.remedies.items[i].kind == kind)
            return &a->why.remedies.items[i];
    }
    fail_msg("no remedy of kind %s", why_remedy_name(kind));
    return NULL;
}

static void assert_says(const struct asked *a, enum why_remedy_kind kind, const char *expected)
{
    struct strbuf text;

    strbuf_init(&text, 1000);
    why_remedy_text(&a->why, remedy_of(a, kind), &text);
    assert_string_equal(text.text, expected);
    strbuf_done(&text);
}

#define CLUSTER(queues, jobs)                                                                             \
    "{\"topology\":{\"nodes\":[{\"name\":\"n0\",\"gpus\":8,\"labels\":{\"zone\":\"z\",\"rack\":\"r0\"}}," \
    "{\"name\":\"n1\",\"gpus\":8,\"labels\":{\"zone\":\"z\",\"rack\":\"r1\"}}],"                          \
    "\"topologies\":[{\"name\":\"t\",\"levels\":[{\"node_label\":\"zone\"},{\"node_label\":\"rack\"}]}]," \
    "\"queues\":[" queues "],\"jobs\":[" jobs "]}}"
#define QUEUES                                                                                     \
    "{\"name\":\"d\",\"gpu\":{\"quota\":-1}},"                                                     \
    "{\"name\":\"a\",\"parent\":\"d\",\"gpu\":{\"quota\":4,\"limit\":6,\"over_quota_weight\":1}}," \
    "{\"name\":\"b\",\"parent\":\"d\",\"gpu\":{\"quota\":12,\"over_quota_weight\":1}}"
#define TASK(gpus) "{\"request\":{\"gpus\":" gpus "}}"
#define RUNS(gpus, node) "{\"request\":{\"gpus\":" gpus "},\"status\":\"running\",\"node\":\"" node "\"}"
#define JOB(name, queue, rest) "{\"name\":\"" name "\",\"queue\":\"" queue "\"," rest "}"

static void a_limit_is_raised_as_little_as_will_do(void **state)
{
    (void)state;
    _cleanup_(asked_done) struct asked a = {0};

    ask(&a, CLUSTER(QUEUES, JOB("j", "a", "\"tasks\":[" TASK("8") "]")), "j");
    assert_false(a.why.runs);
    assert_false(a.why.is_never);
    assert_int_equal(a.why.explanation.tried.code, VERDICT_OVER_LIMIT);
    assert_says(&a, WHY_GPUS, "request 6 GPUs per pod instead of 8 (with 7, it still waits)");
    assert_says(&a, WHY_QUEUE, "move it to queue b");
    assert_says(&a, WHY_QUOTA, "raise the GPU limit of queue a from 6 GPUs to 8 GPUs (with 7 GPUs, it still waits)");
}

static void what_no_node_has_never_runs_but_may_be_made_smaller(void **state)
{
    (void)state;
    _cleanup_(asked_done) struct asked a = {0};

    ask(&a, CLUSTER(QUEUES, JOB("j", "b", "\"tasks\":[" TASK("9") "]")), "j-0");
    assert_true(a.why.is_never);
    assert_int_equal(a.why.explanation.verdict.code, VERDICT_TOO_LARGE);
    assert_says(&a, WHY_GPUS, "request 8 GPUs per pod instead of 9");
    assert_int_equal(a.why.remedies.len, 1);
}

static void a_gang_may_start_smaller_wider_or_after_another_ends(void **state)
{
    (void)state;
    _cleanup_(asked_done) struct asked a = {0};

    ask(&a,
        CLUSTER(
            QUEUES,
            JOB("old", "b", "\"priority\":100,\"tasks\":[" RUNS("2", "n0") "," RUNS("2", "n1") "]") "," JOB(
                "j", "b",
                "\"root\":{\"name\":\"\",\"topology_constraint\":{\"topology\":\"t\",\"required_level\":\"rack\"},"
                "\"pod_sets\":[{\"name\":\"default\",\"min_available\":2}]},\"tasks\":[" TASK("4") "," TASK("4") "]")),
        "j");
    assert_int_equal(a.why.explanation.tried.code, VERDICT_TOPOLOGY_FULL);
    assert_says(&a, WHY_GPUS, "request 3 GPUs per pod instead of 4");
    assert_says(&a, WHY_PODS, "let it start with 1 pod instead of 2");
    assert_says(&a, WHY_LEVEL, "require topology level zone instead of rack");
    assert_says(&a, WHY_WITHOUT, "end old of queue b");
}

static void waiting_helps_when_a_minimum_runtime_ends(void **state)
{
    (void)state;
    _cleanup_(asked_done) struct asked a = {0};

    ask(&a,
        CLUSTER("{\"name\":\"d\",\"gpu\":{\"quota\":-1}},{\"name\":\"a\",\"parent\":\"d\",\"preempt_min_runtime_"
                "seconds\":600,"
                "\"gpu\":{\"quota\":16}}",
                JOB("low", "a",
                    "\"priority\":40,\"last_start_age_seconds\":100,\"tasks\":[" RUNS("8", "n0") "," RUNS(
                        "8", "n1") "]") "," JOB("j", "a", "\"priority\":50,\"tasks\":[" TASK("8") "]")),
        "j");
    assert_says(&a, WHY_WAIT, "wait 8m20s, until 2023-11-14T22:21:40Z");
}

static void work_that_may_not_be_preempted_may_choose_to_be(void **state)
{
    (void)state;
    _cleanup_(asked_done) struct asked a = {0};

    ask(&a, CLUSTER(QUEUES, JOB("j", "a", "\"priority\":100,\"tasks\":[" TASK("5") "]")), "j");
    assert_int_equal(a.why.explanation.tried.code, VERDICT_OVER_QUOTA);
    (void)remedy_of(&a, WHY_PREEMPTIBLE);
    assert_true(remedy_of(&a, WHY_QUOTA)->steps[0].to == 5);
    assert_true(remedy_of(&a, WHY_QUOTA)->steps[0].less == 4);
}

static void fractions_and_memory_are_made_smaller_too(void **state)
{
    (void)state;
    _cleanup_(asked_done) struct asked a = {0};
    _cleanup_(asked_done) struct asked b = {0};
    static const char share[] = "{\"topology\":{\"nodes\":[{\"name\":\"n\",\"gpus\":1,\"gpu_memory_mib\":1000}],"
                                "\"queues\":[{\"name\":\"q\",\"gpu\":"
                                "{\"quota\":-1}}],\"jobs\":[{\"name\":\"old\",\"queue\":\"q\",\"tasks\":[{\"status\":"
                                "\"running\",\"node\":\"n\","
                                "\"gpu_groups\":[\"0\"],\"request\":{\"gpu_fraction\":0.7}}]},{\"name\":\"j\","
                                "\"queue\":\"q\",\"tasks\":[{\"request\":"
                                "{\"gpu_fraction\":0.5}}]}]}}";
    static const char memory[] = "{\"topology\":{\"nodes\":[{\"name\":\"n\",\"gpus\":1,\"gpu_memory_mib\":1000}],"
                                 "\"queues\":[{\"name\":\"q\",\"gpu\":"
                                 "{\"quota\":-1}}],\"jobs\":[{\"name\":\"old\",\"queue\":\"q\",\"tasks\":[{\"status\":"
                                 "\"running\",\"node\":\"n\","
                                 "\"gpu_groups\":[\"0\"],\"request\":{\"gpu_fraction\":0.7}}]},{\"name\":\"j\","
                                 "\"queue\":\"q\",\"tasks\":[{\"request\":"
                                 "{\"gpu_memory_mib\":550,\"cpu_milli\":30000000}}]}]}}";

    ask(&a, share, "j");
    assert_says(&a, WHY_FRACTION, "request 0.3 GPU per pod instead of 0.5 (with 0.31, it still waits)");
    assert_says(&a, WHY_WITHOUT, "end old of queue q");
    ask(&b, memory, "j");
    assert_true(b.why.is_never);
    assert_int_equal(b.why.remedies.len, 0);
}

static void more_pods_of_a_running_gang_are_asked_about(void **state)
{
    (void)state;
    _cleanup_(asked_done) struct asked a = {0};

    ask(&a,
        CLUSTER(
            QUEUES,
            JOB("j", "a",
                "\"root\":{\"name\":\"\",\"pod_sets\":[{\"name\":\"default\",\"min_available\":1}]},\"tasks\":[" RUNS(
                    "4", "n0") "," TASK("4") "]")),
        "j");
    assert_false(a.why.runs);
    assert_int_equal(a.why.more_than, 1);
    assert_says(&a, WHY_GPUS, "request 2 GPUs per pod instead of 4 (with 3, it still waits)");
}

static void a_workload_that_gets_a_place_runs(void **state)
{
    (void)state;
    _cleanup_(asked_done) struct asked a = {0};

    ask(&a, CLUSTER(QUEUES, JOB("j", "b", "\"tasks\":[" TASK("8") "]")), "j");
    assert_true(a.why.runs);
    assert_int_equal(a.why.tries, 0);
}

static void workloads_are_found_by_their_names(void **state)
{
    (void)state;
    static const char text[] =
        "{\"topology\":{\"nodes\":[],\"queues\":[{\"name\":\"q\"}],\"jobs\":["
        "{\"name\":\"one\",\"namespace\":\"x\",\"queue\":\"q\",\"tasks\":[{\"name\":\"pod-a\"}]},"
        "{\"name\":\"pg-train-1234\",\"namespace\":\"y\",\"queue\":\"q\",\"tasks\":[{\"name\":\"pod-b\"}]}]}}";
    struct asked a = {0};
    struct err err;
    struct why_target target;

    read_scenario(&a, text);
    struct why_input input = {.state = a.s.state};
    gang_id one = state_find_gang(a.s.state, "x", "one");
    gang_id train = state_find_gang(a.s.state, "y", "pg-train-1234");
    const struct {
        const char *name;
        int r;
        gang_id gang;
    } rows[] = {
        {"one", 0, one},     {"x/one", 0, one},     {"y/one", -ENOENT, 0}, {"pod-a", 0, one},
        {"x/pod-a", 0, one}, {"y/pod-b", 0, train}, {"train", 0, train},   {"y/train", 0, train},
        {"tra", -ENOENT, 0}, {"", -ENOENT, 0},      {"x/", -ENOENT, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(why_find(&input, rows[i].name, &target, &err), rows[i].r);
        if (rows[i].r == 0)
            assert_int_equal(target.gang, rows[i].gang);
    }
    assert_int_equal(why_find(&input, "y/one", &target, &err), -ENOENT);
    assert_string_equal(err.text, "there is no workload 'y/one'; did you mean x/one?");
    assert_int_equal(why_find(&input, "on", &target, &err), -ENOENT);
    assert_string_equal(err.text, "there is no workload 'on'; did you mean one?");
    scenario_done(&a.s);
    yyjson_doc_free(a.doc);
}

/* Everything that a copy has to say again. */
static const char rich[] =
    "{\"topology\":{\"nodes\":[{\"name\":\"n0\",\"gpus\":4,\"gpu_memory_mib\":8000,\"labels\":{\"zone\":\"z\",\"rack\":"
    "\"r\"}},"
    "{\"name\":\"n1\",\"gpus\":0,\"labels\":{}},{\"name\":\"m\",\"gpus\":2,\"mig_strategy\":\"mixed\","
    "\"mig_instances\":{\"nvidia.com/"
    "mig-1g.5gb\":7}},{\"name\":\"u\",\"gpus\":2,\"numa\":{\"policy\":\"single-numa-node\","
    "\"scope\":\"pod\",\"zones\":[{\"id\":\"node-0\",\"allocatable\":{\"gpus\":2},\"available\":{\"gpus\":2}}]}}],"
    "\"topologies\":[{\"name\":\"t\",\"levels\":[{\"node_label\":\"zone\",\"alias\":\"Z\"},{\"node_label\":\"rack\"}]}]"
    ","
    "\"queues\":[{\"name\":\"d\",\"gpu\":{\"quota\":-1}},{\"name\":\"q\",\"parent\":\"d\",\"priority\":120,"
    "\"reclaim_min_runtime_seconds\":5,\"historical_usage\":{\"gpu\":0.2},\"gpu\":{\"quota\":3,\"limit\":8}}],"
    "\"dra\":{\"device_classes\":[\"gpu.example.com\"],\"resource_slices\":[{\"name\":\"s\",\"device_class\":\"gpu."
    "example.com\","
    "\"driver\":\"nvidia.com/"
    "gpu\",\"node\":\"n1\",\"device_count\":2}],\"resource_claims\":[{\"name\":\"c\",\"namespace\":\"x\","
    "\"labels\":{\"kai.scheduler/queue\":\"q\"},\"device_class\":\"gpu.example.com\",\"count\":1,\"status\":null}]},"
    "\"jobs\":[{\"name\":\"a\",\"namespace\":\"x\",\"queue\":\"q\",\"preemption_delay_seconds\":9,\"tasks\":[{"
    "\"status\":"
    "\"running\",\"node\":\"n0\",\"gpu_groups\":[\"g0\",\"g1\"],\"request\":{\"gpu_fraction\":0.5,\"gpu_fraction_"
    "devices\":2},"
    "\"labels\":{\"app\":\"web\"}},{\"request\":{\"mig\":{\"nvidia.com/mig-1g.5gb\":2}}},{\"resource_claims\":[{"
    "\"pod_claim_name\":\"c\",\"claim_name\":\"c\",\"from_template\":false}]}]},"
    "{\"name\":\"b\",\"queue\":\"q\",\"qos_class\":\"Guaranteed\",\"root\":{\"name\":\"\",\"min_subgroups\":1,"
    "\"topology_constraint\":{\"topology\":\"t\",\"required_level\":\"Z\",\"preferred_level\":\"rack\"},\"groups\":[],"
    "\"pod_sets\":[{\"name\":\"l\",\"min_available\":1},{\"name\":\"r\",\"min_available\":0}]},\"tasks\":[{\"pod_set\":"
    "\"l\","
    "\"order_priority\":3,\"request\":{\"gpu_memory_mib\":2000},\"pod_affinity\":{\"match_labels\":{\"app\":\"web\"},"
    "\"topology_key\":\"zone\"}},{\"pod_set\":\"r\",\"request\":{\"gpus\":1},\"node_affinity_types\":[\"n0\"]}]}]}}";

static void add_objects(const struct state *state, struct strbuf *out)
{
    for (uint32_t i = 0; i < state->nodes_by_rank.len; i++) {
        node_id id = state->nodes_by_rank.items[i];
        const struct node *node = &state->nodes.items[id];

        strbuf_addf(out, "%s %u %lld %d %d", state_name(state, node->name), state_labels(state, node->labels).count,
                    (long long)node->gpu_memory_mib, (int)node->mig_strategy,
                    node->numa ? (int)node->numa->zone_count : -1);
        for (uint32_t dim = 0; dim < state->res.count; dim++)
            strbuf_addf(out, " %s=%lld/%lld", state_name(state, state->res.name[dim]),
                        (long long)state_books(state, id).allocatable[dim],
                        (long long)state_books(state, id).idle[dim]);
        strbuf_addch(out, '\n');
    }
    for (queue_id id = 0; id < state->queues.len; id++) {
        const struct queue *queue = &state->queues.items[id];

        strbuf_addf(out, "%s<%s %d %g %g %g %lld %lld %d\n", state_name(state, queue->name),
                    state_name(state, queue->parent_name), queue->priority, queue->deserved[SHARE_GPU],
                    queue->limit[SHARE_GPU], queue->usage[SHARE_GPU], (long long)queue->allocated.v[SHARE_GPU],
                    (long long)queue->requested.v[SHARE_GPU], (int)queue->has_reclaim_min_runtime);
    }
}

static void add_decisions(struct state *state, const struct config *config, struct strbuf *out)
{
    struct engine *engine = engine_new(state, config);
    const struct decision *decisions;
    size_t count;

    engine_take_in(engine);
    add_objects(state, out);
    engine_open(engine, SCENARIO_NOW);
    for (uint32_t i = 0; i < config->action_count; i++)
        engine_run(engine, config->actions[i]);
    decisions = engine_decisions(engine, &count);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(out, "%d %s %s\n", (int)decisions[i].kind,
                    state_name(state, state->pods.items[decisions[i].pod].name),
                    state_name(state, state->nodes.items[decisions[i].node].name));
    for (gang_id id = 0; id < state->gangs.len; id++)
        strbuf_addf(out, "%s %s\n", state_name(state, state->gangs.items[id].name),
                    verdict_code_name(engine_verdict(engine, id).code));
    engine_close(engine);
    engine_free(engine);
}

static void a_copy_is_what_its_source_is_and_decides_alike(void **state)
{
    (void)state;
    struct asked a = {0};
    struct strbuf original;
    struct strbuf copied;

    read_scenario(&a, rich);
    strbuf_init(&original, 100000);
    strbuf_init(&copied, 100000);
    state_settle(a.s.state);
    struct state *copy = state_retell(a.s.state, &RETELL_CHANGE_INIT(NO_ID));
    struct state *second = state_retell(copy, &RETELL_CHANGE_INIT(NO_ID));
    state_free(second);
    add_decisions(copy, &a.s.config, &copied);
    add_decisions(a.s.state, &a.s.config, &original);
    assert_non_null(strstr(original.text, "0 b-0 n0"));
    assert_string_equal(copied.text, original.text);
    state_free(copy);
    strbuf_done(&original);
    strbuf_done(&copied);
    scenario_done(&a.s);
    yyjson_doc_free(a.doc);
}

static void the_answer_is_written_for_people_and_for_programs(void **state)
{
    (void)state;
    _cleanup_(asked_done) struct asked a = {0};
    char *text = NULL;
    size_t len = 0;
    yyjson_doc *doc;

    ask(&a, CLUSTER(QUEUES, JOB("j", "a", "\"tasks\":[" TASK("8") "]")), "j");
    FILE *out = open_memstream(&text, &len);
    why_print(&a.why, &(struct table_view){0}, out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(
        strstr(text, "REASON    over_limit: it requests 8 GPUs; queue a has 0 GPUs allocated and a limit of 6 GPUs"));
    assert_non_null(strstr(text, "a: quota 4 GPUs, limit 6 GPUs"));
    assert_non_null(strstr(text, "What would help"));
    free(text);

    out = open_memstream(&text, &len);
    why_write(&a.why, out);
    assert_int_equal(fclose(out), 0);
    doc = yyjson_read(text, len, 0);
    assert_non_null(doc);
    yyjson_val *root = yyjson_doc_get_root(doc);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(root, "reason")), "over_limit");
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(root, "remedies")), a.why.remedies.len);
    assert_non_null(
        strstr(yyjson_get_str(yyjson_obj_get(yyjson_obj_get(root, "kaiTexts"), "podGroup")), "OverLimit: a quota"));
    yyjson_doc_free(doc);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_is_raised_as_little_as_will_do),
        cmocka_unit_test(what_no_node_has_never_runs_but_may_be_made_smaller),
        cmocka_unit_test(a_gang_may_start_smaller_wider_or_after_another_ends),
        cmocka_unit_test(waiting_helps_when_a_minimum_runtime_ends),
        cmocka_unit_test(work_that_may_not_be_preempted_may_choose_to_be),
        cmocka_unit_test(fractions_and_memory_are_made_smaller_too),
        cmocka_unit_test(more_pods_of_a_running_gang_are_asked_about),
        cmocka_unit_test(a_workload_that_gets_a_place_runs),
        cmocka_unit_test(workloads_are_found_by_their_names),
        cmocka_unit_test(a_copy_is_what_its_source_is_and_decides_alike),
        cmocka_unit_test(the_answer_is_written_for_people_and_for_programs),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
