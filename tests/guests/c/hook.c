/* Refuses shell commands that delete recursively. The same hook as in ../js and ../python. */
#include "hook.h"
#include <string.h>

static bool contains(hook_string_t text, const char *part) {
    size_t length = strlen(part);
    for (size_t at = 0; at + length <= text.len; at++)
        if (memcmp(text.ptr + at, part, length) == 0) return true;
    return false;
}

static hook_string_t text(const char *literal) {
    hook_string_t string;
    hook_string_dup(&string, literal);
    return string;
}

bool exports_callgate_plugin_setup_configure(callgate_plugin_types_json_t *settings, hook_string_t *err) {
    if (settings->len == 2 && memcmp(settings->ptr, "{}", 2) == 0) return true;
    *err = text("this plugin takes no settings");
    return false;
}

bool exports_callgate_plugin_pre_hook_on_call(callgate_plugin_types_pre_outcome_t *outcome, hook_string_t *err) {
    (void)err;
    hook_string_t pointer = text("/command");
    callgate_plugin_types_json_t json;
    /* Canonical JSON: none of these letters is ever escaped, so the text of the value can be searched as it is. */
    bool found = callgate_plugin_call_arguments_argument_at(&pointer, &json) && json.len > 0 && json.ptr[0] == '"' &&
                 contains(json, "rm -r");
    if (!found) {
        outcome->tag = CALLGATE_PLUGIN_TYPES_PRE_OUTCOME_PROCEED;
        return true;
    }
    outcome->tag = CALLGATE_PLUGIN_TYPES_PRE_OUTCOME_DENY;
    outcome->val.deny.reason = text("recursive_delete");
    outcome->val.deny.message = text("deleting whole folders is not allowed");
    outcome->val.deny.data.is_some = false;
    return true;
}
