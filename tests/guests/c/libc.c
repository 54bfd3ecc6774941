/* As much of a C library as the bindings need.
 *
 * Nothing is ever given back: an instance lives for one call, and its memory ends with it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 65536, ALIGN = 16 };

extern unsigned char __heap_base;
static uintptr_t next;

void *malloc(size_t size) {
    if (next == 0) next = ((uintptr_t)&__heap_base + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    /* The size stands before the block, for realloc. */
    uintptr_t block = next + ALIGN;
    if (size > UINT32_MAX - block - PAGE) return NULL;
    uintptr_t end = (block + size + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    size_t have = __builtin_wasm_memory_size(0), need = (end + PAGE - 1) / PAGE;
    if (need > have && __builtin_wasm_memory_grow(0, need - have) == (size_t)-1) return NULL;
    *(size_t *)next = size;
    next = end;
    return (void *)block;
}

void *realloc(void *old, size_t size) {
    void *new = malloc(size);
    if (old == NULL || new == NULL) return new;
    size_t before = *(size_t *)((uintptr_t)old - ALIGN);
    return memcpy(new, old, before < size ? before : size);
}

void free(void *ptr) { (void)ptr; }

void abort(void) { __builtin_trap(); }

/* Volatile, so that the compiler does not see a copy here and call memcpy for it. */
void *memcpy(void *to, const void *from, size_t size) {
    volatile unsigned char *out = to;
    const unsigned char *in = from;
    while (size--) *out++ = *in++;
    return to;
}

void *memset(void *to, int byte, size_t size) {
    volatile unsigned char *out = to;
    while (size--) *out++ = (unsigned char)byte;
    return to;
}

size_t strlen(const char *text) {
    const volatile char *end = text;
    while (*end) end++;
    return (size_t)(end - text);
}

int memcmp(const void *a, const void *b, size_t size) {
    const unsigned char *x = a, *y = b;
    for (; size--; x++, y++)
        if (*x != *y) return *x - *y;
    return 0;
}
