/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

struct request;
struct strbuf;
struct user;

/*
 * Who may submit to which queue. A queue with the annotation KEY_QUEUE_GROUPS is for the members of these Unix groups, and
 * so are the queues below it. Appends a sentence for each place in the object that names a queue which is not the user's:
 * its label, that of its template of pods, and the queue of a PodGroup, which is what the scheduler goes by. A place that
 * has not changed is left alone, so that objects of before can be changed otherwise. `old` is NULL for a new object.
 */
void queue_limits_check(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old, const struct user *user,
                        struct strbuf *problems);
