/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <yyjson.h>

#include "base/arena.h"
#include "base/vec.h"

struct object_set;
struct table_view;

/*
 * What becomes of a cluster that another scheduler runs when Muster takes its place: what stays as it is, what changes,
 * what somebody has to do, and what Muster does not have. Read from the objects alone; nothing is written to the cluster.
 * Beside the findings come the values for the Helm chart, and the Queues and PriorityClasses that the other scheduler's
 * queues become.
 */
enum migrate_system { SYSTEM_KAI, SYSTEM_RUNAI, SYSTEM_KUEUE, SYSTEM_VOLCANO, _SYSTEM_MAX };

/* "kai", and "KAI Scheduler" for people. */
const char *migrate_system_name(enum migrate_system system);
const char *migrate_system_title(enum migrate_system system);

/* In the order in which they are printed: the worst first. */
enum finding_class { FINDING_UNSUPPORTED, FINDING_TODO, FINDING_CHANGES, FINDING_SAME, _FINDING_MAX };
const char *finding_class_name(enum finding_class class);  // "unsupported", "to do", "changes", "same"

/* All text is the migration's. */
struct finding {
    enum migrate_system system;
    enum finding_class class;
    const char *code;     // stable: "kueue-lending-limit"
    uint32_t count;       // of objects that it is about
    const char *objects;  // the first few of their names
    const char *text;     // what is so
    const char *action;   // what to do; "": nothing
};

struct migration {
    const struct object_set *set;  // borrowed
    bool has[_SYSTEM_MAX];         // the systems that were found, or the one that was asked for
    VEC(struct finding) findings;
    yyjson_mut_doc *values;   // of the Helm chart: KAI's values
    yyjson_mut_doc *objects;  // manifests to apply, an array
    struct arena texts;
};

/* `wanted` is one of the systems, or _SYSTEM_MAX for all that the objects show. */
void migrate(struct migration *migration, const struct object_set *set, enum migrate_system wanted);
void migration_done(struct migration *migration);

/* Somebody has to do something before or after, or something is lost. */
bool migration_needs_work(const struct migration *migration);

void migration_print(const struct migration *migration, const struct table_view *view, FILE *out);
void migration_write(const struct migration *migration, FILE *out);            // JSON
void migration_write_values(const struct migration *migration, FILE *out);     // YAML, for helm --values
void migration_write_manifests(const struct migration *migration, FILE *out);  // YAML, for kubectl apply
