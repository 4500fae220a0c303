/// Classes of failure: the numbers of `CLASS_*` in `assembly/layout.ts`, which core, TypeScript and this library share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// 503 SlowDown, 429.
    Throttled = 1,
    /// 500, 502, 504, other 5xx; an error document inside a 200.
    Server = 2,
    /// The connection was cut.
    Reset = 3,
    /// A kept-alive connection was closed before the first byte of an answer.
    Stale = 4,
    /// Refused, unreachable, name not found.
    Connect = 5,
    /// No connection within its limit.
    TimeoutConnect = 6,
    /// No byte of an answer within its limit.
    TimeoutFirstByte = 7,
    /// A body that stopped moving.
    TimeoutIdle = 8,
    /// The whole attempt took too long.
    TimeoutTotal = 9,
    /// The body is shorter than asked.
    Short = 10,
    /// The body is longer than asked.
    Long = 11,
    /// The range was ignored, or another one was answered.
    Range = 12,
    /// The bytes do not have the store's checksum.
    Checksum = 13,
    /// The credentials have expired; retried after a refresh.
    Expired = 14,
    /// Cancelled by the caller.
    Cancelled = 15,
    /// No such object or bucket.
    NotFound = 16,
    /// Access denied.
    Forbidden = 17,
    /// Another ETag or size than the manifest's.
    Changed = 18,
    /// Another region or endpoint.
    Moved = 19,
    /// Archived and not restored.
    Archived = 20,
    /// Other 4xx, or a request that is not even sent.
    Refused = 21,
    /// TLS failed.
    Tls = 22,
    /// Not an HTTP answer.
    Protocol = 23,
    /// Moving the bytes into landing memory failed.
    Transfer = 24,
    /// A defect on the host's side.
    Internal = 25,
}

impl Class {
    /// Every class, in the order of the numbers.
    pub const ALL: [Class; 25] = [
        Class::Throttled,
        Class::Server,
        Class::Reset,
        Class::Stale,
        Class::Connect,
        Class::TimeoutConnect,
        Class::TimeoutFirstByte,
        Class::TimeoutIdle,
        Class::TimeoutTotal,
        Class::Short,
        Class::Long,
        Class::Range,
        Class::Checksum,
        Class::Expired,
        Class::Cancelled,
        Class::NotFound,
        Class::Forbidden,
        Class::Changed,
        Class::Moved,
        Class::Archived,
        Class::Refused,
        Class::Tls,
        Class::Protocol,
        Class::Transfer,
        Class::Internal,
    ];

    /// The name that errors carry as their code.
    pub fn name(self) -> &'static str {
        match self {
            Class::Throttled => "throttled",
            Class::Server => "server",
            Class::Reset => "reset",
            Class::Stale => "stale",
            Class::Connect => "connect",
            Class::TimeoutConnect => "timeout_connect",
            Class::TimeoutFirstByte => "timeout_first_byte",
            Class::TimeoutIdle => "timeout_idle",
            Class::TimeoutTotal => "timeout_total",
            Class::Short => "short",
            Class::Long => "long",
            Class::Range => "range",
            Class::Checksum => "checksum",
            Class::Expired => "expired",
            Class::Cancelled => "cancelled",
            Class::NotFound => "not_found",
            Class::Forbidden => "forbidden",
            Class::Changed => "changed",
            Class::Moved => "moved",
            Class::Archived => "archived",
            Class::Refused => "refused",
            Class::Tls => "tls",
            Class::Protocol => "protocol",
            Class::Transfer => "transfer",
            Class::Internal => "internal",
        }
    }

    /// The class with this number; none for 0 (`CLASS_NONE`) and numbers that do not exist.
    pub fn from_number(number: u8) -> Option<Class> {
        Class::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// The number of `assembly/layout.ts`.
    pub fn number(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::Class;
    use std::path::Path;

    #[test]
    fn numbers_and_names_are_those_of_the_layout() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assembly/layout.ts");
        let layout = std::fs::read_to_string(&path).expect("assembly/layout.ts beside native-gpudirect");
        let mut seen = 0;
        for line in layout.lines() {
            let Some(rest) = line.strip_prefix("export const CLASS_") else {
                continue;
            };
            let (name, rest) = rest.split_once(" = ").expect("a value");
            let number: u8 = rest
                .split(';')
                .next()
                .expect("a number")
                .parse()
                .expect("a number");
            match name {
                "NONE" => assert_eq!(Class::from_number(number), None),
                "COUNT" => assert_eq!(usize::from(number), Class::ALL.len() + 1),
                _ => {
                    let class = Class::from_number(number).unwrap_or_else(|| panic!("no class {number}"));
                    assert_eq!(class.name(), name.to_lowercase());
                    assert_eq!(class.number(), number);
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, Class::ALL.len());
        assert_eq!(Class::from_number(26), None);
    }
}
