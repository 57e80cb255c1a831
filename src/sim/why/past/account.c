/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/why/past/account.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "model/ids.h"
#include "text/suggest.h"

void account_init(struct account *account)
{
    *account = (struct account){0};
    arena_init(&account->arena);
}

void account_done(struct account *account)
{
    vec_done(&account->workloads);
    vec_done(&account->spans);
    arena_done(&account->arena);
}

void account_waits(const struct account *account, uint32_t index, nsec_t ret_time[static _VERDICT_CODE_MAX])
{
    memset(ret_time, 0, _VERDICT_CODE_MAX * sizeof *ret_time);
    for (uint32_t i = account->workloads.items[index].first_span; i != NO_ID; i = account->spans.items[i].next) {
        const struct account_span *span = &account->spans.items[i];

        ret_time[span->code] += span->until - span->from;
    }
}

const char *account_state_name(enum account_state state)
{
    static const char *const names[] = {
        [ACCOUNT_PENDING] = "Pending", [ACCOUNT_RUNNING] = "Running", [ACCOUNT_ENDED] = "Ended"};

    return names[state];
}

/* Is it what the person who wrote "name" or "namespace/name" means? */
static bool is_called(const struct account_workload *workload, const char *name)
{
    const char *slash = strchr(name, '/');
    size_t len = slash ? (size_t)(slash - name) : 0;
    const char *own = strrchr(workload->label, '/');

    if (slash && (strlen(workload->namespace) != len || strncmp(workload->namespace, name, len) != 0))
        return false;
    name = slash ? slash + 1 : name;
    return strcmp(own ? own + 1 : workload->label, name) == 0 || strcmp(workload->name, name) == 0;
}

static int fail_none(const struct account *account, const char *name, struct err *err)
{
    struct suggestion suggestion;
    char hint[SUGGESTION_MAX];

    suggestion_init(&suggestion, name);
    vec_foreach (&account->workloads, workload) {
        const char *slash = strrchr(workload->label, '/');

        suggestion_offer(&suggestion, strchr(name, '/') || !slash ? workload->label : slash + 1);
    }
    (void)suggestion_text(&suggestion, "", hint);
    return err_set(err, -ENOENT, "the journal has no workload '%s'%s", name,
                   *hint ? hint : "; without a WORKLOAD, 'muster why --journal' sums up all of them");
}

int account_find_workload(const struct account *account, const char *name, uint32_t *ret_index, struct err *err)
{
    uint32_t found = NO_ID;

    for (uint32_t i = 0; i < account->workloads.len; i++) {
        const struct account_workload *workload = &account->workloads.items[i];
        const struct account_workload *other = found == NO_ID ? NULL : &account->workloads.items[found];

        if (!is_called(workload, name))
            continue;
        if (other && strcmp(other->namespace, workload->namespace) != 0)
            return err_set(err, -EINVAL, "'%s' matches several workloads; ask about one of them: %s, %s", name,
                           other->label, workload->label);
        found = i;
    }
    if (found == NO_ID)
        return fail_none(account, name, err);
    *ret_index = found;
    return 0;
}
