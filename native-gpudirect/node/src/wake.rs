use napi::Result;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::ThreadsafeFunctionCallMode;

/// The wake-up as any thread may call it. It does not keep the process alive.
pub fn from_any_thread(wake: Function<'_, (), ()>) -> Result<Box<dyn Fn() + Send + Sync>> {
    let wake = wake
        .build_threadsafe_function::<()>()
        .callee_handled::<false>()
        .weak::<true>()
        .build()?;
    Ok(Box::new(move || {
        wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
    }))
}
