/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/work/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/work/api.h"
#include "text/json.h"
#include "text/yaml.h"

const char *const work_output_choices[] = {"table", "wide", "json", "yaml", NULL};

enum output output_parse(const char *value)
{
    int i = 0;

    while (work_output_choices[i + 1] && strcmp(work_output_choices[i], value) != 0)
        i++;
    return (enum output)i;
}

int output_read(struct arguments *arguments, struct api_place *place, enum output *ret_output)
{
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (!api_place_set(place, option, arguments->value))
            *ret_output = output_parse(arguments->value);
    }
    return option;
}

int output_print(enum output output, yyjson_mut_doc *doc)
{
    if (output == OUTPUT_YAML) {
        yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);

        yaml_write(yyjson_doc_get_root(copy), stdout);
        yyjson_doc_free(copy);
        return EXIT_FINE;
    }
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);

    if (text)
        (void)puts(text);
    free(text);
    return text ? EXIT_FINE : EXIT_FAILED;
}

yyjson_mut_doc *output_list(yyjson_mut_val **ret_items)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    *ret_items = yyjson_mut_obj_add_arr(doc, root, "items");
    return doc;
}

const char *age_format(nsec_t age, char text[static AGE_TEXT_MAX])
{
    long long s = (long long)(age / NSEC_PER_SEC);
    long long m = s / 60;
    long long h = m / 60;
    long long d = h / 24;

    if (s < 0)
        (void)snprintf(text, AGE_TEXT_MAX, "0s");
    else if (m < 2)
        (void)snprintf(text, AGE_TEXT_MAX, "%llds", s);
    else if (m < 10)
        (void)snprintf(text, AGE_TEXT_MAX, "%lldm%llds", m, s % 60);
    else if (h < 3)
        (void)snprintf(text, AGE_TEXT_MAX, "%lldm", m);
    else if (h < 24)
        (void)snprintf(text, AGE_TEXT_MAX, "%lldh%lldm", h, m % 60);
    else if (d < 8)
        (void)snprintf(text, AGE_TEXT_MAX, "%lldd%lldh", d, h % 24);
    else
        (void)snprintf(text, AGE_TEXT_MAX, "%lldd", d);
    return text;
}

const char *age_since(nsec_t time, nsec_t now, char text[static AGE_TEXT_MAX])
{
    if (time != 0)
        return age_format(now - time, text);
    (void)snprintf(text, AGE_TEXT_MAX, "-");
    return text;
}

void output_table(struct table *table)
{
    struct table_view view = table_view_of(stdout);

    table_print(table, &view, stdout);
    table_done(table);
}
