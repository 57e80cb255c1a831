/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "objects/object.h"
#include "sim/migrate/migrate.h"

enum { PATH_MAX_LEN = 8, NAMES_SHOWN = 4 };

/*
 * One thing to look for: objects of a kind in which a member is there, or has a value. A path goes through objects by
 * their keys; "*" stands for all items of an array and all members of an object.
 */
struct check {
    enum migrate_system system;
    enum finding_class class;
    const char *code;
    const char *group;
    const char *kind;
    const char *path[PATH_MAX_LEN];  // none: every object of the kind
    const char *value;               // NULL: anything but null, "", false, 0, [] and {}
    bool (*is_so)(const struct migration *migration, const struct object *object);  // NULL: the path alone decides
    const char *text;
    const char *action;
};

/* Does the path lead to something, of that value if one is given? */
bool path_leads(yyjson_val *val, const char *const *path, const char *value);

/* The value at the end of a path without "*"; NULL: there is none. */
yyjson_val *path_get(yyjson_val *val, const char *const *path);
#define PATH_GET(val, ...) path_get(val, (const char *const[]){__VA_ARGS__, NULL})
const char *path_text(yyjson_val *val, const char *const *path);  // "" when it is no text
#define PATH_TEXT(val, ...) path_text(val, (const char *const[]){__VA_ARGS__, NULL})

/* Adds a finding about some objects, whose names are in `objects`. */
void migration_add(struct migration *migration, const struct finding *finding);

/* Texts of the migration. */
const char *migration_text(struct migration *migration, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets a value of the chart by its path. The value is copied, or made from the text. */
void values_set(struct migration *migration, const char *const *path, yyjson_val *value);
void values_set_text(struct migration *migration, const char *const *path, const char *text);
void values_set_bool(struct migration *migration, const char *const *path, bool is);
#define VALUES_PATH(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A Queue for the manifests. Amounts are in Queue's units; -1 is no limit. */
struct queue_plan {
    const char *name;
    const char *parent;        // "": none
    const char *display_name;  // "": none
    bool has[3];               // by SHARE_*
    double quota[3];
    double limit[3];
    double weight[3];
};
void plan_queue(struct migration *migration, const struct queue_plan *plan);
bool plan_has_queue(const struct migration *migration, const char *name);

/* A PriorityClass for them. */
void plan_priority_class(struct migration *migration, const char *name, int64_t value);

/* The tables of the systems, and what of them is more than a table. */
extern const struct check kai_checks[], runai_checks[], kueue_checks[], volcano_checks[];
extern const size_t kai_check_count, runai_check_count, kueue_check_count, volcano_check_count;
void kai_survey(struct migration *migration);
void runai_survey(struct migration *migration);
void kueue_survey(struct migration *migration);
void volcano_survey(struct migration *migration);

/* "4", "500m", "64Gi" in Queue's units: devices, thousandths of CPUs, 10^6 bytes. False when it is none of them. */
bool queue_amount(const char *resource, yyjson_val *quantity, int *ret_share, double *ret_amount);
