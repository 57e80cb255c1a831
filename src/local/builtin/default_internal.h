/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct api_kind;

/* Defaults that follow from other members, beside those of the table in default_rows.c. */
struct defaulting {
    yyjson_mut_doc *doc;
    yyjson_mut_doc *old;  // NULL: the object is new
};

/* A default: `path` below an object of the struct `type` becomes `json` where it is absent. */
struct default_row {
    const char *group;  // of the struct
    const char *type;
    const char *path;
    const char *json;
    const char *if_path;   // NULL: always
    const char *if_value;  // what must be there; NULL: nothing may be there
};

const struct default_row *default_row_at(size_t index);  // NULL past the last one

/* What one struct gets beside its rows; `object` is of that struct. */
void default_pod(struct defaulting *defaulting, yyjson_mut_val *pod);
void default_container(struct defaulting *defaulting, yyjson_mut_val *container);
void default_volume(struct defaulting *defaulting, yyjson_mut_val *volume);
void default_pod_spec(struct defaulting *defaulting, yyjson_mut_val *spec);
void default_secret(struct defaulting *defaulting, yyjson_mut_val *secret);
void default_service(struct defaulting *defaulting, yyjson_mut_val *service);
void default_job(struct defaulting *defaulting, yyjson_mut_val *job);

/* Amounts of resources are whole thousandths; finer ones are rounded up. */
void default_amounts(struct defaulting *defaulting, yyjson_mut_val *amounts);

/* What an object of a kind gets from the server itself, behind its defaults. */
void prepare_pod(struct defaulting *defaulting, yyjson_mut_val *pod);
void prepare_service(struct defaulting *defaulting, yyjson_mut_val *service);
void prepare_job(struct defaulting *defaulting, yyjson_mut_val *job);

/* The class of service of a pod: "Guaranteed", "Burstable" or "BestEffort". */
const char *pod_qos_class(yyjson_mut_val *spec);
