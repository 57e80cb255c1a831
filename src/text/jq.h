/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

struct err;

/*
 * jq expressions that came from outside, answered by libjq. An expression may run for ever and take all memory, and
 * libjq cannot be stopped: whoever answers runs in a process of its own with limits (`muster jq`), and is killed.
 *
 * A request asks the same of each of its inputs; an input is a list of documents, and a question names one by its
 * place. A question without a document is only checked.
 *
 *     {"questions": [{"expression": ".spec.replicas", "document": 0}, {"expression": ".a[0]"}],
 *      "inputs": [[{"spec": {"replicas": 3}}], [{"spec": null}]]}
 *
 * The answers are lists of results, an input after the other, or what went wrong:
 *
 *     {"answers": [[{"results": [3]}, {"results": []}], [{"results": [null]}, {"results": []}]]}
 *
 * Where an expression makes no sense nothing is answered, and what is wrong stands in the expression's place:
 *
 *     {"invalid": [null, "syntax error, unexpected ..."]}
 */
enum { JQ_EXPRESSION_MAX = 16 << 10, JQ_QUESTIONS_MAX = 4096, JQ_RESULTS_MAX = 1000 };

/* Answers a request; the text is to be freed by the caller. Returns 0, or -EINVAL when the request makes no sense. */
MUST_CHECK int jq_answer(const char *request, size_t len, char **ret_answer, struct err *err);

/*
 * What an expression holds that it may not: assignments and deletions, since it only reads; what walks over all of a
 * document or counts without end; brackets and quotes that are not closed. NULL when there is nothing of that kind.
 */
const char *jq_forbidden(const char *expression);
