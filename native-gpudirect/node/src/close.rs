use std::sync::{Arc, PoisonError, RwLock};

use napi::Env;
use napi::bindgen_prelude::{Result, Task};
use os2g_engine::Engine;

/// An engine that may be closed while others hold it.
pub type SharedEngine = Arc<RwLock<Option<Engine>>>;

/// Ends the engine, if nobody has. Waits for its threads: no byte is written to any region afterwards.
pub fn close_now(engine: &SharedEngine) {
    let taken = engine.write().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(engine) = taken {
        engine.close();
    }
}

/// Closes an engine on a thread of libuv's pool.
pub struct CloseTask(pub SharedEngine);

impl Task for CloseTask {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        close_now(&self.0);
        Ok(())
    }

    fn resolve(&mut self, _env: Env, _output: ()) -> Result<()> {
        Ok(())
    }
}
