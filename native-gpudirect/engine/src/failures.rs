use std::collections::{HashMap, VecDeque};

use crate::failure::Failure;

/// Twice what an engine's user has in flight at most. A request that is given up is asked for at once, long before so many others
/// have failed.
const KEPT: usize = 32_768;

/// Why requests failed last, by id. Nobody says which will not be asked for any more, so the oldest go: a run of months keeps no
/// more than a run of minutes.
#[derive(Default)]
pub(crate) struct RecentFailures {
    by_id: HashMap<u32, (u64, Failure)>,
    /// Ids in the order of their failures, with the number of each; what is forgotten stays here until it is the oldest.
    order: VecDeque<(u32, u64)>,
    count: u64,
}

impl RecentFailures {
    pub fn get(&self, id: u32) -> Option<&Failure> {
        self.by_id.get(&id).map(|(_, failure)| failure)
    }

    pub fn forget(&mut self, ids: impl Iterator<Item = u32>) {
        if self.by_id.is_empty() {
            return;
        }
        for id in ids {
            self.by_id.remove(&id);
        }
    }

    pub fn keep(&mut self, id: u32, failure: Failure) {
        self.count += 1;
        self.by_id.insert(id, (self.count, failure));
        self.order.push_back((id, self.count));
        if self.order.len() <= KEPT {
            return;
        }
        let Some((oldest, number)) = self.order.pop_front() else {
            return;
        };
        if self.by_id.get(&oldest).is_some_and(|kept| kept.0 == number) {
            self.by_id.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use os2g_wire::Class;

    use super::{Failure, KEPT, RecentFailures};

    #[test]
    fn the_newest_are_kept_and_no_more() {
        let mut failures = RecentFailures::default();
        for id in 0..3 * KEPT as u32 {
            failures.keep(id, Failure::new(Class::Reset, "one"));
            // One request that fails again and again stays known.
            failures.keep(u32::MAX, Failure::new(Class::Short, "again"));
        }
        assert_eq!(failures.order.len(), KEPT);
        assert!(failures.by_id.len() <= KEPT);
        assert!(failures.get(0).is_none());
        assert_eq!(failures.get(3 * KEPT as u32 - 1).unwrap().class, Class::Reset);
        assert_eq!(failures.get(u32::MAX).unwrap().class, Class::Short);
        failures.forget([u32::MAX].into_iter());
        assert!(failures.get(u32::MAX).is_none());
    }
}
