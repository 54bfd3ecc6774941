//! A tool's fingerprint is that of its definition: neither is set by hand.

use callgate_core::model::Tool;

fn other(tool: Tool, of: Tool) -> Tool {
    Tool { fingerprint: of.fingerprint(), ..tool }
}

fn main() {}
