/* What the generated bindings need of a C library, which this guest does without. See ../libc.c. */
#pragma once
#include <stddef.h>

void *malloc(size_t size);
void *realloc(void *old, size_t size);
void free(void *ptr);
_Noreturn void abort(void);
