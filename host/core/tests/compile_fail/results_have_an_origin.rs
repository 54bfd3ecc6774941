//! Neither a result nor a shaped one is made by hand, so that nothing poses as the server's or as shaped.

use callgate_core::json::Json;
use callgate_core::model::ToolResult;
use callgate_core::shape::{Provenance, Shaped};

fn result(value: Json) -> ToolResult {
    ToolResult { value: std::sync::Arc::new(value), synthetic: false }
}

fn shaped(value: Json, provenance: Provenance) -> Shaped {
    Shaped { value, provenance }
}

fn main() {}
