/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/err.h"
#include "local/api/kinds.h"
#include "local/builtin/builtin.h"
#include "local/wire/types.h"
#include "text/json.h"

static int check_as(const struct type *type, const char *version, const char *kind, yyjson_mut_doc *doc,
                    struct field_faults *faults, struct err *err)
{
    if (!type)
        return err_set(err, -ENOENT, "no kind \"%s\" is registered for version \"%s\"", kind, version);
    int code = normal_form(type, doc, faults, err);
    if (code < 0)
        return err_wrap(err, code, "%s in version \"%s\" cannot be handled as a %s", kind, type_version(type), kind);
    return 0;
}

int builtin_check_fields(const struct api_kind *kind, yyjson_mut_doc *doc, struct field_faults *faults, struct err *err)
{
    return check_as(type_find(kind->group, kind->version, kind->kind), kind->version, kind->kind, doc, faults, err);
}

void builtin_clear_empty(const struct api_kind *kind, yyjson_mut_doc *doc)
{
    const struct type *type = type_find(kind->group, kind->version, kind->kind);

    if (type)
        normal_clear_empty(type, doc);
}

yyjson_mut_doc *builtin_empty(const struct api_kind *kind)
{
    yyjson_mut_doc *doc = json_new_object(NULL);

    if (!(kind->flags & KIND_IS_CUSTOM) && builtin_check_fields(kind, doc, NULL, NULL) == 0)
        return doc;
    yyjson_mut_doc_free(doc);
    return NULL;
}

int builtin_check_body(const char *api_version, const char *kind, yyjson_mut_doc *doc, struct field_faults *faults,
                       struct err *err)
{
    return check_as(type_find_in(api_version, kind), api_version, kind, doc, faults, err);
}
