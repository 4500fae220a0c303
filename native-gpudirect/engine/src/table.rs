/// What the engine must know of each row of the manifest. It borrows from the columns for as long as a request runs, and
/// copies none of them. A panic in it ends the request that asked, in a failure of class `internal`.
pub trait ObjectTable: Send + Sync {
    /// How many rows there are. Does not change.
    fn rows(&self) -> u64;
    /// Key of the row's object, byte-exact as listed. Only asked for rows below [`ObjectTable::rows`].
    fn key(&self, row: u64) -> &[u8];
    /// ETag as the store gave it, quotes included; `None` where unknown.
    fn etag(&self, row: u64) -> Option<&[u8]>;
    /// Size of the whole object in bytes.
    fn object_size(&self, row: u64) -> u64;
}
