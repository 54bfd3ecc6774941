/* What the generated bindings need of a C library, which this guest does without. See ../libc.c. */
#pragma once
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
size_t strlen(const char *text);
int memcmp(const void *a, const void *b, size_t size);
