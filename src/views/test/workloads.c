/* SPDX-License-Identifier: Apache-2.0 */
#include "views/workloads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "text/yaml.h"
#include "views/nodes.h"
#include "views/queues.h"

/* The objects of a text in YAML, one document each, and the rows that they make. */
struct made {
    struct yaml_docs docs;
    struct view_objects objects;
    struct arena arena;
    struct workload_rows rows;
};

static void made_from(struct made *made, const char *text)
{
    struct err err = {0};

    memset(made, 0, sizeof *made);
    arena_init(&made->arena);
    assert_int_equal(yaml_parse(text, strlen(text), "test", &made->docs, &err), 0);
    vec_foreach (&made->docs, doc) {
        yyjson_val *root = yyjson_doc_get_root(doc->json);
        const char *kind = yyjson_get_str(yyjson_obj_get(root, "kind"));

        for (enum view_kind i = 0; i < _VIEW_KIND_MAX; i++) {
            if (strcmp(view_resource(i)->kind, kind) == 0)
                vec_push(&made->objects.of[i], root);
        }
    }
    workload_rows_make(&made->objects, &made->arena, &made->rows);
}

static void made_done(struct made *made)
{
    vec_done(&made->rows);
    view_objects_done(&made->objects);
    yaml_docs_done(&made->docs);
    arena_done(&made->arena);
}

#define JOB(name, more)                                                                      \
    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " name ", namespace: a, uid: u-" name \
    ", creationTimestamp: '2026-01-01T00:00:00Z', labels: {kai.scheduler/queue: q}, annotations: {" more "}}\n"
#define GPUS(count)                                                                             \
    "{metadata: {}, spec: {schedulerName: kai-scheduler, containers: [{name: main, resources: " \
    "{limits: {nvidia.com/gpu: " count "}}}]}}"
#define POD(name, of, phase, more)                                                                                     \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: a, ownerReferences: [{kind: Job, name: x, " \
    "uid: u-" of ", controller: true}]}\nspec: {" more "}\nstatus: {phase: " phase "}\n"

static void a_gang_that_runs_in_part_says_how_much(void **state)
{
    struct made made;

    (void)state;
    made_from(&made, JOB("j", "") "spec: {parallelism: 3, completions: 3, template: " GPUS("8") "}\n" POD(
                         "p0", "j", "Running", "nodeName: n1") POD("p1", "j", "Running", "nodeName: n1")
                         POD("p2", "j", "Pending", ""));
    assert_int_equal(made.rows.len, 1);
    const struct workload_row *row = made.rows.items;
    char text[ASKED_TEXT_MAX];

    assert_int_equal(row->state, ROW_RUNNING);
    assert_string_equal(row->message, "2 of 3 pods run");
    assert_string_equal(asked_gpus_format(&row->asked, text), "24");
    assert_int_equal(row->node_count, 1);
    assert_string_equal(row->nodes[0], "n1");
    assert_string_equal(row->queue, "q");
    made_done(&made);
}

static void a_waiting_workload_has_the_reason_of_its_pod_group(void **state)
{
    struct made made;

    (void)state;
    made_from(
        &made,
        JOB("j", "") "spec: {template: " GPUS("1") "}\n" POD(
            "p", "j", "Pending",
            "") "---\napiVersion: "
                "scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: pg, namespace: a, ownerReferences: "
                "[{kind: "
                "Job, name: j, uid: u-j}]}\nspec: {queue: q}\nstatus: {schedulingConditions: [{reasons: [{reason: "
                "OverLimit, message: too much}]}]}\n");
    assert_int_equal(made.rows.len, 1);
    assert_int_equal(made.rows.items[0].state, ROW_PENDING);
    assert_string_equal(made.rows.items[0].reason, "OverLimit");
    assert_string_equal(row_reason_words(made.rows.items[0].reason), "over queue limit");
    assert_string_equal(made.rows.items[0].message, "too much");
    made_done(&made);
}

