/* SPDX-License-Identifier: Apache-2.0 */

#include "convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    convert_any("prometheus", data, size);
    return 0;
}
