//! What `wit-bindgen` makes of the contract in `wit/`. Nothing else is here, and nothing else knows generated names.
//!
//! There is one world for all imports and one for each export. Their descriptions are merged when the component is
//! made, and imports that no code calls fall out: so a plugin may be several kinds, and asks for no more than it reads.
#![allow(unsafe_code, missing_docs, unreachable_pub, unused_imports, clippy::all, clippy::restriction, reason = "generated code")]

/// Everything that a plugin may import, and the types of all answers.
pub mod imports {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "
            package callgate:sdk-imports;
            world imports {
                import callgate:plugin/types@0.1.0;
                import callgate:plugin/tool@0.1.0;
                import callgate:plugin/call-arguments@0.1.0;
                import callgate:plugin/context@0.1.0;
                import callgate:plugin/tool-result@0.1.0;
                import callgate:plugin/failure@0.1.0;
                import callgate:plugin/question@0.1.0;
                import callgate:plugin/prompt@0.1.0;
                import callgate:plugin/log@0.1.0;
            }
        ",
        additional_derives: [PartialEq],
        generate_all,
    });
}

/// One module for an exported interface: its `Guest` trait and its `export!` macro.
macro_rules! exported {
    ($module:ident, $world:literal) => {
        pub mod $module {
            wit_bindgen::generate!({
                path: "../../wit",
                inline: $world,
                with: { "callgate:plugin/types@0.1.0": crate::bindings::imports::callgate::plugin::types },
                pub_export_macro: true,
                default_bindings_module: "callgate_sdk::bindings",
            });
        }
    };
}

exported!(setup, "package callgate:sdk-setup; world setup-export { export callgate:plugin/setup@0.1.0; }");
exported!(filter, "package callgate:sdk-filter; world filter-export { export callgate:plugin/filter@0.1.0; }");
exported!(predicate, "package callgate:sdk-predicate; world predicate-export { export callgate:plugin/predicate@0.1.0; }");
exported!(pre_hook, "package callgate:sdk-pre-hook; world pre-hook-export { export callgate:plugin/pre-hook@0.1.0; }");
exported!(post_hook, "package callgate:sdk-post-hook; world post-hook-export { export callgate:plugin/post-hook@0.1.0; }");
exported!(failure_hook, "package callgate:sdk-failure-hook; world failure-hook-export { export callgate:plugin/failure-hook@0.1.0; }");
exported!(approver, "package callgate:sdk-approver; world approver-export { export callgate:plugin/approver@0.1.0; }");
