/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <yyjson.h>

struct err;
struct group_question;
struct loop;

/*
 * What jq expressions come to, asked of a process with limits (`muster jq`): those of a Karta may be anything. Requests
 * with the same questions that wait at the same time are asked together. What had to be stopped is not tried again for
 * a minute.
 */
struct values;

/*
 * `answer` is a list with an entry for each question, as text/jq.h describes them, and lives until this returns. It is
 * NULL when there is none; `invalid` is then a list of what is wrong with the questions or NULL, and `err` says why.
 */
typedef void (*values_fn)(void *arg, yyjson_val *answer, yyjson_val *invalid, const struct err *err);

struct values_request {
    const struct group_question *questions;
    size_t question_count;
    yyjson_val *documents[2];  // what the questions are about; they live until the answer comes
    values_fn fn;
    void *arg;
};

/* `program` is the one that answers, as it is called in files; it is started with the argument "jq". */
struct values *values_new(struct loop *loop, const char *program);

/* Nobody is called back any more. */
void values_free(struct values *values);

/* Calls back from the loop, once, unless it is cancelled. */
struct values_wait *values_ask(struct values *values, const struct values_request *request);
void values_cancel(struct values_wait *wait);
