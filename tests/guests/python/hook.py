"""Refuses shell commands that delete recursively. The same hook as in ../js and ../c."""

import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import call_arguments, types


class Setup(exports.Setup):
    def configure(self, settings: str) -> None:
        # An error result is a raised Err.
        if json.loads(settings):
            raise Err("this plugin takes no settings")


class PreHook(exports.PreHook):
    def on_call(self) -> types.PreOutcome:
        text = call_arguments.argument_at("/command")
        command = None if text is None else json.loads(text)
        if isinstance(command, str) and "rm -r" in command:
            message = "deleting whole folders is not allowed"
            return types.PreOutcome_Deny(types.Refusal("recursive_delete", message, None))
        return types.PreOutcome_Proceed()
