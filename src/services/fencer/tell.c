/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frame/service.h"
#include "services/fencer/fencer_internal.h"

void post_complain(struct fencer *fencer, struct post *post, const struct err *err)
{
    struct err text = *err;

    if (post->told && strcmp(post->told, err->text) == 0)
        return;
    free(post->told);
    post->told = xstrdup(err->text);
    log_warn(fencer->service->log, "GPU isolation of a pod failed", log_str("namespace", post->pod.namespace),
             log_str("pod", post->pod.name), log_error(err));
    (void)err_wrap(&text, text.code, "%s",
                   post->done          ? "GPU isolation is not changed"
                   : post->pod.is_held ? "Containers cannot start on shared GPUs"
                                       : "The pod runs on shared GPUs without isolation");
    recorder_record(fencer->service->recorder, &(struct event){
                                                   .api_version = "v1",
                                                   .kind = "Pod",
                                                   .namespace = post->pod.namespace,
                                                   .name = post->pod.name,
                                                   .uid = post->pod.uid,
                                                   .type = "Warning",
                                                   .reason = "NotFenced",
                                                   .message = text.text,
                                               });
}
