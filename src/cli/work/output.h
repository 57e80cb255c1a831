/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/time.h"
#include "text/table.h"

struct api_place;
struct arguments;

/* How the commands for people print: tables that fit the terminal, or documents for programs. */
enum output { OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML };

#define WORK_OUTPUT_OPTION                                       \
    {'o', "output", "table|wide|json|yaml", work_output_choices, \
     "table (default), wide with more columns, JSON or YAML"}
extern const char *const work_output_choices[];

enum output output_parse(const char *value);

/*
 * Reads the options of a command that has those of a place and WORK_OUTPUT_OPTION, and no others. Returns ARGUMENT_END, or
 * what arguments_status() takes.
 */
int output_read(struct arguments *arguments, struct api_place *place, enum output *ret_output);

static inline bool output_is_table(enum output output)
{
    return output == OUTPUT_TABLE || output == OUTPUT_WIDE;
}

/* Prints the document on standard output. Returns an exit status. */
int output_print(enum output output, yyjson_mut_doc *doc);

/* A document {"items": []} to be filled. */
yyjson_mut_doc *output_list(yyjson_mut_val **ret_items);

/* "5s", "12m", "3h12m", "4d2h": about as kubectl writes ages. "-" for a time that is not known. Returns `text`. */
enum { AGE_TEXT_MAX = 32 };
const char *age_format(nsec_t age, char text[static AGE_TEXT_MAX]);

/* The age at `now` of a time; "-" for 0. */
const char *age_since(nsec_t time, nsec_t now, char text[static AGE_TEXT_MAX]);

/* Prints the table on standard output, and frees it. */
void output_table(struct table *table);
