//! The contract's types and host traits, generated from `wit/`.

#![allow(missing_docs, unreachable_pub, reason = "generated; the documentation is in `wit/`")]

wasmtime::component::bindgen!({
    path: "../../wit",
    inline: "
        package callgate:host;
        world host {
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
    world: "callgate:host/host",
    imports: {
        "callgate:plugin/prompt@0.1.0.ask": async | trappable,
        default: trappable,
    },
    require_store_data_send: true,
});
