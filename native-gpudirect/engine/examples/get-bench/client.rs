//! What the two ways to read have in common.

use std::error::Error;

/// Told of each body that landed: which of the list it is, and its bytes.
pub type Seen<'a> = dyn FnMut(usize, &[u8]) -> Result<(), Box<dyn Error>> + 'a;

/// A way to read objects that keeps its connections from one call to the next.
pub trait Client {
    /// Reads so many objects, going on in the list where the last call ended.
    fn read(&mut self, requests: usize, seen: &mut Seen) -> Result<(), Box<dyn Error>>;

    /// What to say of the last call beside its cost.
    fn note(&self) -> String {
        String::new()
    }

    /// How often it was woken in the last call; `None`: nobody wakes it.
    fn wakes(&self) -> Option<usize> {
        None
    }
}

/// Nothing is looked at but what the client itself checks.
pub fn unseen(_: usize, _: &[u8]) -> Result<(), Box<dyn Error>> {
    Ok(())
}
