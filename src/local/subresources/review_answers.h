/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

struct identity;
struct rights;

/* A review that somebody sends, and the status that answers it. */
struct review_request {
    struct rights *rights;
    const struct identity *identity;  // of the sender
    const char *namespace;            // of the path; "" without one
    yyjson_mut_doc *doc;
    yyjson_mut_val *spec;    // NULL: there is none
    yyjson_mut_val *status;  // to be filled
};

typedef void (*review_answer_fn)(struct review_request *request);

void review_self(struct review_request *request);            // who the sender is
void review_self_access(struct review_request *request);     // whether the sender may do something
void review_self_rules(struct review_request *request);      // all that the sender may do
void review_subject_access(struct review_request *request);  // whether somebody else may
void review_token(struct review_request *request);           // whose token it is
