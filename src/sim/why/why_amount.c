/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/why/why_amount.h"

#include <math.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "model/state.h"

const char *amount_resource(const struct state *state, uint32_t dim)
{
    static const char *const words[] = {
        [RES_CPU] = "CPU", [RES_MEMORY] = "memory", [RES_GPU] = "GPUs", [RES_PODS] = "pod slots"};

    return dim < ARRAY_LEN(words) ? words[dim] : state_name(state, state->res.name[dim]);
}

/* Binary units where the bytes divide evenly, as manifests most often have them; else decimal ones, of which quotas are
 * made. */
static void add_memory(struct strbuf *out, double bytes)
{
    static const struct {
        double size;
        const char *unit;
    } binary[] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {1, "bytes"}},
      decimal[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1, "bytes"}};
    bool is_binary = fmod(bytes, 0x1p20) == 0 || fmod(bytes, 1e6) != 0;

    for (size_t i = 0; i < ARRAY_LEN(binary); i++) {
        double size = is_binary ? binary[i].size : decimal[i].size;

        if (bytes < size && i + 1 < ARRAY_LEN(binary))
            continue;
        strbuf_addf(out, "%.4g %s", bytes / size, is_binary ? binary[i].unit : decimal[i].unit);
        return;
    }
}

void amount_add_share(struct strbuf *out, int resource, double amount)
{
    if (amount == UNLIMITED)
        strbuf_addstr(out, "unlimited");
    else if (resource == SHARE_CPU)
        strbuf_addf(out, "%.6g CPU%s", amount / 1000, amount > 1000 || amount == 0 ? "s" : "");
    else if (resource == SHARE_MEMORY)
        add_memory(out, amount);
    else
        strbuf_addf(out, "%.6g GPU%s", amount, amount > 1 || amount == 0 ? "s" : "");
}

void amount_add(struct strbuf *out, const struct state *state, uint32_t dim, int64_t amount)
{
    if (dim == RES_CPU)
        amount_add_share(out, SHARE_CPU, (double)amount);
    else if (dim == RES_MEMORY)
        amount_add_share(out, SHARE_MEMORY, (double)amount);
    else if (dim == RES_GPU)
        amount_add_share(out, SHARE_GPU, gpu_to_double(amount));
    else if (dim == RES_PODS || state->res.mig_slices[dim] > 0)
        strbuf_addf(out, "%lld %s", (long long)amount, amount_resource(state, dim));
    else
        strbuf_addf(out, "%.6g %s", (double)amount / 1000, amount_resource(state, dim));
}
