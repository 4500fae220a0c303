//! Links the addon as Node loads it.

fn main() {
    napi_build::setup();
}
