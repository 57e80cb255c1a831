/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A program that knows the driver by dlopen() alone, as frameworks do. Cases print a line for each thing that they check. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/abi/cuda.h"
#include "gpu/abi/nvml.h"
#include "gpu/tenant/hooks.h"

#define MIB (UINT64_C(1) << 20)

/* Says whether something holds, in words. */
void check(bool holds, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* The same for numbers, which are shown when they differ. */
void check_equal(uint64_t found, uint64_t expected, const char *what, ...) __attribute__((format(printf, 3, 4)));

/* The driver, opened at the path that the program was given or by its usual name. */
void *cuda_library(void);
void *nvml_library(void);

/* Whether there is a device behind it, not only a pretended one. */
bool is_real(void);

/* A function by its exact exported name; ends the program when there is none. */
void *cuda(const char *name);
void *nvml(const char *name);

/* cuda() with the type of a row of the table of hooks: CALL(cuMemAlloc_v2, mem_alloc)(&address, bytes). */
#define CALL(name, handler) ((handler##_fn *)cuda(#name))

/* cuInit() and the primary context of the first device made current. */
void begin(void);
void *primary(void);

/* What the tenant is told, and what the device really holds for this process. */
uint64_t told_free(void);
uint64_t told_total(void);
uint64_t truth(void);

/* A function of the pretended driver that takes so many microseconds, given as its parameter. */
void *spin_function(void);
void *function_of(const char *name);

typedef void case_fn(void);
struct test_case {
    const char *name;
    case_fn *run;
};
extern const struct test_case memory_cases[], process_cases[], compute_cases[], nvml_cases[], rare_cases[],
    traffic_cases[], park_cases[], elastic_cases[];
