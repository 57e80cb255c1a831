/* SPDX-License-Identifier: Apache-2.0 */

/* What the operator passes to the scheduler has to be a flag of the scheduler: neither includes the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame/service.h"
#include "services/operator/desired.h"
#include "services/scheduler/scheduler.h"

static bool is_flag(const char *name)
{
    struct flag_set sets[SERVICE_FLAG_SETS];
    size_t count = service_flag_sets(&scheduler_service, sets);

    for (size_t set = 0; set < count; set++)
        for (size_t i = 0; i < sets[set].count; i++)
            if (strcmp(sets[set].flags[i].name, name) == 0)
                return true;
    return false;
}

static void every_flag_that_a_shard_may_set_is_one_of_the_scheduler(void **state)
{
    size_t count = 0;
    const char *const *names = shard_flag_names(&count);

    (void)state;
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++)
        assert_true(is_flag(names[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flag_that_a_shard_may_set_is_one_of_the_scheduler),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
