/// A seeded generator (splitmix64).
pub struct Random(u64);

impl Random {
    /// From `OS2G_SEED`, or a seed of the clock's; the seed is printed.
    pub fn seeded() -> Random {
        let given = std::env::var("OS2G_SEED").ok().and_then(|seed| seed.parse().ok());
        let clock = || {
            std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap()
                .as_nanos() as u64
        };
        let seed = given.unwrap_or_else(clock);
        println!("OS2G_SEED={seed}");
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
