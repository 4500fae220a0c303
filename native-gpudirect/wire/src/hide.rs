use crate::Credentials;

const HIDDEN: &str = "[hidden]";
/// No store gives shorter ones; of a shorter one every word that looks like it would be cut out.
const SHORTEST: usize = 8;

/// Takes secret key and session token of credentials out of what a store or a proxy said, as some echo the request: as they
/// are, percent-encoded, as XML entities, and cut off at the end of the text. The access key's id is no secret: messages
/// about it name it.
#[derive(Clone, Default)]
pub struct Hider {
    secrets: Vec<String>,
}

impl Hider {
    /// Of these credentials; without any, texts stay as they are.
    pub fn of(credentials: Option<&Credentials>) -> Hider {
        let Some(credentials) = credentials else {
            return Hider::default();
        };
        let given = [
            Some(&credentials.secret_access_key),
            credentials.session_token.as_ref(),
        ];
        let secrets = given
            .into_iter()
            .flatten()
            .filter(|secret| secret.chars().count() >= SHORTEST);
        Hider {
            secrets: secrets.cloned().collect(),
        }
    }

    /// And what follows the scheme in this value of Proxy-Authorization.
    pub fn and_of_proxy(mut self, authorization: Option<&str>) -> Hider {
        let secret = authorization.map(|value| value.split_once(' ').map_or(value, |(_, secret)| secret));
        self.secrets
            .extend(secret.filter(|it| it.len() >= SHORTEST).map(str::to_owned));
        self
    }

    /// The text without the secrets.
    pub fn hide(&self, text: &str) -> String {
        if self.secrets.is_empty() {
            return text.to_owned();
        }
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            match self
                .secrets
                .iter()
                .find_map(|secret| secret_at_start(rest, secret))
            {
                Some(length) => {
                    shown.push_str(HIDDEN);
                    rest = &rest[length..];
                }
                None => {
                    shown.push(next);
                    rest = &rest[next.len_utf8()..];
                }
            }
        }
        for secret in &self.secrets {
            hide_beginning(&mut shown, secret);
        }
        shown
    }
}

/// Bytes of the text that spell the secret at its start, each character in any of its forms.
fn secret_at_start(text: &str, secret: &str) -> Option<usize> {
    let mut at = 0;
    for (from, c) in secret.char_indices() {
        let (plain, escaped) = forms_at_start(&text[at..], c);
        if let (Some(plain), Some(escaped)) = (plain, escaped) {
            let rest = &secret[from + c.len_utf8()..];
            let after = |form| secret_at_start(&text[at + form..], rest).map(|more| at + form + more);
            return after(plain).or_else(|| after(escaped));
        }
        at += plain.or(escaped)?;
    }
    Some(at)
}

/// Lengths of the character as it is and of its escaped form, where the text begins with them. Only for `%` and `&` both
/// may be there: they begin the escaped forms.
fn forms_at_start(text: &str, c: char) -> (Option<usize>, Option<usize>) {
    let first = text.chars().next().filter(|first| first.eq_ignore_ascii_case(&c));
    let plain = first.map(char::len_utf8);
    if c.is_ascii_alphanumeric() || !text.starts_with(['%', '&']) {
        return (plain, None);
    }
    let starts = |form: &str| {
        let start = text.get(..form.len())?;
        start.eq_ignore_ascii_case(form).then_some(form.len())
    };
    let mut utf8 = [0; 4];
    let percent: String = c
        .encode_utf8(&mut utf8)
        .bytes()
        .map(|byte| format!("%{byte:02x}"))
        .collect();
    let code = u32::from(c);
    let entity = || starts(&format!("&#x{code:x};")).or_else(|| starts(&format!("&#{code};")));
    (plain, starts(&percent).or_else(entity))
}

/// A kept body ends where it was cut, and that may be inside a secret.
fn hide_beginning(text: &mut String, secret: &str) {
    let beginning = secret
        .char_indices()
        .nth(SHORTEST)
        .map_or(secret, |(end, _)| &secret[..end]);
    if let Some(at) = text.rfind(beginning)
        && secret.starts_with(&text[at..])
    {
        text.truncate(at);
        text.push_str(HIDDEN);
    }
}
