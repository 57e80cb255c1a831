/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "services/admission/rules.h"

struct err;
struct strbuf;

/* An AdmissionReview (admission.k8s.io/v1) of one of these would be larger than any object that etcd takes, twice. */
enum { REVIEW_BYTES_MAX = 8 << 20 };

/* What was decided, for logs and metrics. */
struct review_outcome {
    bool is_denied;
    char object[300];  // "namespace/name"
    char message[512];
};

/*
 * Answers the text of an AdmissionReview by a rule: appends the AdmissionReview with the response to `answer`. Returns 0,
 * or -EINVAL for a text that is no review, with the reason in `err`.
 */
MUST_CHECK int review_answer(const struct admission_rules *rules, admission_rule_fn rule, const char *text, size_t len,
                             uint64_t random, struct strbuf *answer, struct review_outcome *ret_outcome,
                             struct err *err);
