/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/time.h"

/* How a try ended, as far as it matters for making another. */
struct kube_outcome {
    int status;          // of HTTP; 0: no answer
    bool is_whole;       // the answer came whole
    bool is_unsent;      // the server cannot have seen the request
    bool is_repeatable;  // the request may be made twice
    bool is_hopeless;    // it would end the same way again: untrusted, too large
    bool has_new_login;  // a refused login has been tried anew already
    nsec_t retry_after;  // that the server asks for; negative: it asks for nothing
};

enum kube_retry {
    RETRY_NO,
    RETRY_LOGIN,  // at once, with fresh credentials
    RETRY_LATER,  // after `retry_after`, or backing off
};

/* Pure, so that it can be tested as a table. */
enum kube_retry kube_retry_of(const struct kube_outcome *outcome);

/* The value of a Retry-After header in seconds, as Kubernetes sends it; -1 when there is none or it is a date. */
nsec_t kube_retry_after(const char *header);
