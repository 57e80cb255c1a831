/* SPDX-License-Identifier: Apache-2.0 */
#include "local/admission/admission.h"

#include "local/admission/escalation.h"
#include "local/admission/limits.h"
#include "local/admission/ownership.h"
#include "local/admission/webhooks.h"
#include "local/machines/node_limits.h"

bool admit_changes(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    ownership_set(request, doc, old);
    return webhooks_change(request, doc, old);
}

bool admit_status(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    ownership_set(request, doc, old);
    return node_limits_check(request, doc, old);
}

bool admit_checks(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    return node_limits_check(request, doc, old) && escalation_check(request, doc, old) &&
           limits_check(request, doc, old) && webhooks_check(request, doc, old);
}
