/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of custom kinds as others see them: the cells of a table, and a Scale. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "local/custom/definitions.h"
#include "local/custom/value_path.h"

/* --- Cells --- */

/* The larger unit, and the smaller one beside it while that still says something: "119s", "9m59s", "7h", "47h", "7d23h". */
static void format_age(nsec_t age, char text[static 32])
{
    int64_t seconds = age / NSEC_PER_SEC, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

    if (seconds < 0)
        (void)snprintf(text, 32, seconds < -1 ? "<invalid>" : "0s");
    else if (seconds < 120)
        (void)snprintf(text, 32, "%" PRId64 "s", seconds);
    else if (minutes < 10 && seconds % 60)
        (void)snprintf(text, 32, "%" PRId64 "m%" PRId64 "s", minutes, seconds % 60);
    else if (minutes < 180)
        (void)snprintf(text, 32, "%" PRId64 "m", minutes);
    else if (hours < 8 && minutes % 60)
        (void)snprintf(text, 32, "%" PRId64 "h%" PRId64 "m", hours, minutes % 60);
    else if (hours < 48)
        (void)snprintf(text, 32, "%" PRId64 "h", hours);
    else if (days < 8 && hours % 24)
        (void)snprintf(text, 32, "%" PRId64 "d%" PRId64 "h", days, hours % 24);
    else if (days < 365 * 2)
        (void)snprintf(text, 32, "%" PRId64 "d", days);
    else if (days < 365 * 8 && days % 365)
        (void)snprintf(text, 32, "%" PRId64 "y%" PRId64 "d", days / 365, days % 365);
    else
        (void)snprintf(text, 32, "%" PRId64 "y", days / 365);
}

static yyjson_mut_val *date_cell(yyjson_mut_val *value, nsec_t now, yyjson_mut_doc *doc)
{
    nsec_t time;
    char text[32];

    if (!yyjson_mut_is_str(value))
        return yyjson_mut_null(doc);
    if (time_parse(yyjson_mut_get_str(value), &time, NULL) < 0)
        return yyjson_mut_str(doc, "<invalid>");
    format_age(now - time, text);
    return yyjson_mut_strcpy(doc, text);
}

static yyjson_mut_val *text_cell(yyjson_mut_val *value, yyjson_mut_doc *doc)
{
    if (yyjson_mut_is_str(value))
        return yyjson_mut_val_mut_copy(doc, value);
    _cleanup_(freep) char *text = yyjson_mut_val_write(value, YYJSON_WRITE_NOFLAG, NULL);
    return yyjson_mut_strcpy(doc, text ? text : "");
}

yyjson_mut_val *custom_column_cell(const struct custom_column *column, yyjson_mut_val *object, nsec_t now,
                                   yyjson_mut_doc *doc)
{
    yyjson_mut_val *value = value_path_get(column->path, object);

    if (!value || yyjson_mut_is_null(value) || !column->path)
        return yyjson_mut_null(doc);
    if (strcmp(column->type, "date") == 0)
        return date_cell(value, now, doc);
    if (strcmp(column->type, "string") == 0)
        return text_cell(value, doc);
    if (strcmp(column->type, "integer") == 0 && yyjson_mut_is_real(value))
        return yyjson_mut_sint(doc, (int64_t)CLAMP(yyjson_mut_get_real(value), -0x1p62, 0x1p62));
    bool is_shown = strcmp(column->type, "boolean") == 0 ? yyjson_mut_is_bool(value) : yyjson_mut_is_num(value);
    return is_shown ? yyjson_mut_val_mut_copy(doc, value) : yyjson_mut_null(doc);
}

/* --- Scale --- */

static void copy_metadata(yyjson_mut_val *object, yyjson_mut_val *scale, yyjson_mut_doc *doc)
{
    static const char *const copied[] = {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"};
    yyjson_mut_val *from = yyjson_mut_obj_get(object, "metadata");
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, scale, "metadata");

    for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
        yyjson_mut_val *value = yyjson_mut_obj_get(from, copied[i]);
        if (value)
            yyjson_mut_obj_add(metadata, yyjson_mut_str(doc, copied[i]), yyjson_mut_val_mut_copy(doc, value));
    }
}

yyjson_mut_val *custom_scale_read(const struct custom_kind *kind, yyjson_mut_val *object, yyjson_mut_doc *doc)
{
    yyjson_mut_val *wanted = value_path_get(kind->scale_spec, object);
    yyjson_mut_val *present = value_path_get(kind->scale_status, object);
    yyjson_mut_val *selector = kind->scale_selector ? value_path_get(kind->scale_selector, object) : NULL;

    if (!kind->has_scale || !yyjson_mut_is_int(wanted))
        return NULL;
    yyjson_mut_val *scale = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, scale, "kind", "Scale");
    yyjson_mut_obj_add_str(doc, scale, "apiVersion", "autoscaling/v1");
    copy_metadata(object, scale, doc);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, scale, "spec");
    if (yyjson_mut_get_sint(wanted) != 0)
        yyjson_mut_obj_add_int(doc, spec, "replicas", yyjson_mut_get_sint(wanted));
    yyjson_mut_val *status = yyjson_mut_obj_add_obj(doc, scale, "status");
    yyjson_mut_obj_add_int(doc, status, "replicas", yyjson_mut_get_sint(present));
    if (yyjson_mut_is_str(selector) && yyjson_mut_get_len(selector))
        yyjson_mut_obj_add(status, yyjson_mut_str(doc, "selector"), yyjson_mut_val_mut_copy(doc, selector));
    return scale;
}

int custom_scale_write(const struct custom_kind *kind, yyjson_mut_doc *object, int64_t replicas, struct err *err)
{
    if (!kind->has_scale || !value_path_put(kind->scale_spec, object, yyjson_mut_sint(object, replicas)))
        return err_set(err, -EINVAL, "the specReplicasPath of %s does not lead to a field that can be set",
                       kind->api.kind);
    return 0;
}
