/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/why/why_internal.h"
#include "text/json.h"

/* What the files that write the answer as JSON share. */
enum { TEXT_MAX = 64 * 1024 };

struct writer {
    const struct why *why;
    yyjson_mut_doc *doc;
};

extern const char *const share_names[];  // by SHARE_*

/* All texts are copied: what they are made from goes away before the document is written. */
void put_str(struct writer *w, yyjson_mut_val *to, const char *key, const char *text);
void put_name(struct writer *w, yyjson_mut_val *to, const char *key, name_id name);
void put_int(struct writer *w, yyjson_mut_val *to, const char *key, int64_t value);
void put_real(struct writer *w, yyjson_mut_val *to, const char *key, double value);
void put_bool(struct writer *w, yyjson_mut_val *to, const char *key, bool value);
yyjson_mut_val *put_object(struct writer *w, yyjson_mut_val *to, const char *key);
yyjson_mut_val *put_array(struct writer *w, yyjson_mut_val *to, const char *key);
yyjson_mut_val *put_item(struct writer *w, yyjson_mut_val *array);
void put_share(struct writer *w, yyjson_mut_val *to, const char *key, int resource, double amount);
void put_workload(struct writer *w, yyjson_mut_val *to, const struct state *state, gang_id gang);
void put_time(struct writer *w, yyjson_mut_val *to, const char *key, nsec_t time);

void json_write_remedies(struct writer *w, yyjson_mut_val *to);
