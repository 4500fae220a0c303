use crate::response_check::same_etag;
use std::collections::{HashMap, VecDeque};

/// As many as a core has samples open at once (`MAX_SAMPLES` of `assembly/layout.ts`), so that no row with parts under way
/// is forgotten.
const MOST_ROWS: usize = 131_072;

/// ETags seen in answers about rows of which the manifest knows none, or is not asked: the parts of one sample must be of
/// one version. Parts are sent side by side, so each answer is held against the first that came, not only against what was
/// known when it was sent. Bounded; the oldest row is forgotten first.
#[derive(Debug, Default)]
pub struct PinnedEtags {
    /// Empty text: the answer had no ETag.
    by_row: HashMap<u64, Box<str>>,
    oldest_first: VecDeque<u64>,
}

impl PinnedEtags {
    /// Knows nothing yet.
    pub fn new() -> PinnedEtags {
        PinnedEtags::default()
    }

    /// The ETag to ask for; none where none is known.
    pub fn get(&self, row: u64) -> Option<&str> {
        self.by_row
            .get(&row)
            .map(|etag| &**etag)
            .filter(|etag| !etag.is_empty())
    }

    /// Takes an answer's ETag into account; what is wrong with it, or none.
    pub fn pin(&mut self, row: u64, etag: Option<&str>) -> Option<String> {
        let given = etag.unwrap_or_default();
        let Some(seen) = self.by_row.get(&row) else {
            self.remember(row, given);
            return None;
        };
        if seen.is_empty() || etag.is_none() {
            if **seen == *given {
                return None;
            }
            let [one, other] = [
                if seen.is_empty() { "none" } else { seen },
                etag.unwrap_or("none"),
            ];
            return Some(format!(
                "parts of one sample came with different ETags: {one} and {other}"
            ));
        }
        if same_etag(seen, given) {
            return None;
        }
        Some(format!(
            "the object was replaced while its parts were read: one part has the ETag {seen}, another {given}"
        ))
    }

    fn remember(&mut self, row: u64, etag: &str) {
        if self.by_row.len() >= MOST_ROWS
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.by_row.remove(&oldest);
        }
        self.by_row.insert(row, etag.into());
        self.oldest_first.push_back(row);
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_ROWS, PinnedEtags};
    use std::path::Path;

    #[test]
    fn the_first_answer_counts() {
        let mut pinned = PinnedEtags::new();
        assert_eq!(pinned.get(1), None);
        assert_eq!(pinned.pin(1, Some("\"v1\"")), None);
        assert_eq!(pinned.get(1), Some("\"v1\""));
        assert_eq!(pinned.pin(1, Some("v1")), None);
        assert_eq!(
            pinned.pin(1, Some("\"v2\"")).as_deref(),
            Some(
                "the object was replaced while its parts were read: one part has the ETag \"v1\", another \"v2\""
            )
        );
        assert_eq!(
            pinned.pin(1, None).as_deref(),
            Some("parts of one sample came with different ETags: \"v1\" and none")
        );
        assert_eq!(pinned.pin(2, None), None);
        assert_eq!(pinned.get(2), None);
        assert_eq!(pinned.pin(2, None), None);
        assert_eq!(
            pinned.pin(2, Some("\"v1\"")).as_deref(),
            Some("parts of one sample came with different ETags: none and \"v1\"")
        );
    }

    #[test]
    fn the_oldest_row_is_forgotten_first_at_the_bound_of_the_layout() {
        let layout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assembly/layout.ts");
        let layout = std::fs::read_to_string(layout).expect("assembly/layout.ts beside native-gpudirect");
        assert!(layout.contains(&format!("export const MAX_SAMPLES = {MOST_ROWS};")));
        let mut pinned = PinnedEtags::new();
        for row in 0..=MOST_ROWS as u64 {
            assert_eq!(pinned.pin(row, Some("e")), None);
        }
        assert_eq!(pinned.get(0), None);
        assert_eq!(pinned.get(1), Some("e"));
        assert_eq!(pinned.by_row.len(), MOST_ROWS);
        assert_eq!(pinned.oldest_first.len(), MOST_ROWS);
    }
}