static void a_suspended_job_waits_or_is_held_as_its_annotations_say(void **state)
{
    static const struct {
        const char *text;
        enum row_state state;
        const char *reason;
    } cases[] = {
        {JOB("j", "muster.scheduler/start: when-ready, muster.scheduler/wait-reason: Dependency"), ROW_PENDING,
         "Dependency"},
        {JOB("j", "muster.scheduler/start: held"), ROW_SUSPENDED, "Held"},
        {JOB("j", ""), ROW_SUSPENDED, "Suspended"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct made made;
        char text[2048];

        (void)snprintf(text, sizeof text, "%sspec: {suspend: true, template: %s}\n", cases[i].text, GPUS("1"));
        made_from(&made, text);
        assert_int_equal(made.rows.items[0].state, cases[i].state);
        assert_string_equal(made.rows.items[0].reason, cases[i].reason);
        made_done(&made);
    }
}

static void a_job_that_failed_has_an_exit_code_and_times(void **state)
{
    struct made made;

    (void)state;
    made_from(
        &made,
        JOB("j", "") "spec: {template: " GPUS(
            "1") "}\nstatus: {conditions: [{type: Failed, status: 'True', "
                 "reason: BackoffLimitExceeded, lastTransitionTime: '2026-01-01T00:01:00Z'}]}\n" POD(
                     "p", "j",
                     "Failed, containerStatuses: [{state: {terminated: {exitCode: 137, reason: OOMKilled, startedAt: "
                     "'2026-01-01T00:00:10Z', finishedAt: '2026-01-01T00:00:40Z'}}}]",
                     "nodeName: n"));
    const struct workload_row *row = made.rows.items;

    assert_int_equal(row->state, ROW_FAILED);
    assert_string_equal(row->reason, "OOMKilled");
    assert_int_equal(row->exit_code, 137);
    assert_int_equal(row->exit_signal, 9);
    assert_int_equal(row_run_time(row, 0), 50 * NSEC_PER_SEC);
    made_done(&made);
}

static void a_job_that_was_cancelled_keeps_the_time_that_it_has_run(void **state)
{
    struct made made;

    (void)state;
    made_from(&made, JOB("j", "muster.scheduler/cancelled: '2026-01-01T00:01:00Z', muster.scheduler/started: "
                              "'2026-01-01T00:00:10Z'") "spec: {suspend: true, template: " GPUS("1") "}\n");
    const struct workload_row *row = made.rows.items;

    assert_int_equal(row->state, ROW_CANCELLED);
    assert_int_equal(row_run_time(row, 0), 50 * NSEC_PER_SEC);
    made_done(&made);
}

static void jobs_of_other_schedulers_and_reservations_are_no_workloads(void **state)
{
    struct made made;

    (void)state;
    made_from(&made, JOB("j", "") "spec: {template: {spec: {schedulerName: default-scheduler}}}\n---\napiVersion: "
                                  "scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: pg, namespace: "
                                  "kai-resource-reservation}\nspec: {}\n");
    assert_int_equal(made.rows.len, 0);
    made_done(&made);
}

static void queues_borrow_what_siblings_lend(void **state)
{
    struct made made;
    struct queue_rows rows = {0};
    struct err err = {0};

    (void)state;
    made_from(
        &made,
        "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: top}\nspec: {resources: {gpu: {quota: 8, "
        "limit: -1}}}\n---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec: "
        "{parentQueue: top, resources: {gpu: {quota: 4, limit: -1, overQuotaWeight: 1}}}\n---\napiVersion: "
        "scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: b}\nspec: {parentQueue: top, resources: {gpu: {quota: "
        "4, limit: -1, overQuotaWeight: 1}}}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: "
        "{allocatable: {nvidia.com/gpu: '8', cpu: '64', memory: 64Gi, pods: '110'}, conditions: [{type: Ready, "
        "status: 'True'}]}\n---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: pg, "
        "namespace: x}\nspec: {queue: a, minMember: 1}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, "
        "namespace: x, annotations: {pod-group-name: pg}}\nspec: {nodeName: n1, schedulerName: kai-scheduler, "
        "containers: [{name: main, resources: {limits: {nvidia.com/gpu: '6'}}}]}\nstatus: {phase: Running}\n");
    if (queue_rows_make(&made.objects, 0, &made.arena, &rows, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(rows.len, 3);
    assert_string_equal(rows.items[0].name, "top");
    assert_string_equal(rows.items[1].name, "a");
    assert_int_equal(rows.items[1].depth, 1);
    assert_true(rows.items[1].allocated == 6 && rows.items[1].borrowed == 2);
    assert_true(rows.items[2].lent == 2);

    struct node_rows nodes = {0};
    node_rows_make(&made.objects, &made.arena, &nodes);
    assert_int_equal(nodes.items[0].gpus_milli_used, 6000);
    assert_string_equal(nodes.items[0].state, "Ready");
    vec_done(&nodes);
    vec_done(&rows);
    made_done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_that_runs_in_part_says_how_much),
        cmocka_unit_test(a_waiting_workload_has_the_reason_of_its_pod_group),
        cmocka_unit_test(a_suspended_job_waits_or_is_held_as_its_annotations_say),
        cmocka_unit_test(a_job_that_failed_has_an_exit_code_and_times),
        cmocka_unit_test(a_job_that_was_cancelled_keeps_the_time_that_it_has_run),
        cmocka_unit_test(jobs_of_other_schedulers_and_reservations_are_no_workloads),
        cmocka_unit_test(queues_borrow_what_siblings_lend),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
