/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/rules_internal.h"

#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/server/request_internal.h"

bool rules_check_fields(struct request *request, yyjson_mut_doc *doc)
{
    (void)request;
    (void)doc;
    return true;
}

bool rules_complete(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    (void)request;
    (void)doc;
    (void)old;
    return true;
}

bool rules_complete_status(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    (void)request;
    (void)doc;
    (void)old;
    return true;
}
