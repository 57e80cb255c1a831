/* SPDX-License-Identifier: Apache-2.0 */
#include "local/rights/identity.h"

#include <stdlib.h>

#include "base/macros.h"
#include "base/mem.h"

struct identity *identity_new(const char *name, uint32_t owner)
{
    struct identity *identity = xcalloc(1, sizeof *identity);

    identity->refs = 1;
    identity->name = xstrdup(name);
    identity->uid = xstrdup("");
    identity->owner = owner;
    return identity;
}

void identity_add_group(struct identity *identity, const char *group)
{
    vec_push(&identity->groups, xstrdup(group));
}

void identity_set_account(struct identity *identity, const char *namespace, const char *name, const char *uid)
{
    identity->account_namespace = xstrdup(namespace);
    identity->account = xstrdup(name);
    free(identity->uid);
    identity->uid = xstrdup(uid);
}

struct identity *identity_ref(struct identity *identity)
{
    identity->refs++;
    return identity;
}

void identity_unref(struct identity *identity)
{
    if (!identity || --identity->refs > 0)
        return;
    vec_foreach (&identity->groups, group)
        free(*group);
    vec_done(&identity->groups);
    free(identity->name);
    free(identity->uid);
    free(identity->account_namespace);
    free(identity->account);
    free(identity->pod);
    free(identity->node);
    free(identity->pod_uid);
    free(identity);
}

void identity_unrefp(struct identity **identity)
{
    identity_unref(*identity);
}
