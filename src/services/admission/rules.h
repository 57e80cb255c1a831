/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/strbuf.h"
#include "base/vec.h"

/*
 * Which objects are admitted, and what pods get added: pure decisions over parsed objects, without a clock or a
 * connection, for the webhooks and for whoever has objects to admit without HTTP.
 *
 * A denial begins with KAI's sentence, which users' tools look for, and goes on with the field that is wrong and what to
 * write instead.
 */
struct admission_rules {
    const char *scheduler_name;  // pods of other schedulers are left alone
    bool shares_gpus;            // pods may ask for a part of a GPU
    bool limits_memory;          // pods on shared GPUs get HAMi-core's memory limit
    bool blocks_devices;         // pods may not choose devices by NVIDIA_VISIBLE_DEVICES
    const char *runtime_class;   // of pods on shared GPUs that name none; "": none
};

/* An object that somebody creates or changes. All borrowed. */
struct admission_request {
    const char *namespace;  // "" for kinds that have none
    yyjson_val *object;
    yyjson_val *old;  // as it was before an update; NULL: it is new
    uint64_t random;  // any 64 random bits, for names
};

/* The outcome. */
struct admission_verdict {
    bool is_denied;
    struct strbuf message;  // why; one line for each reason
    yyjson_mut_doc *patch;  // what is to be changed, an array of operations of RFC 6902; NULL: nothing
    VEC(char *) warnings;   // for whoever sent the object
};

void admission_verdict_init(struct admission_verdict *verdict);
void admission_verdict_done(struct admission_verdict *verdict);

/* Adds a reason to deny. */
void admission_deny(struct admission_verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));
void admission_warn(struct admission_verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A name or value of the object for a message, cut where it is long. Returns `text`. */
enum { ADMISSION_TEXT_MAX = 80 };
const char *admission_text(const char *value, char text[static ADMISSION_TEXT_MAX]);

typedef void (*admission_rule_fn)(const struct admission_rules *rules, const struct admission_request *request,
                                  struct admission_verdict *verdict);

/* Adds what pods on shared GPUs need, and hides GPUs from containers that have not asked for one. */
void admission_default_pod(const struct admission_rules *rules, const struct admission_request *request,
                           struct admission_verdict *verdict);

/* What is denied of a pod that was there before and has not become worse is let pass: its controller has to be able to
 * remove finalizers when the settings have changed since. */
void admission_check_pod(const struct admission_rules *rules, const struct admission_request *request,
                         struct admission_verdict *verdict);
void admission_check_pod_group(const struct admission_rules *rules, const struct admission_request *request,
                               struct admission_verdict *verdict);
void admission_check_queue(const struct admission_rules *rules, const struct admission_request *request,
                           struct admission_verdict *verdict);
void admission_check_topology(const struct admission_rules *rules, const struct admission_request *request,
                              struct admission_verdict *verdict);
