/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "model/queue.h"
#include "model/resources.h"
#include "sim/whatif/whatif_change.h"

static void changes_are_told_from_paths(void **state)
{
    (void)state;
    assert_true(whatif_is_change("queue/a.quota=1"));
    assert_true(whatif_is_change("new=job.yaml"));
    assert_false(whatif_is_change("queue/a.yaml"));
    assert_false(whatif_is_change("cluster=1/nodes.yaml"));
    assert_false(whatif_is_change("kube:"));
}

static void changes_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum whatif_kind kind;
        const char *name;
        int resource;
        double value;
    } rows[] = {
        {"queue/team.a.quota=16", WHATIF_QUEUE_QUOTA, "team.a", SHARE_GPU, 16},
        {"queue/a.cpu.limit=2", WHATIF_QUEUE_LIMIT, "a", SHARE_CPU, 2000},
        {"queue/a.memory.quota=1Gi", WHATIF_QUEUE_QUOTA, "a", SHARE_MEMORY, 1073741824},
        {"queue/a.gpu.limit=unlimited", WHATIF_QUEUE_LIMIT, "a", SHARE_GPU, UNLIMITED},
        {"queue/a.cpu.weight=0.5", WHATIF_QUEUE_WEIGHT, "a", SHARE_CPU, 0.5},
        {"queue/a.priority=-3", WHATIF_QUEUE_PRIORITY, "a", 0, -3},
        {"workload/lab/x.priority=7", WHATIF_WORKLOAD_PRIORITY, "lab/x", 0, 7},
        {"workload/x=gone", WHATIF_WORKLOAD_GONE, "x", 0, 0},
        {"node/n.1=drained", WHATIF_NODE_DRAINED, "n.1", 0, 0},
        {"node/n=+3", WHATIF_NODE_ADDED, "n", 0, 3},
        {"new=a=b.yaml", WHATIF_NEW, "a=b.yaml", 0, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct whatif_change change;
        assert_int_equal(whatif_change_parse(&change, rows[i].text, NULL), 0);
        assert_int_equal(change.kind, rows[i].kind);
        assert_string_equal(change.name, rows[i].name);
        assert_int_equal(change.resource, rows[i].resource);
        assert_true(change.value == rows[i].value);
    }
}

static void wrong_changes_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "queue/a=1",
        "queue/.quota=1",
        "queue/a.quota=-1",
        "queue/a.weight=unlimited",
        "queue/a.priority=x",
        "workload/x=lost",
        "node/n=+0",
        "node/n=+1000000",
        "node/n=+nan",
        "node/n=gone",
        "node/=lost",
        "new=",
        "queue/a.priority=1e99",
        "workload/x.priority=",
        "something=1",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct whatif_change change;
        struct err err = {0};
        if (whatif_change_parse(&change, texts[i], &err) >= 0)
            fail_msg("%s was read", texts[i]);
        assert_true(err.text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_told_from_paths),
        cmocka_unit_test(changes_are_read),
        cmocka_unit_test(wrong_changes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
