//! The clock of the epoch: a thread that moves every engine's epoch on, and ends when they are gone.

use std::thread;

use wasmtime::EngineWeak;

use crate::limits::TICK;

/// Starts the thread. It holds no engine alive, so there is nothing to stop.
pub(crate) fn start(engines: Vec<EngineWeak>) -> std::io::Result<()> {
    thread::Builder::new().name("callgate-epoch".to_owned()).spawn(move || tick(&engines)).map(drop)
}

fn tick(engines: &[EngineWeak]) {
    loop {
        thread::sleep(TICK);
        let mut alive = false;
        for engine in engines.iter().filter_map(EngineWeak::upgrade) {
            engine.increment_epoch();
            alive = true;
        }
        if !alive {
            return;
        }
    }
}
