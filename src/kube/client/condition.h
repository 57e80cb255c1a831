/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/time.h"

struct kube_condition {
    const char *uid;  // of the object that is meant; NULL: whichever has the name
    const char *type;
    const char *status;  // "True", "False"
    const char *reason;
    const char *message;
};

/* A strategic merge patch that sets the condition in the status, as of `now`; to be freed with yyjson_mut_doc_free(). */
yyjson_mut_doc *kube_condition_patch(const struct kube_condition *condition, nsec_t now);
